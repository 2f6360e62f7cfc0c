from __future__ import annotations

import pytest

from mcp_tap.core.splice import spliced
from mcp_tap.wrapping.entry import Entry, Shape, Unwrappable
from mcp_tap.wrapping.jsonc import Jsonc
from mcp_tap.wrapping.toml import Toml

URLS = Shape(("httpUrl", "url"))


def entry(data, shape=URLS, notation=Jsonc):
    return Entry(notation(data), ("s", "n"), shape)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'{"s": {"n": {"command": "x", "url": "http://h"}}}', "stdio"),
        (b'{"s": {"n": {"url": "http://h"}}}', "http"),
        (b'{"s": {"n": {"command": {"path": "x"}}}}', "stdio"),
        (b'{"s": {"n": {"command": ["x"]}}}', "none"),
        (b'{"s": {"n": {"url": 1}}}', "none"),
    ],
)
def test_a_command_counts_before_a_url(data, kind):
    assert entry(data).kind == kind


def test_where_a_url_counts_first_the_first_of_them_does():
    data = b'{"s": {"n": {"command": "x", "url": "http://a/1", "httpUrl": "http://b/2"}}}'
    assert entry(data, Shape(("httpUrl", "url"), url_first=True)).url == "http://b/2"


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        (b'["a"]', b'["stdio", "--label", "n", "--", "c", "a"]'),
        (b"[]", b'["stdio", "--label", "n", "--", "c"]'),
        (b"[ ]", b'["stdio", "--label", "n", "--", "c" ]'),
        (b'[\n  "a"\n]', b'[\n  "stdio",\n  "--label",\n  "n",\n  "--",\n  "c",\n  "a"\n]'),
        (b"[\n]", b'["stdio", "--label", "n", "--", "c"\n]'),
        (b"[/* no */]", b'["stdio", "--label", "n", "--", "c"/* no */]'),
    ],
)
def test_words_are_written_as_those_that_stand_there(args, wanted):
    data = b'{"s": {"n": {"command": "c", "args": %s}}}' % args
    edits, _ = entry(data).put_in("T/mcp-tap")
    changed = spliced(data, edits)
    assert changed == b'{"s": {"n": {"command": "T/mcp-tap", "args": %s}}}' % wanted
    edits, _ = entry(changed).take_out()
    assert spliced(changed, edits) == data


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (
            b"[s.n]\ncommand = 'c' # why\n",
            b'[s.n]\ncommand = "mcp-tap"\nargs = ["stdio", "--label=n", "--", \'c\'] # why\n',
        ),
        (
            b's.n.command = "c"',
            b's.n.command = "mcp-tap"\ns.n.args = ["stdio", "--label=n", "--", "c"]',
        ),
        (
            b's.n = {command = "c", cwd = "/"}\r\n',
            b's.n = {command = "mcp-tap", args = ["stdio", "--label=n", "--", "c"], cwd = "/"}\r\n',
        ),
        (
            b'\t[s.n]\r\n\tcommand = "c"\r\n',
            b'\t[s.n]\r\n\tcommand = "mcp-tap"\r\n\targs = ["stdio", "--label=n", "--", "c"]\r\n',
        ),
    ],
)
def test_arguments_that_were_not_there_come_and_go_in_every_form_of_toml(data, wanted):
    edits, _ = entry(data, notation=Toml).put_in("mcp-tap")
    changed = spliced(data, edits)
    assert changed == wanted
    edits, _ = entry(changed, notation=Toml).take_out()
    assert spliced(changed, edits) == data


def test_a_comment_between_command_and_arguments_is_not_lost():
    data = b'{"s": {"n": {"command": "c"}}}'
    changed = spliced(data, entry(data).put_in("mcp-tap")[0])
    edited = changed.replace(b', "args"', b', /* mine */ "args"')
    edits, said = entry(edited).take_out()
    assert b"/* mine */" in spliced(edited, edits)
    assert said["args"] == []


def test_the_tap_s_port_is_read_only_from_an_address_as_wrap_writes_it():
    def port(url):
        return entry(b'{"s": {"n": {"url": "%s"}}}' % url).tap_port

    assert port(b"http://127.0.0.1:17771/mcp") == 17771
    assert port(b"http://127.0.0.1:17771") == 17771
    assert port(b"http://127.0.0.1:17771?x=1") == 17771
    assert port(b"http://127.0.0.1:17771x/mcp") == 0
    assert port(b"http://localhost:17771/mcp") == 0


@pytest.mark.parametrize(
    ("url", "upstream"),
    [
        (b"https://h.example/mcp?k=1", "https://h.example/mcp"),
        (b"HTTPS://h.example", "HTTPS://h.example"),
        (b"https://h.example/${T}/mcp", "https://h.example"),
        (b"http://[::1]:3000/a%20b#f", "http://[::1]:3000/a%20b"),
    ],
)
def test_the_upstream_is_the_url_without_what_requests_bring(url, upstream):
    one = entry(b'{"s": {"n": {"url": "%s"}}}' % url)
    assert one.upstream(one.origin()[1]) == upstream


def test_an_origin_is_taken_from_the_begin_of_the_url_only():
    with pytest.raises(Unwrappable, match="no host"):
        entry(b'{"s": {"n": {"url": "x http://h/"}}}').origin()
