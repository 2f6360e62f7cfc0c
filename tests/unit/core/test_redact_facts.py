"""What stays known of a masked value says nothing of its content."""

from __future__ import annotations

import base64
import json

import pytest

from mcp_tap.core.redact_facts import json_type, principal, shape


def jwt(**claims) -> str:
    parts = (b"{}xx", json.dumps(claims).encode(), b"signature")
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("", "empty"),
        ("123456", "digits"),
        ("0123456789abcdefAB", "hex"),
        ("01234567-89ab-cdef-0123-456789abcdef", "uuid"),
        (jwt(sub="x"), "jwt"),
        ("abcdefghijklmnopqrst", "base64url"),
        ("short", "opaque"),
        ("with blank in it and long", "opaque"),
    ],
)
def test_shapes_class_secrets_by_their_look(value, name):
    assert shape(value) == name


def test_a_jwt_names_issuer_and_subject_and_basic_its_user():
    assert principal(jwt(iss="i", sub="ann"), "Bearer") == "i\nann"
    assert principal(base64.b64encode(b"ann:secret").decode(), "Basic") == "ann"
    assert principal("opaque", "Bearer") is None


def test_types_are_named_as_in_json():
    assert [json_type(v) for v in ("", 1, 1.5, [], {})] == [
        "string", "number", "number", "array", "object",
    ]  # fmt: skip
