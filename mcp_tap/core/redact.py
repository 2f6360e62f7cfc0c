"""Masking of credentials, once, before both the file and the rules (DECISIONS 1).

A masked value becomes `SCHEME mcp-tap:TAG`: the tag is an HMAC under the run's key, so equal values
stay recognisably equal and nothing can be read back.  A `Mask` beside it keeps the facts that rules
need.  What is masked by default: credentials in header fields, secrets in URLs (of targets,
`Location`, `Referer` and the like), and the OAuth fields of payloads that are no JSON-RPC messages.
Anything else only by specification: `header:NAME`, `key:GLOB` (members, and parameters of queries
and forms), `path:JSONPATH` (`$.params.arguments.password`), `value:REGEX` (anywhere but in the
names of members).  Where a payload is no whole JSON, too much is masked rather than too little.
"""

from __future__ import annotations

import fnmatch
import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from mcp_tap.core import redact_text as find
from mcp_tap.core.records import Headers, Mask, pointer
from mcp_tap.core.redact_facts import is_rpc, json_type, principal, shape
from mcp_tap.core.redact_names import (
    CREDENTIAL_HEADERS,
    OAUTH_FIELDS,
    SECRET_PARAMETERS,
    URL_HEADERS,
    folded,
    folded_all,
)
from mcp_tap.core.redact_specs import parse_specs
from mcp_tap.core.redact_spots import Where
from mcp_tap.core.redact_text import MARK, MARKED
from mcp_tap.core.wire import UNPARSED, dumps, loads

_NOTHING: Final[frozenset[str]] = frozenset()
_PARAMETERS: Final = folded_all(SECRET_PARAMETERS)
_FIELDS: Final = folded_all(OAUTH_FIELDS)
_RPC_MEMBERS: Final = frozenset({"params", "result", "error"})
_OAUTH_PATH: Final = re.compile(rb"(?i)^[^?#]*(?:auth|token|register)")

_CACHED_HEADERS = 512


