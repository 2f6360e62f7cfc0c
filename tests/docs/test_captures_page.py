"""docs/captures.md names every kind of record and every field."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import msgspec

from mcp_tap.core.records import FORMAT, AnyRecord, Digest, Mask, Sse

PAGE = (Path(__file__).parents[2] / "docs" / "captures.md").read_text(encoding="utf-8")
WORDS = set(re.findall(r"`([a-z0-9_]+)`", PAGE))


def test_every_kind_and_field_is_told():
    structs = [*get_args(AnyRecord), Digest, Mask, Sse]
    fields = {field.encode_name for s in structs for field in msgspec.structs.fields(s)}
    kinds = {s.__struct_config__.tag for s in structs} - {None}
    assert not (fields | kinds) - WORDS, sorted((fields | kinds) - WORDS)


def test_the_page_is_of_the_version_that_is_written():
    assert PAGE.splitlines()[2].startswith(f"Version {FORMAT}.")
