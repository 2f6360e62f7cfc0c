"""The requests that may be asked something: reading them, declaring for them, repeating them.

No socket, no clock: bytes in, bytes out.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from hashlib import blake2b
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from mcp_tap.core import spec
from mcp_tap.core.model import AskKind
from mcp_tap.core.splice import SpliceError, find, members, put, spliced
from mcp_tap.core.values import short
from mcp_tap.core.wire import UNPARSED, dumps, loads
from mcp_tap.net.heads import Head, RequestLine
from mcp_tap.proxy.answering.capabilities import declared_in, declaring, more_than
from mcp_tap.proxy.answering.heads import field

MOST_REQUEST: Final = 4 << 20
"""Bytes of a request that are held until it is whole, to be looked at."""
_LOOKED_AT: Final = spec.MAY_ASK | {spec.TASKS_GET, spec.LISTEN}
"""Requests on whose responses, or streams, something may be asked."""
_VERSION: Final = b"mcp-protocol-version"
_REMEMBERED: Final = 512
_LARGE: Final = 8 << 10
"""Bytes of capabilities above which they are not remembered."""
_PATH: Final = ("params", "_meta", spec.CLIENT_CAPABILITIES)
_KEY: Final = dumps(spec.CLIENT_CAPABILITIES)
_WORD: Final = _KEY[_KEY.rindex(b"/") + 1 : -1]
"""Found sooner than the whole name."""
_BACKSLASH: Final = 0x5C


class _Params(Struct, rename={"meta": "_meta"}, gc=False):
    name: Raw | UnsetType = UNSET
    uri: Raw | UnsetType = UNSET
    arguments: Raw | UnsetType = UNSET
    meta: Raw | UnsetType = UNSET
    requestState: Raw | UnsetType = UNSET  # noqa: N815 - the word of the protocol
    taskId: Raw | UnsetType = UNSET  # noqa: N815 - likewise


class _Request(Struct, gc=False):
    method: str
    id: Raw
    params: _Params | UnsetType = UNSET


_decoder: Final = msgspec.json.Decoder(_Request)


class Meta(Struct, kw_only=True):
    """What the `_meta` of a request declares."""

    version: str | None = None
    modern: bool = False
    """Rounds are what that revision has."""
    declared: frozenset[AskKind] = frozenset()
    """Kinds of asks its client can answer."""
    tasks: bool = False
    """It declares that a call may become a task."""
    shown: Any = None
    """Where more goes upstream: as much of that message as anybody looks at."""
    came: bytes = b""
    """How its capabilities were written last, with their name; empty where that is not known."""
    behind: int = 0
    """Where that began, counted from the request's end."""
    goes: bytes = b""
    """What stands in the place of that upstream."""
    sought: bool = False
    """How they are written was looked for."""


_NO_META: Final = Meta()


class Watched(Struct, gc=False):
    """A request whose answer is looked at; of most, no more than that is wanted."""

    method: str
    body: bytes
    """What goes upstream."""
    meta: Meta
    edited: bool = False
    """It is not what the client wrote."""
    _members: _Request | None = None

    @property
    def members(self) -> _Request:
        """What it is made of."""
        if self._members is None:
            self._members = _decoder.decode(self.body)
        return self._members

    @property
    def id(self) -> bytes:
        """Its id, as the bytes the client wrote."""
        return bytes(self.members.id)

    @property
    def name(self) -> str | None:
        """Tool or prompt name, resource URI, or id of a task."""
        params = self.members.params
        return None if params is UNSET else _text(_named(self.method, params))

    @property
    def state(self) -> str | None:
        """The requestState it carries, where it answers a round itself."""
        params = self.members.params
        return None if params is UNSET else _text(params.requestState)

    def with_state(self, state: str) -> Hashable:
        """Give what its client's own retry with this state has in common with it."""
        params = self.members.params
        arguments = b"" if params is UNSET or params.arguments is UNSET else bytes(params.arguments)
        about = blake2b(arguments, digest_size=16).digest()
        return short(state), self.method, self.name, about

    @property
    def declared(self) -> frozenset[AskKind]:
        """Kinds of asks its client can answer."""
        return self.meta.declared

    def arguments(self) -> Any:
        """Parse its arguments; None also where nobody can tell which they are."""
        try:
            span = find(self.body, "params", "arguments")
            return None if span is None else loads(self.body[span.start : span.end])
        except ValueError:
            return None

    def again(self, new_id: bytes, answers: bytes | None, state: bytes | None) -> bytes:
        """Write it once more, with answers to a round.

        Args:
            new_id: token of the id.
            answers: token of `inputResponses`; None for none.
            state: token of `requestState` as it came; None for none.

        Raises:
            SpliceError: it names a member twice, so it cannot be edited.
        """
        params = find(self.body, "params")
        if params is None:
            raise SpliceError("the request has no params")
        edits = put(self.body, {"id": new_id})
        edits += put(self.body, {"inputResponses": answers, "requestState": state}, params)
        return spliced(self.body, edits)


