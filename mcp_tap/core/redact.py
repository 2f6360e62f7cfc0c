"""Masking of credentials, once, before both the file and the rules (DECISIONS 1).

A masked value becomes `SCHEME mcp-tap:TAG`: the tag is an HMAC under the run's key, so equal values
stay recognisably equal and nothing can be read back.  A `Mask` beside it keeps the facts that rules
need.  What is masked by default: credentials in header fields, secrets in the query strings of
targets, `Location` and `Referer`, and the OAuth fields of payloads that are no JSON-RPC messages.
Anything else only by specification: `header:NAME`, `key:GLOB` (members, and parameters of queries
and forms), `path:JSONPATH` (`$.params.arguments.password`), `value:REGEX` (anywhere).  Where a
payload is no whole JSON, too much is masked rather than too little.
"""

from __future__ import annotations

import base64
import binascii
import fnmatch
import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import unquote_plus

from mcp_tap.core.records import Headers, Mask, pointer
from mcp_tap.core.redact_specs import parse_specs
from mcp_tap.core.wire import UNPARSED, dumps, loads

MARK: Final = "mcp-tap:"
"""Starts every masked value."""

CREDENTIAL_HEADERS: Final = frozenset(
    {"authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"}
)
SECRET_PARAMETERS: Final = frozenset(
    {
        "access_token",
        "api_key",
        "apikey",
        "assertion",
        "client_assertion",
        "client_secret",
        "code",
        "code_verifier",
        "id_token",
        "key",
        "password",
        "refresh_token",
        "secret",
        "subject_token",
        "token",
    }
)
"""Query parameters that are masked."""
OAUTH_FIELDS: Final = SECRET_PARAMETERS - {"key", "password"} | {"registration_access_token"}
"""Fields of form posts and JSON payloads other than JSON-RPC that are masked."""
URL_HEADERS: Final = frozenset({"location", "content-location", "referer"})
"""Header fields that hold a URL, whose query and fragment are masked like the request's own."""
_NOTHING: Final[frozenset[str]] = frozenset()

