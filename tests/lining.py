"""The answerer of lines between two sides that a test plays, and what is recorded of it."""

from __future__ import annotations

import json
from typing import Any

from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call
from mcp_tap.core.records import Decision, Header
from mcp_tap.core.redact import Redactor
from mcp_tap.pipeline import Pipeline
from mcp_tap.proxy.stdio.answering.lines import Lines
from mcp_tap.proxy.stdio.recording import LineRecording
from mcp_tap.proxy.stdio.steps import Seen, Step, ToClient, ToServer
from tests.asking import SCRIPT, answering
from tests.builders import header


class Both:
    """A client and a server with the answerer between them."""

    def __init__(self, script: str = SCRIPT, **options: Any) -> None:
        self.answering = answering(script, **options)
        self.lines = Lines(self.answering)
        self.t = 0.0
        self.records: list[Any] = []
        self.calls: dict[int, Call] = {}
        self.findings: list[Finding] = []
        self._pipeline = Pipeline()
        self._pipeline.feed(header(transport="stdio", upstream="server"))
        self._recording = LineRecording(self._take, Redactor(b"k" * 32), 16 << 20)

    # what one side does; each gives the lines that went to the server, and to the client

    def client(self, line: bytes) -> tuple[list[bytes], list[bytes]]:
        return self._do(self.lines.from_client(_whole(line), self._later()))

    def server(self, line: bytes) -> tuple[list[bytes], list[bytes]]:
        return self._do(self.lines.from_server(_whole(line), self._later()))

    def client_eof(self) -> tuple[list[bytes], list[bytes]]:
        return self._do(self.lines.client_eof(self._later()))

    def server_eof(self) -> tuple[list[bytes], list[bytes]]:
        return self._do(self.lines.server_eof(self._later()))

    def wait(self, seconds: float) -> tuple[list[bytes], list[bytes]]:
        self.t += seconds
        return self._do(self.lines.tick(self.t))

    def passed(self, way: Any, head: bytes, tail: bytes) -> tuple[list[bytes], list[bytes]]:
        return self._do(self.lines.passed(way, head, tail, self._later()))

    # what came of it

    @property
    def told(self) -> list[tuple[str, str | None, str | None]]:
        """Verdict, entry and key of each decision."""
        return [(r.verdict, r.entry, r.key) for r in self.records if isinstance(r, Decision)]

    @property
    def legs(self) -> list[tuple[str, str | None, bool]]:
        """Sender and leg of each message, and whether it replaces another."""
        kept = [r for r in self.records if not isinstance(r, Decision | Header)]
        return [(r.sender, r.leg, r.replaces is not None) for r in kept]

    def the_call(self) -> Call:
        (found,) = [c for c in self.calls.values() if c.method != "initialize"]
        return found

    def the_call_that_asks(self) -> Call:
        (found,) = [c for c in self.calls.values() if any(r.asks for r in c.rounds)]
        return found

    def rules(self, *severities: str) -> list[str]:
        """Ids of the rules that found something as bad as this."""
        wanted = severities or ("error", "warning")
        return [f.rule for f in self.findings if f.severity in wanted]

    def _later(self) -> float:
        self.t = round(self.t + 0.001, 6)
        return self.t

    def _do(self, steps: Any) -> tuple[list[bytes], list[bytes]]:
        for step in steps:
            assert isinstance(step, Step.__args__)
            self._recording.step(step, self.t)
        assert all(s.line.endswith(b"\n") for s in steps if isinstance(s, Seen | ToServer))
        return (
            [s.line for s in steps if isinstance(s, ToServer)],
            [s.line for s in steps if isinstance(s, ToClient)],
        )

    def _take(self, pair: Any) -> None:
        record, value = pair
        self.records.append(record)
        for change in self._pipeline.feed(record, value):
            if isinstance(change, Call):
                self.calls[change.number] = change
            elif isinstance(change, Finding):
                self.findings.append(change)


def _whole(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n"


def said(line: bytes) -> Any:
    return json.loads(line)


def error_of(line: bytes) -> str:
    """Give the code of an error of the tap's own."""
    error = said(line)["error"]
    assert error["data"]["sender"] == "mcp-tap"
    return str(error["data"]["error"])
