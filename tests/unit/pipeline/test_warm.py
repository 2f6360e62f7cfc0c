from __future__ import annotations

import subprocess
import sys

from tests.bounds import BOUND

COUNT = """
import json, sys
from mcp_tap.core.finding import Finding
from mcp_tap.pipeline import Pipeline, warm
from mcp_tap.rules import engine, wire_schemas, words
from mcp_tap.testing import records_of, run_case
from tests.garbage import examples

kept = [getattr(words, name) for name in ("_data", "_lexicon", "_talk", "_attributes")]
warm.warm()
before = {*sys.modules}, [one.cache_info().misses for one in kept]
found = [run_case(json.loads(line)) for line in examples() if '"SEC-' in line or '"RPC-' in line]
assert sum(map(len, found)) > 100
after = {*sys.modules}, [one.cache_info().misses for one in kept]
print(sorted(after[0] - before[0]), [b - a for a, b in zip(before[1], after[1])])
"""


def test_nothing_is_loaded_or_compiled_for_the_first_message_any_more():
    made = subprocess.run(
        [sys.executable, "-c", COUNT], capture_output=True, text=True, timeout=BOUND, check=True
    )
    assert made.stdout.strip() == "[] [0, 0, 0, 0]"


LOOK = """
import sys
from mcp_tap.pipeline import Pipeline, warm
import mcp_tap.proxy.run
assert "jsonschema_rs" not in sys.modules
from mcp_tap.rules import words
assert words._data.cache_info().misses == 0
"""


def test_it_is_not_made_before_somebody_wants_it():
    subprocess.run([sys.executable, "-c", LOOK], timeout=BOUND, check=True)