_SHAPES: Final = (
    ("jwt", re.compile(r"[\w-]{4,}\.[\w-]{4,}\.[\w-]*")),
    ("uuid", re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")),
    ("digits", re.compile(r"\d+")),
    ("hex", re.compile(r"[0-9a-fA-F]{16,}")),
    ("base64url", re.compile(r"[\w-]{16,}={0,2}")),
)
_CACHED_HEADERS = 512
_MARKED: Final = re.compile(f"({MARK}[0-9a-f]{{16}})")
_SEPARATORS: Final = re.compile(r"([?&;#])")
_KEY: Final = re.compile(r'(?s)"((?:[^"\\]|\\.)*+)"\s*+:\s*+')
_VALUE: Final = re.compile(
    r'(?s)"(?P<string>(?:[^"\\]|\\.)*+)|(?P<bare>[^\s,{}\[\]"]+)|(?P<rest>.+)'
)
"""A member's value in what is not, or not yet, JSON; of an object or array nobody knows the end."""


class Redactor:
    """Masks values of one run.  What is masked already stays as it is."""

    def __init__(self, key: bytes, *, default: bool = True, specs: Sequence[str] = ()) -> None:
        """Mask under `key` (random bytes, or a key file's); raise `UsageError` for a bad spec."""
        wanted = parse_specs(specs)
        self._key = key
        self._default = default
        self._headers = wanted.headers | CREDENTIAL_HEADERS if default else wanted.headers
        self._parameters = SECRET_PARAMETERS if default else _NOTHING
        self._fields = OAUTH_FIELDS if default else _NOTHING
        self._wanted = wanted
        self.touches_bodies = bool(wanted.keys or wanted.paths or wanted.values)
        """A specification asks for values inside JSON-RPC messages."""
        self._cache: dict[tuple[bytes, bytes], tuple[str, Mask]] = {}

    @property
    def fingerprint(self) -> str:
        """Public name of the key: tags under equal fingerprints can be compared."""
        return self.tag("mcp-tap key fingerprint")

    def tag(self, value: str) -> str:
        """Tag a value: 16 hex digits, equal for equal values."""
        if _MARKED.fullmatch(value):
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
                    shown = self._url(shown, at, masks) if low in URL_HEADERS else shown
                    shown = self._without_values(shown, at, masks)
            out.append((text, shown))
        return out, masks

    def target(self, target: str) -> tuple[str, list[Mask]]:
        """Mask secrets in a request target's query string."""
        masks: list[Mask] = []
        if "?" not in target and not self.touches_bodies:
            return target, masks
        shown = self._url(target, "/path", masks)
        return self._without_values(shown, "/path", masks), masks

    def message(self, payload: bytes, value: Any) -> tuple[bytes, Any, list[Mask]]:
        """Mask a JSON-RPC message as the specifications ask; unchanged where they match nothing."""
        if not self.touches_bodies:
            return payload, value, []
        return self._masked_json(payload, value, _NOTHING)

    def other(self, payload: bytes, value: Any, content_type: str) -> tuple[bytes, Any, list[Mask]]:
        """Mask a payload that is no JSON-RPC message: OAuth fields too."""
        if not self._fields and not self.touches_bodies:
            return payload, value, []
        if content_type.startswith("application/x-www-form-urlencoded"):
            return self._form(payload)
        return self._masked_json(payload, value, self._fields)

    def _masked_json(
        self, payload: bytes, value: Any, fields: frozenset[str]
    ) -> tuple[bytes, Any, list[Mask]]:
        if value is UNPARSED:
            return self._masked_text(payload, fields)
        masks: list[Mask] = []
        try:
            changed = self._walk(value, (), fields, masks)
        except RecursionError:  # too deep to look into: nothing of it is shown
            masks = []
            text = self._put(payload.decode("latin-1"), "/text", masks)
            return text.encode(), UNPARSED, masks
        if not masks:
            return payload, value, []
        masked = dumps(changed)
        return masked, loads(masked), masks

    def _masked_text(self, payload: bytes, fields: frozenset[str]) -> tuple[bytes, Any, list[Mask]]:
        """Mask what cannot be parsed, a cut token response say, by what looks like a member."""
        masks: list[Mask] = []
        text = payload.decode("utf-8", "surrogateescape")
        if fields or self._wanted.keys or self._wanted.tails:
            text = self._without_members(text, fields, masks)
        text = self._without_values(text, "/text", masks)
        if masks:
            return text.encode("utf-8", "surrogateescape"), UNPARSED, masks
        return payload, UNPARSED, []

    def _without_members(self, text: str, fields: frozenset[str], masks: list[Mask]) -> str:
        out: list[str] = []
        done = 0
        while (key := _KEY.search(text, done)) is not None:
            out.append(text[done : key.end()])
            done = key.end()
            value = _VALUE.match(text, done)
            name = _unescaped(key[1])
            if value is None or not (self._named(name, fields) or self._is_tail(name)):
                continue
            done = value.end()
            if value.lastgroup == "string":
                out.append('"' + self._put(_unescaped(value["string"]), "/text", masks))
            elif value[0] in ("null", "true", "false"):
                out.append(value[0])
            else:
                out.append('"' + self._put(value[0], "/text", masks) + '"')
        return "".join(out) + text[done:]

    def _without_values(self, text: str, at: str, masks: list[Mask]) -> str:
        for pattern in self._wanted.values:
            text = "".join(
                piece
                if _MARKED.fullmatch(piece)
                else pattern.sub(lambda m: self._put(m[0], at, masks) if m[0] else "", piece)
                for piece in _MARKED.split(text)
            )
        return text

    def _walk(
        self, value: Any, at: tuple[Any, ...], fields: frozenset[str], masks: list[Mask]
    ) -> Any:
        if isinstance(value, dict):
            return {
                k: self._masked_any(v, (*at, k), masks)
                if self._selected(k, (*at, k), fields)
                else self._walk(v, (*at, k), fields, masks)
                for k, v in value.items()
            }
        if isinstance(value, list):
            return [self._walk(v, (*at, i), fields, masks) for i, v in enumerate(value)]
        if self._wanted.values and value is not None and not isinstance(value, bool):
            text = value if isinstance(value, str) else dumps(value).decode()
            if any(pattern.search(text) for pattern in self._wanted.values):
                return self._masked_any(value, at, masks)
        return value

    def _selected(self, key: str, at: tuple[Any, ...], fields: frozenset[str]) -> bool:
        return self._named(key, fields) or any(path.matches(at) for path in self._wanted.paths)

    def _named(self, name: str, fields: frozenset[str]) -> bool:
        low = name.lower()
        return low in fields or any(fnmatch.fnmatchcase(low, g) for g in self._wanted.keys)

    def _is_tail(self, name: str) -> bool:
        return any(fnmatch.fnmatchcase(name.lower(), g) for g in self._wanted.tails)

    def _masked_any(self, value: Any, at: tuple[Any, ...], masks: list[Mask]) -> Any:
        if value is None or isinstance(value, bool):
            return value
        text = value if isinstance(value, str) else dumps(value).decode()
        return self._put(text, pointer("body", *at), masks, kind=_json_type(value))

    def _put(self, text: str, at: str, masks: list[Mask], kind: str = "string") -> str:
        masks.append(self._mask(text, at, kind=kind))
        return MARK + masks[-1].tag

    def _url(self, text: str, at: str, masks: list[Mask]) -> str:
        """Mask parameters in a query string or a fragment."""
        pieces = _SEPARATORS.split(text)
        for index in range(2, len(pieces), 2):
            pieces[index] = self._parameter(pieces[index], self._parameters, at, masks)
        return "".join(pieces)

    def _form(self, payload: bytes) -> tuple[bytes, Any, list[Mask]]:
        masks: list[Mask] = []
        fields = self._fields | {"password"} if self._fields else self._fields
        text = "&".join(
            self._parameter(part, fields, "/text", masks)
            for part in payload.decode("latin-1").split("&")
        )
        text = self._without_values(text, "/text", masks)
        return (text.encode("latin-1") if masks else payload), UNPARSED, masks

    def _parameter(self, part: str, fields: frozenset[str], at: str, masks: list[Mask]) -> str:
        name, equals, value = part.partition("=")
        if value and self._named(unquote_plus(name), fields):
            return name + equals + self._put(unquote_plus(value), at, masks)
        return part

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
        if name == "cookie":
            pairs = [part.partition("=") for part in value.split(";")]
            return ";".join(
                f"{n}{e}{MARK}{self.tag(v)}" if e else f"{MARK}{self.tag(n)}" for n, e, v in pairs
            ), mask
        if name == "set-cookie":
            first, semicolon, attributes = value.partition(";")
            n, equals, v = first.partition("=")
            shown = f"{n}{equals}{MARK}{self.tag(v)}" if equals else MARK + self.tag(first)
            return shown + semicolon + attributes, mask
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
        """Tag the person or service a credential names, so that rules can tell principals apart."""
        try:
            if scheme and scheme.lower() == "basic":
                user = base64.b64decode(value, validate=True).partition(b":")[0]
                return self.tag(user.decode("utf-8", "surrogateescape"))
            if shape(value) == "jwt":
                part = value.split(".")[1]
                claims = loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
                if isinstance(claims, dict) and isinstance(claims.get("sub"), str):
                    return self.tag(str(claims.get("iss", "")) + "\n" + claims["sub"])
        except (ValueError, binascii.Error):
            pass
        return None


def shape(value: str) -> str:
    """Class a secret by its look, which says nothing of its content."""
    if not value:
        return "empty"
    return next((name for name, pattern in _SHAPES if pattern.fullmatch(value)), "opaque")


def _json_type(value: Any) -> str:
    if isinstance(value, str):
        return "string"
    if isinstance(value, (int, float)):
        return "number"
    return "array" if isinstance(value, list) else "object"


def _unescaped(text: str) -> str:
    """Read the inside of a JSON string, as far as it is one."""
    try:
        return str(loads(f'"{text}"')) if "\\" in text else text
    except ValueError:
        return text
