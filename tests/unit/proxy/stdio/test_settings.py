"""Settings of a run over stdio."""

from __future__ import annotations

import subprocess
import sys

from mcp_tap.proxy.settings import TapSettings
from mcp_tap.proxy.stdio.settings import StdioSettings
from tests.bounds import BOUND


def test_what_both_kinds_of_run_have_has_one_default():
    stdio, http = StdioSettings(command=["x"]), TapSettings(upstream="u")
    for name in ("label", "sync", "rotate", "max_body", "default_redaction", "redact_key"):
        assert getattr(stdio, name) == getattr(http, name), name


def test_nothing_slow_is_loaded_before_the_server_runs():
    code = (
        "import sys, mcp_tap.cli.stdio, mcp_tap.proxy.stdio.run;"
        "print(*sorted({m.partition('.')[0] for m in sys.modules} "
        "& {'msgspec', 'aiohttp', 'asyncio', 'rich', 're2', 'jsonschema_rs', 'brotli'}))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=BOUND)
    assert (loaded.stderr, loaded.stdout.split()) == (b"", [])
