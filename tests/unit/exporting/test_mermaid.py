from __future__ import annotations

import re

import pytest

from mcp_tap.core.model import Ask, Call, Round
from mcp_tap.exporting.mermaid import label, mermaid_document
from tests.exports import GOLDEN, HOSTILE, gathered, golden, hostile
from tests.traffic import STATE, story

STATEMENT = re.compile(
    r"sequenceDiagram|  participant [CTS] as (?P<p>.*)"
    r"|  (?:[CT]->>S|S-->>[CT]|S--x[CT]|Note over (?:C|T|S|C,S)): (?P<t>.*)"
)
"""Every line a diagram may have; what stands for a text must not hold more than letters."""
PLAIN = re.compile(r"(?:[\w .,/()?!'+=-]|#\d+;)+")


def diagrams(found, *, several=True) -> str:
    calls = [each for each, _ in found if isinstance(each, Call)]
    return b"".join(mermaid_document(calls, several=several)).decode()


def blocks(text: str) -> list[list[str]]:
    return [b.splitlines() for b in re.findall(r"```mermaid\n(.*?)```", text, re.DOTALL)]


@pytest.mark.parametrize("path", [*GOLDEN, None], ids=lambda p: p.stem if p else "hostile")
def test_no_text_of_the_wire_is_more_than_a_label(path):
    found = gathered(hostile().records) if path is None else golden(path)[1]
    made = blocks(diagrams(found))
    assert len(made) == sum(isinstance(each, Call) for each, _ in found)
    for line in (line for lines in made for line in lines):
        statement = STATEMENT.fullmatch(line)
        assert statement, line
        words = statement["p"] or statement["t"]
        assert words is None or PLAIN.fullmatch(words), line


def test_a_call_of_two_rounds_is_drawn_with_its_ask_and_answer():
    found = gathered(story().records)[1:2]
    lines = diagrams(found, several=False).splitlines()
    assert [line.strip() for line in lines] == [
        "sequenceDiagram",
        "participant C as demo-client/1.0",
        "participant S as billing",
        "C->>S: tools/call deploy, id 2",
        "S-->>C: asks confirm (form), state " + lines[4].rpartition(" ")[2],
        "Note over C: #34;Разрешить? #92;x1b#91;2J#34;  fields ok",
        "Note over C: accept #123;ok#58; true#125;, by client, after 60ms",
        "C->>S: retry, id 3, state " + lines[4].rpartition(" ")[2],
        "S-->>C: complete#58; #34;shipped#34;",
        "Note over S: SEC-021 " + lines[9].partition("SEC-021 ")[2],
    ]
    assert STATE not in str(lines)


def test_faults_waits_and_the_tap_are_drawn():
    text = diagrams(gathered(story().records))
    assert "S--xC: -32602#58; Unknown tool#58; exprt" in text
    assert "Note over C,S: waiting for the client to answer seat" in text
    ask = Ask(key="k", method="roots/list", kind="roots", params={}, seq=1, t=0, action="answered")
    ask.answered_by, ask.answer_t = "tap", 0.5
    first = Round(number=1, exchange=1, request_id=1, t=0, request_seq=1, asks=[ask], end=0.1)
    first.progress = 2
    second = Round(number=2, exchange=2, request_id="t1", t=2, request_seq=3, by_tap=True)
    call = Call(number=1, method="tools/call", name="x", t=0, rounds=[first, second])
    call.outcome, call.why = "cancelled", "the client left"
    drawn = b"".join(mermaid_document([call], several=False)).decode()
    for line in ("participant T as mcp-tap", "S-->>T: 2 progress", "S-->>T: asks k (roots)",
                 "Note over C: 1.90s", "T->>S: retry, id #34;t1#34;",
                 "Note over C,S: the client left"):  # fmt: skip
        assert f"  {line}\n" in drawn


@pytest.mark.parametrize("text", [*HOSTILE, "", "end", "the End of it", "x" * 1000])
def test_a_label_is_one_line_of_letters_and_codes(text):
    from mcp_tap.core.text import safe

    made = label(safe(text))
    assert PLAIN.fullmatch(made)
    assert not re.search(r"(?i)\bend\b", made)


def test_several_calls_are_headed_blocks_of_markdown():
    text = diagrams(gathered(story().records))
    assert text.startswith("## Call 1: tools/call search\n\n```mermaid\nsequenceDiagram\n")
    assert text.count("```mermaid") == 4
    assert "<" not in diagrams(gathered(hostile().records)).replace("<->", "")
