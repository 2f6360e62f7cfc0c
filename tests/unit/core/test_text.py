from __future__ import annotations

import json
import time

import pytest

from mcp_tap.core.text import (
    brief,
    cut,
    fingerprint,
    json_safe,
    pad,
    plural,
    pointer_words,
    running,
    safe,
    short_print,
    size,
    took,
    width,
)


@pytest.mark.parametrize(
    ("wire", "shown"),
    [
        ("\x1b[2J\x1b]0;owned\x07", "\\x1b[2J\\x1b]0;owned\\x07"),
        ("a\nb\rc\td", "a\\nb\\rc\\td"),
        ("\x9b31m", "\\x9b31m"),
        ("\x7f\x00", "\\x7f\\x00"),
        ("user\u202egnp.exe", "user\\u202egnp.exe"),
        ("\u2066a\u2069\u200e", "\\u2066a\\u2069\\u200e"),
        ("pay\u200bpal \ufeff\u2060\u00ad", "pay\\u200bpal \\ufeff\\u2060\\xad"),
        ("a\u200db\u200c", "a\\u200db\\u200c"),
        ("\u2028\u2029", "\\u2028\\u2029"),
        ("\U000e0041\U000e0101", "\\U000e0041\\U000e0101"),
        ("x\ufe0f\ufe0e", "x\ufe0f\\ufe0e"),
        ("\ud800 \uffff \ue000", "\\ud800 \\uffff \\ue000"),
        ("\u3164\u115f\uffa0", "\\u3164\\u115f\\uffa0"),
    ],
)
def test_what_a_terminal_would_obey_or_hide_is_spelled_out(wire, shown):
    assert safe(wire) == shown


@pytest.mark.parametrize(
    "text",
    [
        "plain ~ text",
        "Укажите проект",
        "東京 いつ 한국어",
        "😀 👨‍👩‍👧 ❤️ 🏳️‍🌈",
        "می‌خواهم हिन्दी",
        "é é\u00a0\u3000",
    ],
)
def test_printable_text_of_any_script_stays(text):
    assert safe(text) == text


def test_json_keeps_its_meaning_when_made_harmless():
    value = {"a\x9b\x7f": "\x1b\u202e\n\U000e0041 東京"}
    raw = json_safe(json.dumps(value, ensure_ascii=False, indent=1).encode())
    assert json.loads(raw) == value
    assert not {"\x9b", "\x7f", "\u202e", "\U000e0041"} & set(raw.decode())
    assert "東京" in raw.decode()


def test_a_state_is_named_and_not_shown():
    assert fingerprint("secret-state") == "sha256:3d0b1b…, 12 B".replace(
        "3d0b1b", short_print("secret-state")[:6]
    )
    assert "secret" not in fingerprint("secret-state") + short_print("secret-state")
    assert fingerprint("abc", "..") == "sha256:ba7816.., 3 B"
    assert fingerprint("\ud800") != fingerprint("")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0.0ms"),
        (0.0004, "0.4ms"),
        (0.012, "12ms"),
        (0.9996, "1.00s"),
        (6.123, "6.12s"),
        (12.34, "12.3s"),
        (59.97, "1m00s"),
        (123.4, "2m03s"),
        (3720, "1h02m"),
    ],
)
def test_durations_have_three_figures(seconds, shown):
    assert took(seconds) == shown


def test_running_time_shows_whole_seconds():
    assert [running(s) for s in (0.9, 8.2, 61.9)] == ["0s", "8s", "1m01s"]


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 B"), (999, "999 B"), (1234, "1.2 kB"), (999_999, "1.0 MB"), (16 << 20, "17 MB"),
     (2 * 10**12, "2.0 TB"), (5 * 10**15, "5000 TB")],
)  # fmt: skip
def test_sizes_are_short(count, shown):
    assert size(count) == shown


def test_counted_words_take_an_s():
    assert [plural(n, "ask") for n in (0, 1, 2)] == ["0 asks", "1 ask", "2 asks"]


@pytest.mark.parametrize(
    ("pointer", "shown"),
    [
        ("/params/content/0", "params.content[0]"),
        ("", "the whole value"),
        ("/a~1b/c~0", '["a/b"]["c~"]'),
        ("/x/\x1b", 'x["\\x1b"]'),
    ],
)
def test_pointers_read_like_code(pointer, shown):
    assert pointer_words(pointer) == shown


def test_columns_count_cells_not_characters():
    assert [width(t) for t in ("abc", "東京", "e\u0301", "")] == [3, 4, 1, 0]
    assert cut("東京東京", 5) == "東.."
    assert cut("東京", 4) == "東京"
    assert cut("abcdef", 1) == "."
    assert pad("東", 4) == "東  "
    assert pad("7", 3, right=True) == "  7"
    assert width(pad("東京東京", 5)) == 5


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"service": "billing", "n": 3, "x": None, "ok": True},
         '{service: "billing", n: 3, x: null, ok: true}'),
        ([1, [2, [3, [4]]]], "[1, [2, [3, [..]]]]"),
        ({"a b": []}, '{"a b": []}'),
        ("a\x1b", '"a\\x1b"'),
        (2**70, str(2**70)),
    ],
)  # fmt: skip
def test_values_are_told_in_a_few_words(value, shown):
    assert brief(value) == shown


def test_a_brief_value_is_bounded_whatever_its_size():
    for value in ("x" * 10**6, list(range(10**5)), {str(n): "y" * 99 for n in range(10**4)}):
        assert width(brief(value, 40)) <= 40


def test_endless_texts_and_names_are_shortened_without_reading_them_whole():
    endless = "\u5bc6" * 1_000_000
    begun = time.thread_time()
    assert brief({endless: {endless: endless}}, 12) == "{" + "\u5bc6" * 4 + ".."
    assert cut("a" + "\u0301" * 1_000_000, 5).endswith("..")
    assert pointer_words(f"/a/{endless}/0") == f'a["{endless[:200]}.."][0]'
    assert time.thread_time() - begun < 2
