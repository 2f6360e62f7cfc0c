"""No text from the wire leaves `safe` with something a terminal obeys."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.core.text import cut, json_safe, pad, safe, width

NASTY = st.sampled_from(
    "\x1b\x07\x9b\n\r\t\x7f\x00\u200b\u200c\u200d\u200e\u202e\u2066\u2069\ufe0f\ufe0e\ufeff\u2028"
    "\U000e0041\U000e0100\ue000\ufdd0😀👩ñ東م"
)
TEXTS = st.text(NASTY | st.characters(), max_size=40)
FORBIDDEN = {"Cc", "Cs", "Co", "Zl", "Zp"}


@given(TEXTS)
def test_nothing_is_left_that_controls_hides_or_reorders(text):
    shown = safe(text)
    assert not [c for c in shown if unicodedata.category(c) in FORBIDDEN]
    assert not [c for c in shown if unicodedata.category(c) == "Cf" and c not in "\u200c\u200d"]
    assert len(shown.splitlines()) <= 1


@given(TEXTS)
def test_making_text_harmless_twice_changes_nothing_more(text):
    assert safe(safe(text)) == safe(text)


@given(st.text(st.characters(codec="ascii", min_codepoint=32, max_codepoint=126)))
def test_plain_text_stays(text):
    assert safe(text) == text


@given(TEXTS.map(safe), st.integers(0, 30))
def test_cut_and_padded_text_is_as_wide_as_asked(text, cells):
    assert width(cut(text, cells)) <= cells
    assert width(pad(text, cells)) == cells


@given(st.dictionaries(st.text(max_size=8), st.text(NASTY | st.characters(codec="utf-8"))))
def test_harmless_json_means_the_same(value):
    raw = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    try:
        raw.decode()
    except UnicodeDecodeError:
        return
    made = json_safe(raw)
    assert json.loads(made) == value
    assert not [c for c in made.decode() if c != "\n" and unicodedata.category(c) in FORBIDDEN]
