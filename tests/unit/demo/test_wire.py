from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.demo import wire


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_text_survives_a_header(text):
    sent = wire.encode_value(text)
    assert wire.decode_value(sent) == text
    assert sent.isascii()
    assert sent.isprintable()


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("us-west1", "us-west1"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        (42, "42"),
        (True, "true"),
    ],
)
def test_values_are_written_as_the_specification_shows(value, header):
    assert wire.encode_value(value) == header


@pytest.mark.parametrize("bad", ["é", "a\nb", " a", "=?base64?*?=", "=?base64?/w==?="])
def test_a_value_that_cannot_have_been_encoded_is_refused(bad):
    with pytest.raises(ValueError, match=r"."):
        wire.decode_value(bad)


def test_only_properties_chains_are_mirrored():
    region = {"type": "string", "x-mcp-header": "Region"}
    schema = {
        "properties": {
            "where": {"type": "object", "properties": {"region": region}},
            "list": {"type": "array", "items": region},
        },
        "anyOf": [{"properties": {"region": region}}],
    }
    assert list(wire.mirrored(schema)) == [("Mcp-Param-Region", ("where", "region"))]
    assert wire.value_at({"where": {"region": "eu"}}, ("where", "region")) == "eu"
    assert wire.value_at({"where": 7}, ("where", "region")) is None
    assert list(wire.mirrored(None)) == []
