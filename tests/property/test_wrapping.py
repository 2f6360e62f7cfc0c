"""What wrap puts into a configuration file, unwrap takes out to the byte, however it is written."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from hypothesis import assume, given
from hypothesis import strategies as st

from mcp_tap.answers import toml
from mcp_tap.wrapping import entries as wrapping
from mcp_tap.wrapping.clients import OTHER, read_notation, servers
from mcp_tap.wrapping.jsonc import Jsonc
from mcp_tap.wrapping.notation import Unreadable
from mcp_tap.wrapping.toml import Toml
from tests.wrapping import PROGRAM, Book, unwrapped, wrapped

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
WORD = st.one_of(TEXT, st.sampled_from(["--", "npx", "-y", "a b", '"', "\\", "mcp-tap", "'", "]"]))
NAME = st.one_of(TEXT, st.sampled_from(["fs", "a.b", "two words", "command", "//", "#"]))
URL = st.builds(
    "{}://{}{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(
        ["h.example", "127.0.0.1:3000", "[::1]:1", "localhost:17771", "h.example:17770"]
    ),
    st.sampled_from(["", "/", "/mcp", "/mcp?key=1#x", "?k=/", "/a%20b/${X}"]),
)
EXTRA = st.dictionaries(st.sampled_from(["env", "type", "cwd"]), WORD, max_size=2)
STDIO = st.builds(
    lambda command, args, extra: {"command": command} | args | extra,
    WORD,
    st.one_of(st.just({}), st.builds(lambda words: {"args": words}, st.lists(WORD, max_size=3))),
    EXTRA,
)
HTTP = st.builds(lambda url, extra: {"url": url} | extra, URL, EXTRA)
ODD = st.sampled_from([{}, {"url": 1}, {"command": "x", "args": "y"}, {"command": ["x"]}])


@st.composite
def entries(draw, kinds=(STDIO, HTTP, ODD)):
    """Draw servers by name, the members of each in any order."""
    found = draw(st.dictionaries(NAME, st.one_of(*kinds), min_size=1, max_size=3))
    return {name: dict(draw(st.permutations(list(one.items())))) for name, one in found.items()}


@st.composite
def jsonc(draw, value):
    """Write a value with blanks, comments and commas anywhere they may stand."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    blanks = ["", " ", "\t", newline, newline + "    "]
    comments = ["/**/", '/* }, " ] */', f'// "mcpServers": {{{newline}', f"//{newline}\t"]
    gaps = st.sampled_from(blanks + comments * draw(st.booleans()))
    commas = draw(st.booleans())

    def gap():
        return draw(gaps)

    def write(one):
        if isinstance(one, dict):
            parts = []
            for name, member in one.items():
                key = json.dumps(name, ensure_ascii=draw(st.booleans()))
                parts.append(f"{gap()}{key}{gap()}:{gap()}{write(member)}{gap()}")
        elif isinstance(one, list):
            parts = [f"{gap()}{write(item)}{gap()}" for item in one]
        else:
            token = json.dumps(one, ensure_ascii=draw(st.booleans()))
            return token.replace("/", "\\/") if draw(st.booleans()) else token
        last = f",{gap()}" if parts and commas and draw(st.booleans()) else ""
        inside = ",".join(parts) + last if parts else gap()
        return f"{{{inside}}}" if isinstance(one, dict) else f"[{inside}]"

    mark = draw(st.sampled_from(["", "\ufeff"]))
    return (mark + gap() + write(value) + gap()).encode()


