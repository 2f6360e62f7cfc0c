"""What runs begin with: their masks and their header."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mcp_tap.errors import UsageError
from mcp_tap.proxy.beginning import header_of, redactor_of
from mcp_tap.proxy.stdio.settings import StdioSettings

WALL = datetime(2026, 7, 28, 12, 4, 1, 500_000, tzinfo=UTC)


def test_the_header_says_what_is_masked_and_not_the_secret(tmp_path):
    settings = StdioSettings(command=["x"], label="files", redact=["value:s3cret", "key:pin"])
    redactor = redactor_of(settings)
    header = header_of(settings, redactor, transport="stdio", upstream="x", capture=None, wall=WALL)
    assert (header.started, header.label, header.transport) == (
        "2026-07-28T12:04:01.500Z",
        "files",
        "stdio",
    )
    assert header.run.startswith("20260728T120401-files-")
    first, second, third = header.redaction
    assert (first, third) == ("default", "key:pin")
    assert "s3cret" not in second
    assert header.key == redactor.fingerprint


def test_without_a_key_file_each_run_masks_differently():
    settings = StdioSettings(command=["x"], default_redaction=False)
    assert redactor_of(settings).fingerprint != redactor_of(settings).fingerprint


@pytest.mark.parametrize("content", [None, b"short"])
def test_a_key_that_cannot_be_used_is_refused(tmp_path, content):
    key = tmp_path / "key"
    if content is not None:
        key.write_bytes(content)
    with pytest.raises(UsageError) as told:
        redactor_of(StdioSettings(command=["x"], redact_key=str(key)))
    assert told.value.code == "bad-redact-key"
