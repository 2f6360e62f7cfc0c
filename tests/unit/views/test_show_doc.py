from __future__ import annotations

import msgspec

from mcp_tap.views import show_doc


def structs():
    return [
        found
        for found in vars(show_doc).values()
        if isinstance(found, type) and issubclass(found, msgspec.Struct) and found.__doc__
        and found.__module__ == show_doc.__name__
    ]  # fmt: skip


def test_no_field_has_a_default_so_every_field_is_always_there():
    for struct in structs():
        assert all(field.required for field in msgspec.structs.fields(struct)), struct


def test_nothing_in_the_document_can_hold_a_state():
    names = {field for struct in structs() for field in struct.__struct_fields__}
    assert names.isdisjoint({"state", "sent_state", "requestState", "arguments", "answers"})


def test_the_version_is_the_one_the_document_promises():
    assert show_doc.VERSION == 1
    assert len(structs()) == 11