@st.composite
def toml_lines(draw, servers):
    """Write servers as tables, with dotted keys, or inline, between other lines."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    ends = st.sampled_from(["", " # why", "  "])

    def text(word):
        forms = [toml.basic(word)]
        if word.isprintable():
            forms += [f"'{word}'"] * ("'" not in word)
            forms += [f"'''{word}'''"] * ("'" not in word)
        return draw(st.sampled_from(forms))

    def value(one):
        if isinstance(one, list):
            gaps = st.sampled_from(["", " ", newline + "  ", f" # ], {newline} "])
            parts = [f"{draw(gaps)}{text(item)}{draw(gaps)}" for item in one]
            last = f",{draw(gaps)}" if parts and draw(st.booleans()) else ""
            return f"[{','.join(parts)}{last}]" if parts else f"[{draw(gaps)}]"
        return text(one) if isinstance(one, str) else str(one)

    lines = ["top = 1" + draw(ends)]
    tables = []
    for name, members in servers.items():
        key, form = toml.key(name), draw(st.sampled_from(["table", "dotted", "inline"]))
        indent = draw(st.sampled_from(["", "  ", "\t"]))
        if form == "table":
            tables.append(f"{indent}[mcp_servers.{key}]{draw(ends)}")
            tables += [f"{indent}{m} = {value(v)}{draw(ends)}" for m, v in members.items()]
            tables.append(draw(st.sampled_from(["", "# more", "[[list]]", "[other]"])))
        elif form == "dotted" and members:
            lines += [
                f"{indent}mcp_servers . {key} .{m}={value(v)}{draw(ends)}"
                for m, v in members.items()
            ]
        else:
            inside = " , ".join(f"{m} = {value(v)}" for m, v in members.items())
            lines.append(f"mcp_servers.{key} = {{{inside.replace(newline, ' ')}}}{draw(ends)}")
    data = newline.join([*lines, *tables]) + draw(st.sampled_from(["", newline]))
    return (draw(st.sampled_from(["", "\ufeff"])) + data).encode()


def sound(data, notation):
    """Read what was drawn; what is not sound by an accident of the draw is drawn again."""
    try:
        return notation(data).value
    except Unreadable:
        assume(False)


def check(data, name):
    book = Book()
    changed, outcomes = wrapped(data, book, name)
    assume(all(outcome.state != "already wrapped" for outcome in outcomes))  # by hand
    assert unwrapped(changed, book, name)[0] == data
    assert wrapped(changed, book, name)[0] == changed
    was, now = (read_notation(Path(name), part).value for part in (data, changed))
    for outcome in outcomes:
        old, new = was, now
        for step in outcome.path:
            old, new = old[step], new[step]
        if outcome.state == "wrapped" and outcome.kind == "stdio":
            assert new["command"] == PROGRAM
            at = new["args"].index("--")
            assert new["args"][at + 1 :] == [old["command"], *old.get("args", [])]
        elif outcome.state == "wrapped":
            assert new["url"].startswith(f"http://127.0.0.1:{outcome.port}")
            assert new["url"].endswith(re.sub("https?://[^/?#]+", "", old["url"]))
        else:
            assert new == old


@given(st.data())
def test_json_comes_back_to_the_byte(data):
    value = {"before": [1], "mcpServers": data.draw(entries()), "after": {"mcpServers": {}}}
    text = data.draw(jsonc(value))
    assert sound(text, Jsonc) == value
    check(text, "mcp.json")


@given(st.data())
def test_toml_comes_back_to_the_byte(data):
    text = data.draw(toml_lines(data.draw(entries(kinds=(STDIO, HTTP)))))
    assert "mcp_servers" in sound(text, Toml)
    check(text, "config.toml")


@given(st.data())
def test_what_is_edited_elsewhere_meanwhile_stays(data):
    value = {"z": 0, "mcpServers": data.draw(entries()), "y": 0}
    text = data.draw(jsonc(value))
    edited = text.replace(b'"z"', b'"zz": [1,\n2], "z"', 1)
    assume(Jsonc(edited).value.keys() == {"zz", *value})
    book = Book()
    changed, _ = wrapped(text, book)
    meanwhile = changed.replace(b'"z"', b'"zz": [1,\n2], "z"', 1)
    assert unwrapped(meanwhile, book)[0] == edited


@given(st.data())
def test_one_server_of_several_can_be_taken_out_alone(data):
    value = {"mcpServers": data.draw(entries(kinds=(STDIO, HTTP)))}
    text, book = data.draw(jsonc(value)), Book()
    changed, outcomes = wrapped(text, book)
    assume(all(outcome.state != "already wrapped" for outcome in outcomes))  # by hand
    for path in data.draw(st.permutations(servers(OTHER, value))):
        doc = read_notation(Path("mcp.json"), changed)
        changed, _ = wrapping.unwrap(doc, [path], OTHER.shape, ports=book)
    assert changed == text


@given(st.binary(max_size=60))
def test_no_bytes_are_taken_for_toml_that_are_none(data):
    try:
        value = Toml(data).value
    except Unreadable:
        return
    assert value == tomllib.loads(data.removeprefix(b"\xef\xbb\xbf").decode())
