# `make check` is the gate: the same on a laptop, in the hook and in CI; two minutes at most on two cores.
PY ?= .venv/bin/python

.PHONY: check format test soak bench docs schemas
check:
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(PY) -m pytest -n logical --dist worksteal

format:
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

test:
	$(PY) -m pytest

docs:
	$(PY) docs/json_pages.py
	$(PY) -m cogapp -r docs/cli.md docs/configuration.md docs/capture-format.md docs/show-json.md \
	  docs/check-json.md docs/diff-json.md docs/replay-client-json.md docs/rules.md

schemas:
	$(PY) scripts/make_schemas.py

soak:
	$(PY) -m pytest -m soak --timeout 3600
	HYPOTHESIS_PROFILE=thorough $(PY) -m pytest -n logical tests/property --timeout 3600

bench:
	$(PY) -m benchmarks
