"""The requests that may be asked something: reading them, declaring for them, repeating them.

No socket, no clock: bytes in, bytes out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from mcp_tap.core import spec
from mcp_tap.core.model import AskKind
from mcp_tap.core.splice import SpliceError, find, put, spliced
from mcp_tap.core.wire import dumps, loads
from mcp_tap.net.heads import Head, RequestLine
from mcp_tap.proxy.answering.heads import field

MODES: Final[tuple[AskKind, ...]] = ("form", "url")
MOST_REQUEST: Final = 4 << 20
"""Bytes of a request that are held until it is whole, to be looked at."""
_LOOKED_AT: Final = spec.MAY_ASK | {spec.TASKS_GET, spec.LISTEN}
"""Requests on whose responses, or streams, something may be asked."""
_VERSION: Final = b"mcp-protocol-version"
_REMEMBERED: Final = 512
_LARGE: Final = 8 << 10
"""Bytes of capabilities above which they are not remembered."""
_KEY: Final = dumps(spec.CLIENT_CAPABILITIES)
_COLON: Final = re.compile(rb"[ \t\r\n]*:[ \t\r\n]*")


class _Params(Struct, rename={"meta": "_meta"}, gc=False):
    name: Raw | UnsetType = UNSET
    uri: Raw | UnsetType = UNSET
    meta: Raw | UnsetType = UNSET
    requestState: Raw | UnsetType = UNSET  # noqa: N815 - the word of the protocol
    taskId: Raw | UnsetType = UNSET  # noqa: N815 - likewise


class _Request(Struct, gc=False):
    method: str
    id: Raw
    params: _Params


class _Meta(Struct, gc=False):
    version: Any = msgspec.field(name=spec.META_VERSION, default=None)
    capabilities: Raw | UnsetType = msgspec.field(name=spec.CLIENT_CAPABILITIES, default=UNSET)


_decoder: Final = msgspec.json.Decoder(_Request)
_metas: Final = msgspec.json.Decoder(_Meta)


class Meta(Struct, frozen=True, kw_only=True):
    """What the `_meta` of a request declares."""

    version: str | None = None
    modern: bool = False
    """Rounds are what that revision has."""
    declared: frozenset[AskKind] = frozenset()
    """Kinds of asks its client can answer."""
    token: bytes = b""
    """Its capabilities as they came; empty where there are none."""
    edited: bytes | None = None
    """Its capabilities as they go upstream, where that is not the same."""
    tasks: bool = False
    """It declares that a call may become a task."""
    shown: Any = None
    """As much of a message with the latter as anybody looks at."""


_NO_META: Final = Meta()


class Watched(Struct, gc=False):
    """A request whose answer is looked at; of most, no more than that is wanted."""

    method: str
    body: bytes
    """What goes upstream."""
    meta: Meta
    raw_id: Raw
    raw_name: Raw | UnsetType
    raw_state: Raw | UnsetType = UNSET
    edited: bool = False
    """It is not what the client wrote."""

    @property
    def id(self) -> bytes:
        """Its id, as the bytes the client wrote."""
        return bytes(self.raw_id)

    @property
    def name(self) -> str | None:
        """Tool or prompt name, resource URI, or id of a task."""
        return _text(self.raw_name)

    @property
    def state(self) -> str | None:
        """The requestState it carries, where it answers a round itself."""
        return _text(self.raw_state)

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

    def read(self, body: bytes, head: Head[RequestLine]) -> Watched | None:
        """Read a request; None for whatever is not looked at."""
        try:
            request = _decoder.decode(body)
        except (ValueError, RecursionError):
            return None
        method = request.method
        if method not in _LOOKED_AT:
            return None
        params = request.params
        raw = params.meta
        meta = _NO_META if raw is UNSET else self._meta(raw)
        if not meta.modern and (meta.version is not None or not _is_modern(field(head, _VERSION))):
            return None
        watched = Watched(
            method, body, meta, request.id, _named(method, params), params.requestState
        )
        if meta.edited is not None and raw is not UNSET:
            try:
                watched.body = _declaring_more(body, raw, meta)
            except SpliceError:
                return watched
            watched.edited = True
        return watched

    def _meta(self, raw: Raw) -> Meta:
        try:
            said = _metas.decode(raw)
        except (ValueError, RecursionError):
            return _NO_META
        version = said.version if type(said.version) is str else None
        token = b"" if said.capabilities is UNSET else bytes(said.capabilities)
        key = version, token
        found = self._metas.get(key)
        if found is None:
            found = self._read(version, token)
            if len(token) <= _LARGE:
                if len(self._metas) >= _REMEMBERED:
                    self._metas.clear()
                self._metas[key] = found
        return found

    def _read(self, version: str | None, token: bytes) -> Meta:
        try:
            capabilities = loads(token) if token else None
        except ValueError:
            return _NO_META
        told = self._told(token, capabilities)
        extensions = capabilities.get("extensions") if type(capabilities) is dict else None
        return Meta(
            version=version,
            modern=_is_modern(version),
            declared=declared_in(capabilities),
            token=token,
            edited=told,
            tasks=type(extensions) is dict and spec.TASKS_EXTENSION in extensions,
            shown=None if told is None else _shown(told),
        )

    def _told(self, token: bytes, capabilities: Any) -> bytes | None:
        """Write capabilities as they go upstream; None where that is as they came."""
        if type(capabilities) is not dict:
            return dumps(dict(self._advertise)) if self._advertise else None
        try:
            return declaring(token, capabilities, self._advertise)
        except SpliceError:
            return None


def _shown(capabilities: bytes) -> dict[str, Any]:
    meta = {spec.CLIENT_CAPABILITIES: loads(capabilities)}
    return {"jsonrpc": "2.0", "params": {"_meta": meta}}


def _declaring_more(body: bytes, raw: Raw, meta: Meta) -> bytes:
    """Put other capabilities into a request; the quick way where there is but one place for them.

    Raises:
        SpliceError: an object on the way to them names a member twice.
    """
    token, told = meta.token, meta.edited
    assert told is not None
    at = body.find(_KEY)
    # Where `_meta` has no escapes, the name stands in it as it is; once in all, it is that one.
    if token and b"\\" not in bytes(raw) and body.find(_KEY, at + 1) < 0:
        colon = _COLON.match(body, at + len(_KEY))
        if colon is not None:
            start = colon.end()
            return body[:start] + told + body[start + len(token) :]
    edits = put(body, {spec.CLIENT_CAPABILITIES: told}, find(body, "params", "_meta"))
    return spliced(body, edits)


def _is_modern(version: str | None) -> bool:
    return version is not None and spec.era_of(version) == "stateless"


def declared_in(capabilities: Any) -> frozenset[AskKind]:
    """Say which kinds of asks a client's capabilities cover; a bare `elicitation` means forms."""
    kinds: set[AskKind] = set()
    if type(capabilities) is not dict:
        return frozenset()
    elicitation = capabilities.get("elicitation")
    if type(elicitation) is dict:
        kinds.update(mode for mode in MODES if spec.has_mode(elicitation, mode))
    if type(capabilities.get("sampling")) is dict:
        kinds.add("sampling")
    if type(capabilities.get("roots")) is dict:
        kinds.add("roots")
    return frozenset(kinds)


