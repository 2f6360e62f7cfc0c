from __future__ import annotations

import pytest

from mcp_tap.core import records
from tests.pages import script, text_of

TABLES = script("capture_format")
STRUCTS = {
    **TABLES.kinds(),
    "(every)": records.Record,
    "(payload)": records.Payload,
    **{struct.__name__: struct for struct in TABLES.HELPERS},
}


@pytest.mark.parametrize("name", STRUCTS)
def test_every_kind_and_field_is_described(name):
    assert STRUCTS[name].__doc__
    undescribed = [field for field, _, text in TABLES.fields(STRUCTS[name]) if not text]
    assert not undescribed, f"{name}: give {undescribed} a docstring in core/records.py"


@pytest.mark.parametrize("kind", TABLES.kinds())
def test_no_field_of_a_kind_is_left_out(kind):
    struct = TABLES.kinds()[kind]
    shown = {name for base in struct.__mro__ if base.__module__ == records.__name__
             for name, _, _ in TABLES.fields(base)}  # fmt: skip
    assert shown == set(struct.__struct_fields__)


def test_the_page_names_the_format_that_is_written():
    assert f"The header's `format` is {records.FORMAT}." in text_of("capture-format.md")
