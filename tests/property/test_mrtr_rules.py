"""Nobody is accused who did nothing wrong, in whatever order things happen.

The world of the linking tests has clients and servers without a fault: states come back as they
were, answers fit, and what is sent again was lost on its way or is an answer to an error.  Two of
its clients look the same, tools share states, and calls run side by side.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call
from mcp_tap.pipeline import Pipeline
from tests.property.test_linking import TrueCall, World, live

LATE = {"MRTR-022", "MRTR-037"}
"""Notes on what began before the capture, and a count: not about right or wrong."""


class Judged(World):
    def __init__(self) -> None:
        super().__init__()
        self.pipeline = Pipeline()
        self.found: list[Finding] = []
        self.ends: str | None = None

    def feed(self, kind: type, **facts: Any) -> None:
        self.seq += 1
        self.t += 0.01
        for change in self.pipeline.feed(kind(seq=self.seq, t=self.t, **facts)):
            if isinstance(change, Call):
                self.seen[change.number] = change
            elif isinstance(change, Finding) and change.rule.startswith("MRTR"):
                self.found.append(change)

    def respond(self, call: TrueCall, how: str) -> None:
        """Respond; `half`: the client left before it had read all of it.

        Without a state of its own, nothing tells an answer that is sent again when more has
        happened from the answer to an equal call of a client that looks the same.
        """
        if how != "half" or call.tool.states != "unique":
            super().respond(call, "go" if how == "half" else how)
            return
        before = call.waits, call.step
        self.ends = "client_gone"
        super().respond(call, "go")
        self.ends = None
        call.waits, call.step = before
        call.over, call.resend = call.waits is None, call.waits is not None

    def close(self, number: int, how: str) -> None:
        super().close(number, self.ends or how)


@settings(max_examples=settings.default.max_examples * 2)
@given(st.data())
def test_clients_and_servers_without_a_fault_are_never_accused(data):
    world = Judged()
    for _ in live(world, data, tools=3, ends=["go", "go", "go", "error", "lost", "half"]):
        accused = [f for f in world.found if f.rule not in LATE]
        assert not accused, "\n".join(f"{f.rule} seq {f.seq}: {f.message}" for f in accused)