class Reader:
    """Reads requests, and declares for their clients what the tap can answer."""

    def __init__(self, advertise: Mapping[str, Any]) -> None:
        """Declare the capabilities `advertise` where a client does not."""
        self._advertise = advertise
        self._metas: dict[tuple[str | None, bytes], Meta] = {}
        self._last = _NO_META
        """Of the request before: a client declares the same again and again."""

    def read(
        self, body: bytes, head: Head[RequestLine] | None, value: Any = UNPARSED
    ) -> Watched | None:
        """Read a request; None for whatever is not looked at.

        Args:
            body: the request.
            head: its head; None where there are none.
            value: the request parsed, where it is strict JSON on one line.
        """
        if value is UNPARSED:
            value = _outline(body)
        method, params = value.get("method"), value.get("params")
        if type(method) is not str or method not in _LOOKED_AT:
            return None
        if type(params) is not dict or "id" not in value:
            return None
        declared: Any = params.get("_meta")
        meta, at = _NO_META, -1
        if type(declared) is dict:
            meta = self._last
            at = _place(body, declared, meta)
            if at < 0:
                self._last = meta = self._meta(declared)
                at = _place(body, declared, meta)
        if not (meta.modern or (meta.version is None and _is_modern(_version(head)))):
            return None
        if at >= 0 and meta.shown is not None:
            told = b"".join((body[:at], meta.goes, body[at + len(meta.came) :]))
            return Watched(method, told, meta, edited=True)
        more = self._declaring(body, meta, declared) if at < 0 else None
        return Watched(method, more or body, meta, edited=more is not None)

    def _meta(self, declared: dict[str, Any]) -> Meta:
        """Say what a `_meta` declares."""
        version = declared.get(spec.META_VERSION)
        if type(version) is not str:
            version = None
        capabilities = declared.get(spec.CLIENT_CAPABILITIES)
        try:
            key = version, dumps(capabilities)
        except RecursionError:
            return _NO_META
        found = self._metas.get(key)
        if found is None:
            found = self._read(version, capabilities)
            if len(key[1]) <= _LARGE:
                if len(self._metas) >= _REMEMBERED:
                    self._metas.clear()
                self._metas[key] = found
        return found

    def _read(self, version: str | None, capabilities: Any) -> Meta:
        has = capabilities if type(capabilities) is dict else {}
        more = more_than(has, self._advertise)
        extensions = has.get("extensions")
        return Meta(
            version=version,
            modern=_is_modern(version),
            declared=declared_in(capabilities),
            tasks=type(extensions) is dict and spec.TASKS_EXTENSION in extensions,
            shown=_shown({**has, **more}) if more else None,
        )

    def _declaring(self, body: bytes, meta: Meta, declared: Any) -> bytes | None:
        """Write a request in which its client declares more, and remember how it declares.

        None where it declares all of that, or where nobody can tell what it declares.
        """
        capabilities = declared.get(spec.CLIENT_CAPABILITIES) if type(declared) is dict else None
        told: bytes | None = None
        try:
            if meta.shown is not None:
                told = declaring(body, capabilities, self._advertise, *_PATH)
            if type(capabilities) is dict and (told is not None or not meta.sought):
                meta.sought = True
                place = members(body, find(body, *_PATH[:-1]))[spec.CLIENT_CAPABILITIES]
                if body.startswith(_KEY, place.key) and place.end - place.key <= _LARGE:
                    meta.came = body[place.key : place.end]
                    meta.behind = len(body) - place.key
                    if told is not None:
                        meta.goes = told[place.key : place.end + len(told) - len(body)]
        except SpliceError:
            return None  # it names a member twice
        return told


def _outline(body: bytes) -> dict[str, Any]:
    """Read as much of a request as is looked at, where it is not parsed."""
    try:
        request = _decoder.decode(body)
        if request.params is UNSET:
            return {}
        meta = request.params.meta
        params = {} if meta is UNSET else {"_meta": loads(bytes(meta))}
    except (ValueError, RecursionError):
        return {}
    return {"method": request.method, "id": request.id, "params": params}


def _place(body: bytes, declared: dict[str, Any], meta: Meta) -> int:
    """Find what a request declares, where it does that as others did before; else give -1.

    Args:
        body: the request.
        declared: its `_meta`.
        meta: what the others declared.
    """
    came = meta.came
    if not came or declared.get(spec.META_VERSION) != meta.version:
        return -1
    at = len(body) - meta.behind
    if at < 0 or not body.startswith(came, at):
        at = body.find(came)
    if at < 0 or body.count(_WORD) != 1 or _may_hide(body):
        return -1
    return at if spec.CLIENT_CAPABILITIES in declared else -1  # no other place is called so


def _may_hide(body: bytes) -> bool:
    """Tell whether a name of plain letters may stand in a text in other letters."""
    return _BACKSLASH in body and (b"\\u" in body or b"\\/" in body)


def _shown(capabilities: dict[str, Any]) -> dict[str, Any]:
    meta = {spec.CLIENT_CAPABILITIES: capabilities}
    return {"jsonrpc": "2.0", "params": {"_meta": meta}}


def _version(head: Head[RequestLine] | None) -> str | None:
    return None if head is None else field(head, _VERSION)


def _is_modern(version: str | None) -> bool:
    return version is not None and spec.era_of(version) == "stateless"


def _named(method: str, params: _Params) -> Raw | UnsetType:
    if method == spec.TASKS_GET:
        return params.taskId
    return params.uri if method == "resources/read" else params.name


def _text(raw: Raw | UnsetType) -> str | None:
    if raw is UNSET:
        return None
    try:
        value = loads(bytes(raw))
    except ValueError:
        return None
    return value if type(value) is str else None
