from __future__ import annotations

import base64
import json
import re
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from mcp_tap.core import clock
from mcp_tap.core.text import safe
from mcp_tap.exporting import html
from mcp_tap.exporting.html import html_document
from mcp_tap.views.machine import capture_doc
from tests.builders import read
from tests.exports import GOLDEN, gathered, golden, hostile
from tests.traffic import STATE, Traffic, done, story


def page(records, found=None, most_body=1 << 14) -> str:
    head = records[0]
    made = html_document(
        found or gathered(records),
        about=lambda: capture_doc(read(head), path=None, records=9),
        start=clock.read(head.started),
        most_body=most_body,
    )
    return b"".join(made).decode()


class Reader(HTMLParser):
    """Reads a page as a browser would: its elements, and what is in scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, str] = {}
        self._name = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._name = dict(attrs).get("id") or tag

    def handle_data(self, data):
        if self._name in ("script", "style", "data"):
            self.inside[self._name] = self.inside.get(self._name, "") + data
            self._name = ""

    def data(self) -> dict:
        return json.loads(self.inside["data"])


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def test_the_frame_of_a_page_is_the_same_whatever_is_in_the_capture():
    one, other = Reader(page(story().records)), Reader(page(hostile().records))
    assert one.elements == other.elements
    assert [tag for tag, _ in one.elements].count("script") == 2


def test_only_the_script_and_style_of_the_page_may_run():
    read = Reader(page(hostile().records))
    (policy,) = [
        a["content"] for t, a in read.elements if a.get("http-equiv") == "Content-Security-Policy"
    ]
    digests = {
        name: base64.b64encode(sha256(read.inside[name].encode()).digest()).decode()
        for name in ("script", "style")
    }
    assert (
        f"script-src 'sha256-{digests['script']}'; style-src 'sha256-{digests['style']}'" in policy
    )
    assert policy.startswith("default-src 'none'; ")
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy


def test_the_page_asks_no_network_and_reads_no_string_as_markup():
    read = Reader(page(story().records))
    for tag, attributes in read.elements:
        assert not {"src", "href", "style"} & attributes.keys(), tag
        assert not [name for name in attributes if name.startswith("on")], tag
    script = read.inside["script"]
    for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(",
                 "fetch(", "XMLHttp", "import(", "srcdoc", "setTimeout", ".src"):  # fmt: skip
        assert word not in script, word
    assert "@import" not in read.inside["style"]
    assert "url(" not in read.inside["style"]


def test_hostile_texts_are_spelled_out_and_end_no_block():
    text = page(hostile().records)
    block = text.partition('type="application/json">')[2].partition("</script>")[0]
    assert not set("<>&\u2028\u2029\u202e\x1b\x00") & set(block)
    data = json.loads(block)
    for item in data["items"]:
        for each in texts([item["method"], item["name"], item["head"], item["lanes"]]):
            assert each == safe(each)
    for each in texts(
        [[item["messages"], item["heads"], item["rounds"]] for item in data["items"]]
    ):
        assert each == safe(each)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_captures_are_in_their_pages_and_their_states_are_not(path):
    head, found = golden(path)
    text = page([head], found)
    data = Reader(text).data()
    assert len(data["items"]) == len(found)
    rules = {f["rule"] for item in data["items"] for f in item["findings"]}
    assert rules == set(data["rules"])
    for state in {r.state for each, _ in found for r in getattr(each, "rounds", ())} - {None}:
        assert len(state) < 12 or state not in text


def test_a_call_has_its_lanes_rounds_messages_heads_and_findings():
    text = page(story().records)
    data = Reader(text).data()
    assert [(i["number"], i["outcome"]) for i in data["items"]] == [
        (1, "ok"), (2, "ok"), (3, "error"), (None, "ok"), (4, "waiting")
    ]  # fmt: skip
    deploy = data["items"][1]
    assert (deploy["marks"], deploy["took"], deploy["clock"]) == ("?─*", "140ms", "12:04:01")
    assert len(deploy["rounds"]) == 2
    words = ["".join(p if isinstance(p, str) else p[0] for p in row) for row in deploy["lanes"]]
    assert words[1].split()[-1] == "r1"
    assert "asks 1" in words[2]
    (finding,) = deploy["findings"]
    assert (finding["rule"], finding["where"]) == ("SEC-021", "#2 r1")
    assert data["rules"]["SEC-021"]["spec"].startswith("https://modelcontextprotocol.io/")
    assert len(data["rules"]["SEC-021"]["page"]) > 1
    joined = " ".join(texts(deploy["messages"]))
    assert '"method": "tools/call"' in joined
    assert "POST /mcp HTTP/1.1" in " ".join(texts(deploy["heads"]))
    assert STATE not in text
    assert data["capture"]["label"] == "billing"
    assert data["cut"] == ""


def test_bodies_are_cut_and_counted():
    traffic = Traffic()
    traffic.call("x", done("y"), arguments={f"key{n}": "z" * 100 for n in range(100)})
    data = Reader(page(traffic.records, most_body=1000)).data()
    assert data["cut"] == "1 message cut after 1.0 kB"
    assert "the rest is cut" in str(data["items"][0]["messages"])
    assert len(str(data["items"][0]["messages"])) < 4000


def test_a_page_has_only_so_many_bodies(monkeypatch):
    monkeypatch.setattr(html, "MOST", 1000)
    data = Reader(page(story().records)).data()
    left = re.fullmatch(r"(\d+) messages left out: the page would be too large", data["cut"])
    assert left
    assert int(left[1]) > 3
    assert "left out" in str(data["items"][-1]["messages"])
    assert data["items"][-1]["lanes"]
