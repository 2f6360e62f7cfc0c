from __future__ import annotations

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.cli.values import BODY_SIZE, DURATION, HEADER, LISTEN, SIZE


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("512", 512),
        ("10k", 10 * 1024),
        ("10K", 10 * 1024),
        ("16MiB", 16 << 20),
        ("5MB", 5_000_000),
        ("1.5m", 3 << 19),
        ("2 GiB", 2 << 30),
        ("7b", 7),
        (4096, 4096),
    ],
)
def test_sizes_are_read(text, size):
    assert SIZE.convert(text, None, None) == size


@pytest.mark.parametrize("text", ["", "x", "-1", "1q", "1kk", "k", "1e3", "1.2.3"])
def test_what_is_no_size_is_refused_with_examples(text):
    with pytest.raises(click.BadParameter, match="16MiB"):
        SIZE.convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30d", 2_592_000), ("2s", 2), ("250ms", 0.25), ("1h30m", 5400), ("1.5h", 5400), ("9", 9)],
)
def test_durations_are_read(text, seconds):
    assert DURATION.convert(text, None, None) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "d", "30 days", "-2s", "2s!", "1h 30m"])
def test_what_is_no_duration_is_refused_with_examples(text):
    with pytest.raises(click.BadParameter, match="30d"):
        DURATION.convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("8080", ("127.0.0.1", 8080)),
        (8080, ("127.0.0.1", 8080)),
        (":8080", ("127.0.0.1", 8080)),
        ("0", ("127.0.0.1", 0)),
        ("0.0.0.0:80", ("0.0.0.0", 80)),
        ("localhost:1", ("localhost", 1)),
        ("[::1]:7777", ("::1", 7777)),
    ],
)
def test_addresses_are_read_and_stay_on_loopback_without_a_host(text, address):
    assert LISTEN.convert(text, None, None) == address


@pytest.mark.parametrize(
    "text", ["", "a:b", "http://localhost:1", "localhost:1/x", "1:2:3", "[x", "a:"]
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(click.BadParameter):
        LISTEN.convert(text, None, None)


def test_word_alone_is_no_address():
    with pytest.raises(click.BadParameter) as error:
        LISTEN.convert("abc", None, None)
    assert error.value.message == "abc is neither a port nor HOST:PORT"


@pytest.mark.parametrize("text", ["localhost", "0.0.0.0", "[::1]"])
def test_host_alone_is_answered_with_a_port(text):
    with pytest.raises(click.BadParameter) as error:
        LISTEN.convert(text, None, None)
    assert error.value.message.endswith(f"HOST:PORT; did you mean {text}:7777?")


def test_bare_ipv6_address_is_answered_with_brackets():
    with pytest.raises(click.BadParameter, match=r"did you mean \[::1\]:7777\?"):
        LISTEN.convert("::1", None, None)


def test_port_past_the_last_is_refused():
    with pytest.raises(click.BadParameter, match="no port 65536"):
        LISTEN.convert("65536", None, None)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("Authorization: Bearer a:b", ("Authorization", "Bearer a:b")),
        ("X-Empty:", ("X-Empty", "")),
        ("x:1", ("x", "1")),
    ],
)
def test_headers_are_divided_at_the_first_colon(text, field):
    assert HEADER.convert(text, None, None) == field


@given(st.sampled_from(["{}", "{}: v", "A: v\r\n{}", "A: {}\u0142", "A {}: v"]))
def test_refused_header_is_never_repeated(form):
    with pytest.raises(click.BadParameter) as error:
        HEADER.convert(form.format("s3cret value"), None, None)
    assert "s3cret" not in error.value.message


@pytest.mark.parametrize("kind", [LISTEN, SIZE, DURATION], ids=lambda kind: kind.name)
@pytest.mark.parametrize("text", ["٣", "127.0.0.1:٣", "9" * 5000, "1." + "9" * 5000, "１２"])
def test_digits_of_other_scripts_and_endless_ones_are_no_numbers(kind, text):
    with pytest.raises(click.BadParameter):
        kind.convert(text, None, None)


@pytest.mark.parametrize(
    "name",
    [
        "Host",
        "content-length",
        "Transfer-Encoding",
        "CONNECTION",
        "Keep-Alive",
        "Proxy-Connection",
        "TE",
        "Trailer",
        "Upgrade",
        "Expect",
    ],
)
def test_fields_of_the_connection_cannot_be_sent_as_headers(name):
    with pytest.raises(click.BadParameter, match=f"{name} is not sent this way"):
        HEADER.convert(f"{name}: s3cret", None, None)


@pytest.mark.parametrize("ch", ["\r", "\n", "\0", "\x1b", "\x7f", "\x0b", "\u202e"])
def test_header_values_hold_no_control_characters(ch):
    with pytest.raises(click.BadParameter, match="no header may have"):
        HEADER.convert(f"X-A: a{ch}b", None, None)
    assert HEADER.convert("X-A: a\tb", None, None) == ("X-A", "a\tb")


def test_no_more_of_a_payload_is_recorded_than_readers_take():
    assert BODY_SIZE.convert("256MiB", None, None) == 256 << 20
    with pytest.raises(click.BadParameter, match="'1g' is more than 256MiB"):
        BODY_SIZE.convert("1g", None, None)
