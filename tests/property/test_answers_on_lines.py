"""Whatever two sides write, the answerer of lines loses nothing and gives nothing away.

Every line is passed on as it came, or is kept and recorded; no id of the tap's reaches the client.
"""

from __future__ import annotations

import json
from random import Random

import pytest

from mcp_tap.proxy.answering.asked import is_json
from mcp_tap.proxy.stdio.steps import Decided, Seen, ToClient, ToServer
from tests.garbage import corpus, spoilt
from tests.lining import Both

SCRIPT = """
version = 1
unmatched = "decline"

[[answer]]
match = { ask = ["form"] }
fill = ["default", "generate"]

[[answer]]
match = { ask = "url" }
action = "accept"

[[answer]]
match = { ask = "sampling" }
text = "yes"

[[answer]]
match = { ask = "roots" }
roots = [{ uri = "file:///a" }]
"""
CORPUS = corpus()


def written(random, value):
    separators = random.choice([(",", ":"), (", ", ": "), (" , ", " :")])
    data = json.dumps(value, separators=separators).encode("utf-8", "surrogatepass")
    if random.random() < 0.05:
        at = random.randrange(len(data) + 1)
        data = data[:at] + random.choice([b"", b"\xff", b'"', b"}", b" "]) + data[at + 1 :]
    return data.replace(b"\n", b" ") + random.choice([b"\n", b"\n", b"\r\n"])


def numbered(random, sender, value, asked):
    """Give a message ids that meet: those of the client, and those the tap made up."""
    if not isinstance(value, dict):
        return value
    value = {**value}
    if "method" in value and "id" in value:
        value["id"] = random.choice([random.randrange(20), str(random.randrange(20)), 1.0])
        if sender == "client":
            asked.append(value["id"])
    elif "id" in value and asked:
        value["id"] = asked.pop() if random.random() < 0.6 else random.choice(asked or [1])
    if value.get("method") == "notifications/cancelled" and isinstance(value.get("params"), dict):
        value["params"] = {**value["params"], "requestId": random.randrange(20)}
    return value


@pytest.mark.parametrize("seed", range(4))
def test_every_line_goes_on_as_it_came_or_is_kept_and_recorded(seed):
    random = Random(seed)
    both = Both(SCRIPT, longest=20.0)
    asked: list = []
    for _ in range(400):
        sender, _, body = random.choice(CORPUS)
        if random.random() < 0.4:
            body = spoilt(random, body)
        line = written(random, numbered(random, sender, body, asked))
        both.t += random.choice([0.0, 0.01, 0.3, 3.0])
        if sender == "client":
            steps = both.lines.from_client(line, both.t)
            passed = [s for s in steps if isinstance(s, ToServer) and s.line == line]
        else:
            steps = both.lines.from_server(line, both.t)
            passed = [s for s in steps if isinstance(s, ToClient) and s.line == line]
        kept = [s for s in steps if isinstance(s, Seen)]
        assert [s.line for s in kept] == [line] * len(kept)
        assert len(passed) + len(kept) == 1
        look(both, steps, asked)
        look(both, both.lines.tick(both.t), asked)
    look(both, both.lines.client_eof(both.t), asked)
    look(both, both.lines.server_eof(both.t), asked)
    assert both.answering.answered > 5


def look(both, steps, asked):
    both._do(steps)
    for step in steps:
        if isinstance(step, Decided):
            assert step.told.verdict != "tap-failed", step.told.why
        elif isinstance(step, ToClient):
            assert b"mcp-tap-" not in step.line or not is_json(step.line)
        elif isinstance(step, ToServer) and step.sender == "tap":
            value = json.loads(step.line.decode(errors="replace"))
            if "method" in value and str(value.get("id")).startswith("mcp-tap-"):
                asked.append(value["id"])
