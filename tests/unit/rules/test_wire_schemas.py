from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from mcp_tap.rules.wire_schemas import _data, shape_of
from tests.bounds import BOUND
from tests.garbage import corpus, spoilt

ROOT = Path(__file__).parents[3]
MESSAGES = [entry for entry in corpus() if isinstance(entry[2], dict)]


def test_every_shape_can_be_compiled():
    tables = _data()["revisions"]
    assert tables.keys() == {"2025-06-18", "2025-11-25", "2026-07-28"}
    for revision, table in tables.items():
        for event, methods in table.items():
            for method in methods if event != "definitions" else ():
                shape = shape_of(revision, event, method)
                assert shape is not None
                assert shape.is_valid({}) == (shape.fault({}) is None), (revision, event, method)


def test_what_nobody_defined_has_no_shape():
    assert shape_of("2026-07-28", "request", "initialize") is None
    assert shape_of("2026-07-28", "request", "vendor/x") is None
    assert shape_of("other", "request", "tools/call") is None
    assert shape_of("2025-11-25", "result", "tasks/get") is None


def test_a_shape_is_compiled_once():
    one = shape_of("2026-07-28", "request", "tools/call")
    assert one is shape_of("2026-07-28", "request", "tools/call")
    assert one is not None
    assert one.is_valid({"name": "t"})
    assert one.fault({"name": "t"}) is None


def test_a_masked_value_is_never_at_fault():
    shape = shape_of("2026-07-28", "request", "tools/call")
    assert shape is not None
    from mcp_tap.core.redact_text import MARK

    assert shape.fault({"name": "t", "arguments": MARK}) is None
    assert shape.fault({"name": "t", "arguments": "x"}) == ("/arguments", "must be an object")


def test_a_fault_is_found_in_much_that_has_none():
    shape = shape_of("2026-07-28", "result", "resources/read")
    assert shape is not None
    known = {"resultType": "complete", "ttlMs": 1, "cacheScope": "public"}
    much = {f"k{number}": {"a": [number]} for number in range(50_000)}
    assert shape.fault({**known, "contents": [much]}) == ("/contents/0", "lacks text or blob")
    assert shape.fault({**much, **known, "contents": "x"}) == ("/contents", "must be an array")
    full = {**much, "uri": "file:///x", "text": "x"}
    assert shape.fault({**known, "contents": [full]}) is None
    deep = [[[0] * 900] * 900] * 900
    assert shape.fault({**known, "contents": [{"uri": "file:///x"}], "_meta": {"a": deep}}) is None


def test_the_data_are_what_the_generator_makes(tmp_path):
    pytest.importorskip("mcp_types")
    program = (
        "import sys; sys.path.insert(0, 'scripts'); import make_schemas; from pathlib import Path; "
        "make_schemas.TARGET = Path(sys.argv[1]); make_schemas.main()"
    )
    made = tmp_path / "schemas.json"
    subprocess.run([sys.executable, "-c", program, made], cwd=ROOT, check=True, timeout=BOUND)
    kept = ROOT / "mcp_tap" / "rules" / "data" / "schemas.json"
    assert made.read_text() == kept.read_text(), "run `make schemas`"


@pytest.mark.parametrize("seed", range(40))
def test_what_passes_as_ordinary_is_valid(seed):
    random = Random(seed)
    shapes = [shape_of("2026-07-28", "result", "tools/call")]
    shapes += [shape_of("2026-07-28", "request", m) for m in ("tools/call", "completion/complete")]
    shapes.append(shape_of("2026-07-28", "server_notification", "notifications/progress"))
    for _, _, body in random.sample(MESSAGES, 60):
        value = spoilt(random, body.get("params", body.get("result")))
        for shape in shapes if type(value) is dict else ():
            assert not shape._is_ordinary(value) or shape._validator.is_valid(value), value


def test_calls_are_ordinary_whatever_their_arguments_are():
    shape = shape_of("2026-07-28", "request", "tools/call")
    assert all(shape._kinds.values()), "else RPC-012 is not steady for them"
