"""Exchanges so plain that nothing has to be linked: one request, one result, nothing asked.

Most of a large capture is such, and linking it would be most of the work.  What is not plain in
any way is for the correlator: another era than the stateless one, a retry, an ask, a task, an
error, a stream that tells more than progress.
"""

from __future__ import annotations

from sys import intern
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from mcp_tap.core import spec
from mcp_tap.core.records import AnyRecord, Closed, HttpRequest, HttpResponse, Message
from mcp_tap.core.values import digest, same_id, whole_number
from mcp_tap.replay.keys import ALL_EQUAL, key_of

_LINKED: Final = frozenset({spec.INITIALIZE, spec.LISTEN}) | spec.TASK_METHODS
_NOTES: Final = frozenset({spec.NOTE_PROGRESS, spec.NOTE_LOG})
_UNREADABLE: Final = (ValueError, RecursionError)
_LONGEST_TEXT: Final = 64 << 10
"""Characters of a message that is recorded as text, which is read twice if it is plain."""


class _Declared(Struct, rename={"version": spec.META_VERSION}, gc=False):
    version: str


class _Params(Struct, rename="camel", forbid_unknown_fields=True, gc=False):
    """Parameters a plain request may have: those the specification knows."""

    meta: _Declared = msgspec.field(name="_meta")
    argument: Any = UNSET
    arguments: Any = UNSET
    context: Any = UNSET
    cursor: Any = UNSET
    input_responses: Any = UNSET
    name: Any = UNSET
    ref: Any = UNSET
    request_state: Any = UNSET
    uri: Any = UNSET


class _Request(Struct, gc=False):
    """A request, as far as it is read: nothing is built of what only says who the client is."""

    id: Any
    method: str
    params: _Params

    def key(self) -> bytes | None:
        """Sum it up, as `keys.key_of` does; what takes no part in that is gone then."""
        params = self.params
        if self.method in ALL_EQUAL:
            return key_of({"method": self.method})
        if params.arguments is None or params.arguments == {}:
            params.arguments = UNSET
        params.meta = UNSET  # type: ignore[assignment]
        self.id = params.input_responses = params.request_state = UNSET
        return digest(self, whole=True)


class _Meta(Struct, rename={"server": spec.META_SERVER}, gc=False):
    server: Any = None


class _Result(Struct, rename="camel", gc=False):
    result_type: str | None = None
    is_error: bool = False
    task_id: Raw | UnsetType = UNSET
    input_requests: Raw | UnsetType = UNSET
    request_state: Raw | UnsetType = UNSET
    meta: _Meta | None = msgspec.field(default=None, name="_meta")


class _Answer(Struct, gc=False):
    id: Any = UNSET
    method: str | UnsetType = UNSET
    error: Raw | UnsetType = UNSET
    result: _Result | UnsetType = UNSET


_request: Final = msgspec.json.Decoder(_Request, float_hook=whole_number).decode
_answer: Final = msgspec.json.Decoder(_Answer).decode


class Plain(Struct, eq=False, gc=False):
    """An exchange that has been plain so far."""

    head: HttpRequest
    records: list[AnyRecord]
    request_seq: int = 0
    """0: there was none yet."""
    asked: float = 0.0
    """When the request came."""
    id: Any = None
    method: str = ""
    target: str | None = None
    version: str = ""
    """Revision the request declared."""
    key: bytes | None = None
    """None where it has none, or something in it was masked."""
    response_seq: int | None = None
    result_type: str | None = None
    server: str | None = None
    """Name the server gave itself."""
    masked: int = 0
    """Messages of which something was masked."""
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
            return usual and self.request_seq > 0
        return kind is Closed and self.response_seq is not None

    def _message(self, record: Message) -> bool:
        data: Raw | str | UnsetType = record.body
        if data is UNSET:
            data = record.text or ""
            if len(data) > _LONGEST_TEXT:
                return False
        if record.leg is not None or record.truncated or self.response_seq is not None:
            return False
        if record.masked:
            self.masked += 1
        try:
            if record.sender == "client":
                return self.request_seq == 0 and self._asks(record, _request(data))
            return record.sender == "server" and self._answers(record, _answer(data))
        except _UNREADABLE:
            return False

    def _asks(self, record: Message, request: _Request) -> bool:
        params, method = request.params, request.method
        if params.input_responses or params.request_state not in (UNSET, None):
            return False
        version = params.meta.version
        if method in _LINKED or spec.era_of(version) != "stateless":
            return False
        self.request_seq, self.asked = record.seq, record.t
        self.id, self.method, self.version = request.id, intern(method), intern(version)
        param = spec.NAME_PARAM.get(method)
        target = None if param is None else getattr(params, param)
        if type(target) is str:
            self.target = intern(target)
        if not record.masked:
            self.key = request.key()
        return True

    def _answers(self, record: Message, answer: _Answer) -> bool:
        if self.request_seq == 0:
            return False
        if answer.method is not UNSET:
            return answer.id is UNSET and answer.method in _NOTES
        result = answer.result
        if (
            result is UNSET
            or answer.error is not UNSET
            or result.is_error
            or (result.result_type is not None and result.result_type != "complete")
            or result.task_id is not UNSET
            or result.input_requests is not UNSET
            or result.request_state is not UNSET
        ):
            return False
        self.response_seq, self.result_type, self.end = record.seq, result.result_type, record.t
        if result.meta is not None:
            info = result.meta.server
            name = info.get("name") if type(info) is dict else None
            self.server = name if type(name) is str and name else None
        return same_id(answer.id, self.id)
