from __future__ import annotations

import json
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.core.records import (
    AnyRecord,
    Body,
    Closed,
    Digest,
    HttpRequest,
    Message,
    decode,
    encode,
    pointer,
)

NOTHING = Digest(bytes=0, sha256="e3b0c442")
PRINTABLE = st.text(st.characters(codec="utf-8"), max_size=20)


def test_a_body_stands_in_the_line_as_it_came():
    wire = b'{"id":12345678901234567890123, "a" : 1.0}'
    line = encode(Message(seq=1, t=0.5, sender="client", exchange=1, body=msgspec.Raw(wire)))
    assert wire in line
    assert decode(line).payload() == wire


@given(text=PRINTABLE)
def test_text_comes_back_as_its_bytes(text):
    assert decode(encode(Body(seq=1, t=0, sender="server", text=text))).payload() == text.encode()


@given(data=st.binary(max_size=40))
def test_any_bytes_come_back(data):
    line = encode(Body(seq=1, t=0, sender="server", b64=data))
    assert b"\n" not in line
    assert decode(line).payload() == data


@given(headers=st.lists(st.tuples(PRINTABLE, PRINTABLE)), path=PRINTABLE)
def test_a_head_survives_with_order_spelling_and_duplicates(headers, path):
    record = HttpRequest(
        seq=1, t=0, exchange=1, conn=1, peer="::1", method="POST", path=path, headers=headers
    )
    assert decode(encode(record)) == record


def test_unknown_fields_are_ignored_and_unknown_kinds_are_not():
    record = Closed(seq=1, t=0, exchange=1, how="complete", request=NOTHING, response=NOTHING)
    fields = json.loads(encode(record))
    assert decode(json.dumps({**fields, "later": 1}).encode()) == record
    with pytest.raises(msgspec.ValidationError):
        decode(json.dumps({**fields, "kind": "later"}).encode())


def test_the_kind_comes_first_so_that_lines_can_be_told_apart_unparsed():
    line = encode(Closed(seq=1, t=0, exchange=1, how="complete", request=NOTHING, response=NOTHING))
    assert line.startswith(b'{"kind":"closed"')


def test_every_kind_is_frozen_and_named():
    kinds = [s.__struct_config__ for s in get_args(AnyRecord)]
    assert all(k.frozen and k.tag_field == "kind" for k in kinds)
    assert len({k.tag for k in kinds}) == len(kinds)


def test_pointers_escape_what_has_a_meaning_in_them():
    assert pointer("headers", 3, "a/b~c") == "/headers/3/a~1b~0c"
    assert pointer() == ""
