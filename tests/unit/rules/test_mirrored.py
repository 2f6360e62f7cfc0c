from __future__ import annotations

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.core.mirrored import decoded, is_encoded, is_plain
from mcp_tap.rules.mirrored import reading, was_read
from mcp_tap.rules.mirrored_form import check
from tests.facts import message


def encode(text):
    return f"=?base64?{b64encode(text.encode('utf-8', 'surrogatepass')).decode()}?="


@given(st.text().filter(lambda text: not any("\ud800" <= ch <= "\udfff" for ch in text)))
def test_what_is_encoded_is_decoded(text):
    assert decoded(encode(text)) == text
    assert check({}, "Mcp-Name", [encode(text)], text) is None


@given(st.text())
def test_a_value_is_plain_or_needs_the_form_but_is_never_both_right_and_wrong(text):
    found = {}
    wrong = check(found, "Mcp-Name", [text], text)
    assert wrong is None
    assert bool(found) == (not is_plain(text))


@given(st.text(), st.text())
def test_whatever_is_compared_nothing_is_raised(value, body):
    check({}, "Mcp-Name", [value], body)
    check({}, "Mcp-Name", [value], None, strict=False)


@pytest.mark.parametrize("value", ["=?base64?", "=?BASE64?YQ==?=", "=?Base64?x"])
def test_what_claims_to_be_encoded_is_seen_whatever_the_letter_case(value):
    assert is_encoded(value)
    assert decoded(value) is None


def test_a_request_is_read_once_and_what_was_not_read_is_empty():
    sent = message("tools/list", 1)
    assert was_read(sent.flow.memo) == {}
    assert reading(sent) is reading(sent)
    assert was_read(sent.flow.memo) is reading(sent)
