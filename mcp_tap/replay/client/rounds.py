"""What the rounds of a recorded call said, read back when it is made again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mcp_tap.bridge.messages import read
from mcp_tap.core.records import Payload
from mcp_tap.replay.client.answering import Then
from mcp_tap.replay.client.plan import requests_of
from mcp_tap.replay.index import Index
from mcp_tap.replay.keys import params_of
from mcp_tap.replay.recorded import RecordedCall, RecordedRound


class Rounds:
    """The rounds of a call that began with a request of its own."""

    def __init__(self, index: Index, call: RecordedCall) -> None:
        """Read from `index`."""
        self._index = index
        self._call = call
        self.all = requests_of(call)

    def __len__(self) -> int:
        return len(self.all)

    def __getitem__(self, at: int) -> RecordedRound:
        return self.all[at]

    def data(self, round_: RecordedRound) -> bytes:
        """Give the request of a round as it was."""
        record = self._index.captures[self._call.capture].source.record(round_.request_seq)
        assert isinstance(record, Payload)
        return record.payload()

    def request(self, round_: RecordedRound) -> dict[str, Any]:
        """Give the request of a round."""
        said = read(self.data(round_))
        return {} if said is None else said.value

    def sent(self, round_: RecordedRound) -> Any:
        """Give the state that the request of a round carried."""
        return params_of(self.request(round_)).get("requestState")

    def given(self, round_: RecordedRound | None) -> Any:
        """Give the state that the result of a round issued."""
        if round_ is None or round_.response_seq is None:
            return None
        value = self._index.value(self._call.capture, round_.response_seq)
        result = value.get("result") if type(value) is dict else None
        return result.get("requestState") if type(result) is dict else None

    def then(self, asked: RecordedRound | None, answered: RecordedRound | None = None) -> Then:
        """Give what a round asked, and what another one answered to it."""
        asks: Any = None
        if asked is not None and asked.response_seq is not None:
            asks = _asks(self._index.value(self._call.capture, asked.response_seq))
        given = params_of(self.request(answered)).get("inputResponses") if answered else None
        return Then(asks or {}, given if type(given) is dict else {})

    def thens(self) -> Iterator[Then]:
        """Give each round that answered, with what it answered."""
        for number in range(1, len(self.all)):
            wanted = self.all[number].answers_round
            asked = next((r for r in self.all if r.number == wanted), self.all[number - 1])
            yield self.then(asked, self.all[number])

    def of_task(self) -> Then:
        """Give all that the call's task asked and was answered."""
        asks: dict[str, Any] = {}
        answers: dict[str, Any] = {}
        for round_ in self._call.rounds:
            for key, ask in round_.asks.items():
                entries = _asks(self._index.value(self._call.capture, ask.seq))
                if key in entries:
                    asks[key] = entries[key]
            answers |= self._index.answers(self._call, round_)
        return Then(asks, answers)


def _asks(value: Any) -> dict[str, Any]:
    """Give the asks of a message: those of a result, or of a notification about a task."""
    for outer in ("result", "params"):
        holder = value.get(outer) if type(value) is dict else None
        entries = holder.get("inputRequests") if type(holder) is dict else None
        if type(entries) is dict:
            return entries
    return {}
