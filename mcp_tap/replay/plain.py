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


class Request(Struct, gc=False):
    """A request, as far as it is read: nothing is built of what only says who the client is."""

    id: Any
    method: str
    params: _Params

    @property
    def target(self) -> str | None:
        """Name what it is about, as `keys.target_of` does."""
        param = spec.NAME_PARAM.get(self.method)
        name = None if param is None else getattr(self.params, param)
        return name if type(name) is str else None

    def key(self) -> bytes | None:
        """Sum it up, as `keys.key_of` does; what takes no part in that is gone then."""
        params = self.params
        if self.method in ALL_EQUAL:
            return key_of({"method": self.method})
        if params.arguments is None or params.arguments == {}:
            params.arguments = UNSET
        if params.input_responses is not UNSET or params.request_state is not UNSET:
            params.input_responses = params.request_state = UNSET
        params.meta = UNSET  # type: ignore[assignment]
        self.id = UNSET
        return digest(self, whole=True)


class _Meta(Struct, rename={"server": spec.META_SERVER}, gc=False):
    server: Any = None


class Result(Struct, rename="camel", gc=False):
    """A result, as far as it is read."""

    result_type: str | None = None
    is_error: bool = False
    task_id: Raw | UnsetType = UNSET
    input_requests: Raw | UnsetType = UNSET
    request_state: Raw | UnsetType = UNSET
    meta: _Meta | None = msgspec.field(default=None, name="_meta")

    @property
    def server(self) -> str | None:
        """Name the server gave itself."""
        info = None if self.meta is None else self.meta.server
        name = info.get("name") if type(info) is dict else None
        return name if type(name) is str and name else None


class _Answer(Struct, gc=False):
    id: Any = UNSET
    method: str | UnsetType = UNSET
    error: Raw | UnsetType = UNSET
    result: Result | UnsetType = UNSET


_request: Final = msgspec.json.Decoder(Request, float_hook=whole_number).decode
_answer: Final = msgspec.json.Decoder(_Answer).decode


class Plain(Struct, eq=False, gc=False):
    """An exchange that has been plain so far."""

    head: HttpRequest
    records: list[AnyRecord]
    asked: Message | None = None
    """Record of the request."""
    request: Request | None = None
    answered: Message | None = None
    """Record of the response."""
    result: Result | None = None
    masked: int = 0
    """Messages of which something was masked."""

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
            return usual and self.asked is not None
        return kind is Closed and self.answered is not None

    def _message(self, record: Message) -> bool:
        data: Raw | str | UnsetType = record.body
        if data is UNSET:
            data = record.text or ""
            if len(data) > _LONGEST_TEXT:
                return False
        if record.leg is not None or record.truncated or self.answered is not None:
            return False
        if record.masked:
            self.masked += 1
        try:
            if record.sender == "client":
                return self.asked is None and self._asks(record, _request(data))
            return record.sender == "server" and self._answers(record, _answer(data))
        except _UNREADABLE:
            return False

    def _asks(self, record: Message, request: Request) -> bool:
        self.asked, self.request = record, request
        params = request.params
        return (
            spec.era_of(params.meta.version) == "stateless"
            and request.method not in _LINKED
            and not params.input_responses
            and (params.request_state is UNSET or params.request_state is None)
        )

    def _answers(self, record: Message, answer: _Answer) -> bool:
        request, result = self.request, answer.result
        if request is None:
            return False
        if answer.method is not UNSET:
            return answer.id is UNSET and answer.method in _NOTES
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
        self.answered, self.result = record, result
        return same_id(answer.id, request.id)
