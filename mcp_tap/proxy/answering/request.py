"""The requests that may be asked something: reading them, declaring for them, repeating them.

No socket, no clock: bytes in, bytes out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from mcp_tap.core import spec
from mcp_tap.core.model import AskKind
from mcp_tap.core.splice import SpliceError, find, put, spliced, swapped
from mcp_tap.core.wire import dumps, loads

MOST_REQUEST: Final = 4 << 20
"""Bytes of a request that are held until it is whole, to be looked at."""
_LOOKED_AT: Final = spec.MAY_ASK | {spec.TASKS_GET, spec.LISTEN}
"""Requests on whose responses, or streams, something may be asked."""
_REMEMBERED: Final = 512
_LARGE: Final = 8 << 10
"""Bytes of a `_meta` above which it is not remembered."""


class _Params(Struct, rename={"meta": "_meta"}):
    name: Raw | UnsetType = UNSET
    uri: Raw | UnsetType = UNSET
    meta: Raw | UnsetType = UNSET
    requestState: Raw | UnsetType = UNSET  # noqa: N815 - the word of the protocol
    taskId: Raw | UnsetType = UNSET  # noqa: N815 - likewise


class _Request(Struct):
    method: str
    id: Raw
    params: _Params


_decoder: Final = msgspec.json.Decoder(_Request)


class Meta(Struct, frozen=True):
    """What the `_meta` of a request declares."""

    version: str | None
    declared: frozenset[AskKind]
    """Kinds of asks its client can answer."""
    token: bytes
    """As it came."""
    edited: bytes | None
    """As it goes upstream, where that is not the same."""


class Watched(Struct, kw_only=True):
    """A request whose answer is looked at."""

    method: str
    name: str | None
    """Tool or prompt name, resource URI, or id of a task."""
    id: bytes
    """Its id, as the bytes the client wrote."""
    state: str | None
    """The requestState it carries, where it answers a round itself."""
    declared: frozenset[AskKind]
    body: bytes
    """What goes upstream."""
    edited: bool
    """That is not what the client wrote."""

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
        self._metas: dict[bytes, Meta] = {}

    def read(self, body: bytes, header_version: str | None) -> Watched | None:
        """Read a request; None for whatever is not looked at.

        Args:
            body: as the client sent it.
            header_version: protocol revision that its head declares.
        """
        try:
            request = _decoder.decode(body)
        except (ValueError, RecursionError):
            return None
        if request.method not in _LOOKED_AT or bytes(request.id) == b"null":
            return None
        params = request.params
        raw = params.meta
        meta = self._meta(bytes(raw)) if raw is not UNSET else None
        version = meta.version if meta is not None and meta.version else header_version
        if version is None or spec.era_of(version) != "stateless":
            return None
        edited = body
        if meta is not None and meta.edited is not None:
            try:
                edited = swapped(body, meta.token, meta.edited, "params", "_meta")
            except SpliceError:
                return None
        return Watched(
            method=request.method,
            name=_text(_named(request.method, params)),
            id=bytes(request.id),
            state=_text(params.requestState),
            declared=meta.declared if meta is not None else frozenset(),
            body=edited,
            edited=edited is not body,
        )

    def _meta(self, token: bytes) -> Meta | None:
        found = self._metas.get(token)
        if found is not None:
            return found
        try:
            value = loads(token)
        except ValueError:
            return None
        if type(value) is not dict:
            return None
        version = value.get(spec.META_VERSION)
        if type(version) is not str:
            version = None
        capabilities = value.get(spec.CLIENT_CAPABILITIES)
        edited = None
        if self._advertise:
            try:
                edited = declaring(token, capabilities, self._advertise, spec.CLIENT_CAPABILITIES)
            except SpliceError:
                edited = None
        found = Meta(version, declared_in(capabilities), token, edited)
        if len(token) <= _LARGE:
            if len(self._metas) >= _REMEMBERED:
                self._metas.clear()
            self._metas[token] = found
        return found


def declared_in(capabilities: Any) -> frozenset[AskKind]:
    """Say which kinds of asks a client's capabilities cover; a bare `elicitation` means forms."""
    kinds: set[AskKind] = set()
    if type(capabilities) is not dict:
        return frozenset()
    elicitation = capabilities.get("elicitation")
    if type(elicitation) is dict:
        if "form" in elicitation or "url" not in elicitation:
            kinds.add("form")
        if "url" in elicitation:
            kinds.add("url")
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