def declaring(body: bytes, declared: Any, more: Mapping[str, Any], *path: str) -> bytes | None:
    """Write a JSON text in which a client declares more; None where it declares all of it.

    Args:
        body: the text.
        declared: the capabilities in it, parsed.
        more: capabilities to add.
        path: names that lead to the capabilities.

    Raises:
        SpliceError: an object on the way names a member twice.
    """
    if type(declared) is not dict:
        holder = find(body, *path[:-1]) if path[1:] else None
        return spliced(body, put(body, {path[-1]: dumps(dict(more))}, holder))
    changed: dict[str, bytes | None] = {}
    for name, wanted in more.items():
        has = declared.get(name)
        merged = wanted if has is None else _merged(name, has, wanted)
        if merged != has:
            changed[name] = dumps(merged)
    if not changed:
        return None
    return spliced(body, put(body, changed, find(body, *path)))


def _merged(name: str, has: Any, wanted: Any) -> Any:
    if type(has) is not dict or type(wanted) is not dict:
        return has
    if name == "elicitation":
        if not wanted or set(wanted) <= set(has) or (not has and set(wanted) == {"form"}):
            return has
        if "form" not in has and "url" not in has:  # a bare one means forms
            has = {**has, "form": {}}
    return {**has, **{key: value for key, value in wanted.items() if key not in has}}


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