class Redactor:
    """Masks values of one run.  What is masked already stays as it is."""

    def __init__(self, key: bytes, *, default: bool = True, specs: Sequence[str] = ()) -> None:
        """Mask under `key` (random bytes, or a key file's); raise `UsageError` for a bad spec."""
        wanted = parse_specs(specs)
        self._key = key
        self._headers = wanted.headers | CREDENTIAL_HEADERS if default else wanted.headers
        self._parameters = _PARAMETERS if default else _NOTHING
        self._fields = _FIELDS if default else _NOTHING
        self._wanted = wanted
        self._where = Where(wanted)
        self.touches_bodies = bool(wanted.keys or wanted.paths or wanted.values)
        """A specification asks for values inside JSON-RPC messages."""
        self._cache: dict[tuple[bytes, bytes], tuple[str, Mask]] = {}

    @property
    def fingerprint(self) -> str:
        """Public name of the key: tags under equal fingerprints can be compared."""
        return self.tag("mcp-tap key fingerprint")

    def tag(self, value: str) -> str:
        """Tag a value: 16 hex digits, equal for equal values."""
        if MARKED.fullmatch(value):
            return value[len(MARK) :]
        raw = value.encode("utf-8", "surrogateescape")
        return hmac.new(self._key, raw, hashlib.sha256).hexdigest()[:16]

    def headers(self, raw: Iterable[tuple[bytes, bytes]]) -> tuple[Headers, list[Mask]]:
        """Decode header fields, credentials masked; order, spelling and duplicates kept."""
        out: Headers = []
        masks: list[Mask] = []
        for name, value in raw:
            text = name.decode("latin-1")
            low = text.lower()
            if low in self._headers:
                shown, mask = self._header(name, value, low, len(out))
                masks.append(mask)
            else:
                shown = value.decode("latin-1")
                if low in URL_HEADERS or self._wanted.values:
                    at = pointer("headers", len(out), 1)
                    if low in URL_HEADERS:
                        shown = self._url(shown, at, masks, link=low == "link")
                    shown = self.without_values(shown, at, masks)
            out.append((text, shown))
        return out, masks

    def target(self, target: str) -> tuple[str, list[Mask]]:
        """Mask secrets in a request target: in its query string, and the password of a URL."""
        masks: list[Mask] = []
        if not self.touches_bodies and find.PLAIN_PATH.fullmatch(target):
            return target, masks
        shown = self._url(target, "/path", masks)
        return self.without_values(shown, "/path", masks), masks

    def hidden(self, text: str) -> str:
        """Mask what the `value:` specifications match in what a run's header says."""
        return self.without_values(text, "", [])

    def message(self, payload: bytes, value: Any) -> tuple[bytes, Any, list[Mask]]:
        """Mask a JSON-RPC message as the specifications ask; unchanged where they match nothing."""
        if not self.touches_bodies:
            return payload, value, []
        return self._masked_json(payload, value, _NOTHING)

    def other(
        self, payload: bytes, value: Any, content_type: str, target: bytes = b""
    ) -> tuple[bytes, Any, list[Mask]]:
        """Mask a payload that is no JSON-RPC message, or not only one: OAuth fields too.

        Args:
            payload: its bytes.
            value: what they mean as JSON.
            content_type: as its head says.
            target: of the request; on the way to tokens, what cannot be read is masked whole.
        """
        fields = self._fields
        if not fields and not self.touches_bodies:
            return payload, value, []
        if value is not UNPARSED:
            return self._masked_json(payload, value, fields)
        form = content_type.startswith("application/x-www-form-urlencoded")
        if fields and (form or _OAUTH_PATH.match(target)) and find.opaque(payload):
            return self._masked_whole(payload)
        if form:
            return self._form(payload)
        return self._masked_text(payload, fields, loose=True)

    def pointed(self, value: Any, places: Iterable[Sequence[str]]) -> tuple[Any, list[Mask]]:
        """Mask values of a JSON document by where they stand."""
        masks: list[Mask] = []
        changed = loads(dumps(value))
        for *way, last in places:
            holder = changed
            for step in way:
                holder = holder[int(step) if isinstance(holder, list) else step]
            key = int(last) if isinstance(holder, list) else last
            holder[key] = self._masked_any(holder[key], (*way, last), masks)
        return changed, masks

    def _masked_json(
        self, payload: bytes, value: Any, fields: frozenset[str]
    ) -> tuple[bytes, Any, list[Mask]]:
        if value is UNPARSED:
            return self._masked_text(payload, fields)
        if self._where.is_clean(payload, fields):
            return payload, value, []
        masks: list[Mask] = []
        try:
            changed = self._document(value, (), fields, masks)
            if fields and not masks and self._lost(payload, value):
                return self._masked_text(payload, fields)
        except RecursionError:  # too deep to look into: nothing of it is shown
            return self._masked_whole(payload)
        if not masks:
            return payload, value, []
        masked = dumps(changed)
        return masked, loads(masked), masks

    def _masked_whole(self, payload: bytes) -> tuple[bytes, Any, list[Mask]]:
        masks: list[Mask] = []
        text = self._put(payload.decode("latin-1"), "/text", masks)
        return text.encode(), UNPARSED, masks

    def _lost(self, payload: bytes, value: Any) -> bool:
        """Tell whether the bytes have a field that the value has not, being there twice."""
        if isinstance(value, list) and any(map(is_rpc, value)):
            return False
        masks: list[Mask] = []
        text = payload.decode("utf-8", "surrogateescape")
        named, spots = self._names(self._fields), self._where.spots(text, self._fields)
        find.members(text, named, self._putter("/text", masks), spots)
        return bool(masks) and find.ambiguous(payload)

    def _masked_text(
        self, payload: bytes, fields: frozenset[str], *, loose: bool = False
    ) -> tuple[bytes, Any, list[Mask]]:
        """Mask what cannot be parsed, a cut token response say, by what looks like a member.

        `loose`: it need not be JSON at all, so what looks like a form is masked too.
        """
        wanted = self._names(fields)
        named = self._names(fields | {"password"}) if fields else wanted
        encodings = find.encodings(payload)
        quick = payload.isascii() or len(encodings) > 1  # to decode costs less than to look first
        if not quick and self._where.is_clean(payload, fields):
            return payload, UNPARSED, []
        for encoding, reading, writing in encodings:
            masks: list[Mask] = []
            put = self._putter("/text", masks)
            text = payload.decode(encoding, reading)
            if fields or self._wanted.keys or self._wanted.tails:
                text = find.anything(
                    text,
                    lambda name: wanted(name) or self._is_tail(name),
                    named if loose else None,
                    put,
                    lambda text: self._where.spots(text, fields),
                )
            text = self.without_values(text, "/text", masks)
            if masks:
                return text.encode(encoding, writing), UNPARSED, masks
        return payload, UNPARSED, []

    def without_values(self, text: str, at: str, masks: list[Mask]) -> str:
        """Mask what the `value:` specifications match in a text that stands `at` this place."""
        for pattern in self._wanted.values:
            pieces = MARKED.split(text)
            for index in range(0, len(pieces), 2):
                piece, done = pieces[index], 0
                out: list[str] = []
                for start, end in pattern.spans(piece):
                    out += piece[done:start], self._put(piece[start:end], at, masks)
                    done = end
                if done:
                    pieces[index] = "".join(out) + piece[done:]
            text = "".join(pieces)
        return text

    def _document(
        self, value: Any, at: tuple[Any, ...], fields: frozenset[str], masks: list[Mask]
    ) -> Any:
        """Walk a whole payload; what is JSON-RPC in it has no fields of OAuth."""
        if not fields:
            return self._walk(value, at, fields, masks)
        if isinstance(value, list):
            return [self._document(v, (*at, i), fields, masks) for i, v in enumerate(value)]
        if not isinstance(value, dict) or is_rpc(value):
            return self._walk(value, at, _NOTHING, masks)
        rpc = _RPC_MEMBERS if "method" in value or "result" in value else _NOTHING
        return {
            k: self._member(k, v, at, _NOTHING if k in rpc else fields, masks)
            for k, v in value.items()
        }

    def _walk(
        self, value: Any, at: tuple[Any, ...], fields: frozenset[str], masks: list[Mask]
    ) -> Any:
        if isinstance(value, dict):
            return {k: self._member(k, v, at, fields, masks) for k, v in value.items()}
        if isinstance(value, list):
            return [self._walk(v, (*at, i), fields, masks) for i, v in enumerate(value)]
        if self._wanted.values and value is not None and not isinstance(value, bool):
            text = value if isinstance(value, str) else dumps(value).decode()
            if any(pattern.search(text) for pattern in self._wanted.values):
                return self._masked_any(value, at, masks)
        return value

    def _member(
        self, key: str, value: Any, at: tuple[Any, ...], fields: frozenset[str], masks: list[Mask]
    ) -> Any:
        at = (*at, key)
        if self._selected(key, at, fields):
            return self._masked_any(value, at, masks)
        return self._walk(value, at, fields, masks)

    def _selected(self, key: str, at: tuple[Any, ...], fields: frozenset[str]) -> bool:
        return self._named(key, fields) or any(path.matches(at) for path in self._wanted.paths)

    def _named(self, name: str, fields: frozenset[str]) -> bool:
        if fields and folded(name) in fields:
            return True
        return any(fnmatch.fnmatchcase(name.lower(), g) for g in self._wanted.keys)

    def _names(self, fields: frozenset[str]) -> Callable[[str], bool]:
        return lru_cache(1024)(lambda name: self._named(name, fields))  # names repeat

    def _putter(self, at: str, masks: list[Mask]) -> Callable[[str], str]:
        return lambda text: self._put(text, at, masks)

    def _is_tail(self, name: str) -> bool:
        return any(fnmatch.fnmatchcase(name.lower(), g) for g in self._wanted.tails)

    def _masked_any(self, value: Any, at: tuple[Any, ...], masks: list[Mask]) -> Any:
        if value is None or isinstance(value, bool):
            return value
        text = value if isinstance(value, str) else dumps(value).decode()
        return self._put(text, pointer("body", *at), masks, kind=json_type(value))

    def _put(self, text: str, at: str, masks: list[Mask], kind: str = "string") -> str:
        masks.append(self._mask(text, at, kind=kind))
        return MARK + masks[-1].tag

    def _url(self, text: str, at: str, masks: list[Mask], *, link: bool = False) -> str:
        put = self._putter(at, masks)
        if self._parameters:
            text = find.userinfo(text, put)
        return find.url(text, self._names(self._parameters), put, link=link)

    def _form(self, payload: bytes) -> tuple[bytes, Any, list[Mask]]:
        masks: list[Mask] = []
        fields = self._fields | {"password"} if self._fields else self._fields
        text, put = payload.decode("latin-1"), self._putter("/text", masks)
        text = find.form(text, self._names(fields), put, self._where.spots(text, fields))
        text = self.without_values(text, "/text", masks)
        return (text.encode("latin-1") if masks else payload), UNPARSED, masks

    def _header(self, name: bytes, value: bytes, low: str, index: int) -> tuple[str, Mask]:
        found = self._cache.get((name, value))
        if found is None:
            if len(self._cache) >= _CACHED_HEADERS:
                self._cache.clear()
            found = self._mask_header(low, value.decode("latin-1"))
            self._cache[name, value] = found
        masked, mask = found
        return masked, Mask(
            at=pointer("headers", index, 1),
            length=mask.length,
            shape=mask.shape,
            tag=mask.tag,
            scheme=mask.scheme,
            principal=mask.principal,
        )

    def _mask_header(self, name: str, value: str) -> tuple[str, Mask]:
        if name in ("authorization", "proxy-authorization"):
            scheme, blank, secret = value.partition(" ")
            if blank and re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,32}", scheme):
                mask = self._mask(secret, "", scheme=scheme)
                return f"{scheme} {MARK}{mask.tag}", mask
        mask = self._mask(value, "")
        if name in ("cookie", "set-cookie"):
            return find.cookies(
                value, lambda text: MARK + self.tag(text), every=name == "cookie"
            ), mask
        return MARK + mask.tag, mask

    def _mask(
        self, value: str, at: str, *, scheme: str | None = None, kind: str = "string"
    ) -> Mask:
        return Mask(
            at=at,
            length=len(value),
            shape=shape(value),
            tag=self.tag(value),
            type=kind,
            scheme=scheme,
            principal=self._principal(value, scheme),
        )

    def _principal(self, value: str, scheme: str | None) -> str | None:
        named = principal(value, scheme)
        return None if named is None else self.tag(named)
