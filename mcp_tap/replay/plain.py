"""Exchanges so plain that nothing has to be linked: one request, one result, nothing asked.

Most of a large capture is such, and linking it would be most of the work.  What is not plain in
any way is for the correlator: another era than the stateless one, a retry, an ask, a task, an
error, a stream that tells more than progress.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from mcp_tap.core import spec
from mcp_tap.core.records import AnyRecord, Closed, HttpRequest, HttpResponse, Message
from mcp_tap.core.values import same_id
from mcp_tap.core.wire import value_of
from mcp_tap.replay.keys import params_of

_LINKED: Final = frozenset({spec.INITIALIZE, spec.LISTEN}) | spec.TASK_METHODS
_NOTES: Final = frozenset({spec.NOTE_PROGRESS, spec.NOTE_LOG})


class _Meta(Struct, rename={"server": spec.META_SERVER}):
    server: Any = None


class _Result(Struct, rename="camel"):
    result_type: str | None = None
    is_error: bool = False
    task_id: Raw | UnsetType = UNSET
    input_requests: Raw | UnsetType = UNSET
    request_state: Raw | UnsetType = UNSET
    meta: _Meta | None = msgspec.field(default=None, name="_meta")

    @property
    def is_plain(self) -> bool:
        """It ends its call, and well."""
        asked = (self.task_id, self.input_requests, self.request_state)
        return (
            not self.is_error
            and (self.result_type is None or self.result_type == "complete")
            and asked == (UNSET, UNSET, UNSET)
        )


class _Answer(Struct):
    id: Any = UNSET
    method: str | UnsetType = UNSET
    error: Raw | UnsetType = UNSET
    result: _Result | UnsetType = UNSET


_answer: Final = msgspec.json.Decoder(_Answer).decode


class Plain(Struct, eq=False):
    """An exchange that has been plain so far."""

    head: HttpRequest
    records: list[AnyRecord]
    request: dict[str, Any] | None = None
    request_seq: int = 0
    response_seq: int | None = None
    result_type: str | None = None
    server: str | None = None
    """Name the server gave itself."""
    masked: tuple[int, ...] = ()
    """`seq` of the messages of which something was masked."""
    end: float = 0.0
    """When the response came."""

    @classmethod
    def begin(cls, record: HttpRequest) -> Plain | None:
        """Begin with a head; None where that says already that it is not plain."""
        usual = record.method == "POST" and record.leg is None and record.replaces is None
        return cls(record, [record]) if usual else None

    def take(self, record: AnyRecord) -> bool:
        """Take the next record; tell whether it is still plain."""
        self.records.append(record)
        kind = type(record)
        if kind is Message:
            return self._message(record)  # type: ignore[arg-type]
        if kind is HttpResponse:
            usual = record.status == 200 and record.leg is None  # type: ignore[union-attr]
            return usual and self.request is not None
        return kind is Closed and self.response_seq is not None

    def _message(self, record: Message) -> bool:
        if record.leg is not None or record.truncated:
            return False
        if record.masked:
            self.masked = (*self.masked, record.seq)
        if record.sender == "client":
            return self.request is None and self._asks(record)
        if record.sender != "server" or self.request is None or self.response_seq is not None:
            return False
        return self._answers(record, self.request)

    def _answers(self, record: Message, request: dict[str, Any]) -> bool:
        try:
            answer = _answer(record.text or "" if record.body is UNSET else record.body)
        except ValueError:
            return False
        if answer.method is not UNSET:
            return answer.id is UNSET and answer.method in _NOTES
        result = answer.result
        if result is UNSET or answer.error is not UNSET or not result.is_plain:
            return False
        self.response_seq, self.result_type = record.seq, result.result_type
        self.end = record.t
        info = None if result.meta is None else result.meta.server
        name = info.get("name") if type(info) is dict else None
        self.server = name if type(name) is str and name else None
        return same_id(answer.id, request["id"])

    def _asks(self, record: Message) -> bool:
        value = value_of(record)
        if type(value) is not dict or "id" not in value or type(value.get("method")) is not str:
            return False
        params = params_of(value)
        meta = params.get("_meta")
        version = meta.get(spec.META_VERSION) if type(meta) is dict else None
        self.request, self.request_seq = value, record.seq
        return (
            type(version) is str
            and spec.era_of(version) == "stateless"
            and value["method"] not in _LINKED
            and not params.get("inputResponses")
            and params.get("requestState") is None
        )

    @property
    def version(self) -> str:
        """Revision the request declared."""
        assert self.request is not None
        version: str = self.request["params"]["_meta"][spec.META_VERSION]
        return version
