"""Masking of credentials, once, before both the file and the rules (DECISIONS 1).

A masked value becomes `SCHEME mcp-tap:TAG`: the tag is an HMAC under the run's key, so equal values
stay recognisably equal and nothing can be read back.  A `Mask` beside it keeps the facts that rules
need.  What is masked by default: credentials in header fields, secrets in query strings, and the
OAuth fields of payloads that are no JSON-RPC messages.  Anything else only by specification:
`header:NAME`, `key:GLOB`, `path:JSONPATH` (`$.params.arguments.password`), `value:REGEX`.
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
from mcp_tap.core.wire import UNPARSED, dumps, loads
from mcp_tap.errors import UsageError

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

_SHAPES: Final = (
    ("jwt", re.compile(r"[\w-]{4,}\.[\w-]{4,}\.[\w-]*")),
    ("uuid", re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")),
    ("digits", re.compile(r"\d+")),
    ("hex", re.compile(r"[0-9a-fA-F]{16,}")),
    ("base64url", re.compile(r"[\w-]{16,}={0,2}")),
)
_CACHED_HEADERS = 512
_LOOSE_JSON: Final = re.compile(
    r'(?P<before>"(?:' + "|".join(sorted(OAUTH_FIELDS)) + r')"\s*:\s*")(?P<secret>(?:[^"\\]|\\.)*)'
)
"""OAuth fields in what is not, or not yet, JSON."""


class Redactor:
    """Masks values of one run."""

    def __init__(self, key: bytes, *, default: bool = True, specs: Sequence[str] = ()) -> None:
        """Mask under `key`, as `specs` ask; raise `UsageError` for one that cannot be read."""
        self._key = key
        self._default = default
        self._headers = set(CREDENTIAL_HEADERS) if default else set()
        self._keys: list[str] = []
        self._paths: list[re.Pattern[str]] = []
        self._values: list[re.Pattern[str]] = []
        for spec in specs:
            self._add(spec)
        self.touches_bodies = bool(self._keys or self._paths or self._values)
        """A specification asks for values inside JSON-RPC messages."""
        self._cache: dict[tuple[bytes, bytes], tuple[str, Mask]] = {}

    @property
    def fingerprint(self) -> str:
        """Public name of the key: tags under equal fingerprints can be compared."""
        return self.tag("mcp-tap key fingerprint")

    def tag(self, value: str) -> str:
        """Tag a value: 16 hex digits, equal for equal values."""
        raw = value.encode("utf-8", "surrogateescape")
        return hmac.new(self._key, raw, hashlib.sha256).hexdigest()[:16]

    def headers(self, raw: Iterable[tuple[bytes, bytes]]) -> tuple[Headers, list[Mask]]:
        """Decode header fields, credentials masked; order, spelling and duplicates kept."""
        out: Headers = []
        masks: list[Mask] = []
        for name, value in raw:
            text = name.decode("latin-1")
            if text.lower() in self._headers:
                masked, mask = self._header(name, value, text, len(out))
                masks.append(mask)
                out.append((text, masked))
            else:
                out.append((text, value.decode("latin-1")))
        return out, masks

    def target(self, target: str) -> tuple[str, list[Mask]]:
        """Mask secrets in a request target's query string."""
        path, mark, query = target.partition("?")
        if not query or not self._default:
            return target, []
        out: list[str] = []
        masks: list[Mask] = []
        for part in query.split("&"):
            name, equals, value = part.partition("=")
            if value and unquote_plus(name).lower() in SECRET_PARAMETERS:
                masks.append(self._mask(unquote_plus(value), "/path"))
                out.append(name + equals + MARK + masks[-1].tag)
            else:
                out.append(part)
        return path + mark + "&".join(out), masks

    def message(self, payload: bytes, value: Any) -> tuple[bytes, Any, list[Mask]]:
        """Mask a JSON-RPC message as the specifications ask; unchanged where they match nothing."""
        if not self.touches_bodies:
            return payload, value, []
        return self._masked_json(payload, value, self._keys)

    def other(self, payload: bytes, value: Any, content_type: str) -> tuple[bytes, Any, list[Mask]]:
        """Mask a payload that is no JSON-RPC message: OAuth fields too."""
        if self._default and content_type.startswith("application/x-www-form-urlencoded"):
            return self._form(payload)
        oauth = sorted(OAUTH_FIELDS) if self._default else []
        if not oauth and not self.touches_bodies:
            return payload, value, []
        if value is UNPARSED and oauth and "json" in content_type:
            return self._masked_text(payload, _LOOSE_JSON)
        return self._masked_json(payload, value, [*self._keys, *oauth])

    def _masked_json(
        self, payload: bytes, value: Any, keys: list[str]
    ) -> tuple[bytes, Any, list[Mask]]:
        if value is UNPARSED:
            return self._masked_text(payload)
        masks: list[Mask] = []
        try:
            changed = self._walk(value, (), keys, masks)
        except RecursionError:  # too deep to look into: nothing of it is shown
            masks = []
            text = self._put(payload.decode("latin-1"), "/text", masks)
            return text.encode(), UNPARSED, masks
        if not masks:
            return payload, value, []
        masked = dumps(changed)
        return masked, loads(masked), masks

    def _masked_text(self, payload: bytes, *more: re.Pattern[str]) -> tuple[bytes, Any, list[Mask]]:
        """What cannot be parsed, a cut token response say, can still be searched for values."""
        masks: list[Mask] = []
        text = payload.decode("utf-8", "surrogateescape")
        for pattern in self._values:
            text = pattern.sub(lambda m: self._put(m[0], "/text", masks), text)
        for pattern in more:
            text = pattern.sub(lambda m: m["before"] + self._put(m["secret"], "/text", masks), text)
        if masks:
            return text.encode("utf-8", "surrogateescape"), UNPARSED, masks
        return payload, UNPARSED, []

    def _walk(self, value: Any, at: tuple[Any, ...], keys: list[str], masks: list[Mask]) -> Any:
        if isinstance(value, dict):
            return {
                k: self._masked_any(v, (*at, k), masks)
                if self._selected(k, (*at, k), keys)
                else self._walk(v, (*at, k), keys, masks)
                for k, v in value.items()
            }
        if isinstance(value, list):
            return [self._walk(v, (*at, i), keys, masks) for i, v in enumerate(value)]
        if isinstance(value, str):
            for pattern in self._values:
                if pattern.search(value):
                    return self._masked_any(value, at, masks)
        return value

    def _selected(self, key: str, at: tuple[Any, ...], keys: list[str]) -> bool:
        if any(fnmatch.fnmatchcase(key.lower(), glob) for glob in keys):
            return True
        return bool(self._paths) and any(p.fullmatch(_dotted(at)) for p in self._paths)

    def _masked_any(self, value: Any, at: tuple[Any, ...], masks: list[Mask]) -> Any:
        if value is None or isinstance(value, bool):
            return value
        text = value if isinstance(value, str) else dumps(value).decode()
        return self._put(text, pointer("body", *at), masks, kind=_json_type(value))

    def _put(self, text: str, at: str, masks: list[Mask], kind: str = "string") -> str:
        masks.append(self._mask(text, at, kind=kind))
        return MARK + masks[-1].tag

    def _form(self, payload: bytes) -> tuple[bytes, Any, list[Mask]]:
        parts = []
        masks: list[Mask] = []
        for part in payload.decode("latin-1").split("&"):
            name, equals, value = part.partition("=")
            if value and unquote_plus(name).lower() in OAUTH_FIELDS | {"password"}:
                value = self._put(unquote_plus(value), "/text", masks)
            parts.append(name + equals + value)
        return "&".join(parts).encode("latin-1"), UNPARSED, masks

    def _header(self, name: bytes, value: bytes, text: str, index: int) -> tuple[str, Mask]:
        found = self._cache.get((name, value))
        if found is None:
            if len(self._cache) >= _CACHED_HEADERS:
                self._cache.clear()
            found = self._mask_header(text.lower(), value.decode("latin-1"))
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

    def _add(self, spec: str) -> None:
        kind, colon, rest = spec.partition(":")
        if not colon or not rest or kind not in ("header", "key", "path", "value"):
            raise UsageError(
                "bad-redaction",
                f"--redact {spec!r} is no redaction",
                help="write header:NAME, key:GLOB, path:JSONPATH or value:REGEX",
            )
        if kind == "header":
            self._headers.add(rest.lower())
        elif kind == "key":
            self._keys.append(rest.lower())
        elif kind == "path":
            self._paths.append(_path_pattern(spec, rest))
        else:
            try:
                self._values.append(re.compile(rest))
            except re.error as error:
                raise UsageError(
                    "bad-redaction", f"--redact {spec!r} is no regular expression", why=str(error)
                ) from None


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


def _dotted(at: tuple[Any, ...]) -> str:
    return "$" + "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in at)


def _path_pattern(spec: str, path: str) -> re.Pattern[str]:
    if not path.startswith("$."):
        raise UsageError(
            "bad-redaction",
            f"--redact {spec!r} has a path that does not start with $.",
            help="for example path:$.params.arguments.password or path:$.params.*.token",
        )
    pattern = re.escape(path).replace(r"\.\.", r"(\..+|\[\d+\])*\.").replace(r"\*", r"[^.\[\]]+")
    return re.compile(pattern)
