r"""URLs as browsers read them: parts, the host in its one true spelling, and what is wrong.

The parser is the WHATWG's (by way of `ada-url`), because what counts is where a click would lead:
`http://0x7f.1/` is this machine, and `https://a\@b` leads to `a`.  A text that no browser takes is
no `Url`.

The texts are a stranger's: those longer than `LONGEST` are not read, and neither are hosts longer
than any name can be.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final, TypeAlias
from urllib.parse import unquote, unquote_plus

LONGEST: Final = 65_536
"""Characters of a URL that is read."""
LONGEST_HOST: Final = 1024
"""Characters of a host that is read, as written; names end at 253, but may be percent-encoded."""
MOST_PAIRS: Final = 1000
"""Parameters read of one query."""

Address: TypeAlias = IPv4Address | IPv6Address
Pairs: TypeAlias = list[tuple[str, str]]

_C0_AND_BLANK: Final = "".join(map(chr, range(0x21)))
_TABS: Final = {9: None, 10: None, 13: None}
_RAW: Final = re.compile("[\x00-\x20\x7f-\x9f\ud800-\udfff]")
"""What no URL contains: controls, blanks, halves of surrogate pairs."""
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_END: Final = re.compile(r"[/?#]")
"""What an authority ends at."""
_HTTP: Final = ("http", "https")
SPECIAL: Final = (*_HTTP, "ws", "wss", "ftp")
"""Schemes whose host a browser finds behind any number of slashes."""


class Url:
    """A URL and its parts."""

    def __init__(self, text: str, parts: dict[str, str]) -> None:
        """Take the parts a parser found."""
        self.text = text
        """As it came."""
        self.scheme = parts["scheme"]
        """In lower case, without the colon."""
        self.username = parts["username"]
        """Percent-encoded, as is the password; empty where there is none."""
        self.password = parts["password"]
        self.host: str | None = parts["host"] or None
        """In lower case; names in ASCII (`xn--`), addresses in their usual form, IPv6 without
        brackets.  None where it has none."""
        self.port: int | None = int(parts["port"]) if parts["port"] else None
        """None for the scheme's own."""
        self.path = parts["path"]
        """Percent-encoded, as are query and fragment."""
        self.query = parts["query"]
        """Without the question mark."""
        self.fragment = parts["fragment"]
        """Without the hash sign."""

    @cached_property
    def written_host(self) -> str:
        """The host as the text spells it: in any case and script; no port, IPv6 in brackets."""
        return _written(self.text)

    @cached_property
    def address(self) -> Address | None:
        """The host as an address; of an IPv4 address mapped into IPv6 the former."""
        if self.host is None:
            return None
        try:
            found = ip_address(self.host)
        except ValueError:
            return None
        mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
        return mapped if mapped is not None else found

    @cached_property
    def labels(self) -> list[str]:
        """Labels of the host's name as people read them, punycode decoded; none of an address."""
        if self.host is None or self.address is not None:
            return []
        return [readable(label) for label in self.host.removesuffix(".").split(".")]

    @cached_property
    def segments(self) -> list[str]:
        """Segments of the path, percent-decoded."""
        return [unquote(step) for step in self.path.split("/")[: MOST_PAIRS + 1] if step]

    @cached_property
    def pairs(self) -> Pairs:
        """Parameters of the query, percent-decoded."""
        return pairs_of(self.query)

    @cached_property
    def fragment_pairs(self) -> Pairs:
        """Parameters of the fragment, for those who put them there; percent-decoded."""
        return pairs_of(self.fragment) if "=" in self.fragment else []

    @property
    def is_loopback(self) -> bool:
        """It leads to the machine it is opened on."""
        if self.address is not None:
            return self.address.is_loopback
        name = (self.host or "").removesuffix(".")
        return name == "localhost" or name.endswith(".localhost")


def read_url(text: str) -> Url | None:
    """Parse an absolute URL as a browser does.

    Blanks and control characters around it, tabs and line breaks in it are overlooked, as browsers
    do: `fault` tells of them.

    Returns:
        None for what no browser opens, and for what is too long to be read.
    """
    return _read(text) if len(text) <= LONGEST else None


def fault(text: str) -> str | None:
    """Say why a text is no valid absolute URL; None where it is one, or is too long to be read.

    The words go after "a url that": `has no scheme`.
    """
    if len(text) > LONGEST:
        return None
    raw = _RAW.search(text)
    if not text or raw is not None:
        return _named(raw[0]) if raw is not None else "is empty"
    if _SCHEME.match(text) is None:
        return "has no scheme"
    scheme, _, rest = text.partition(":")
    http = scheme.lower() in _HTTP
    # `https:a` and `https:///a` lead to `a` in a browser, and nowhere in other parsers.
    if http and not _authority(rest.replace("\\", "/")):
        return "has no host"
    host = _written(text)
    if len(host) > LONGEST_HOST or read_url(text) is not None:
        return None
    what = "an IPv6 address" if host.startswith("[") else "a host"
    return f"has {what} or port that cannot be parsed" if host else "has no host"


def _named(ch: str) -> str:
    if ch == " ":
        return "contains a raw blank"
    return f"contains the raw character U+{ord(ch):04X}"


def pairs_of(text: str) -> Pairs:
    """Read parameters (`a=1&b`), percent-decoded; `MOST_PAIRS` at most."""
    found = []
    for pair in text.split("&", MOST_PAIRS)[:MOST_PAIRS]:
        name, _, value = pair.partition("=")
        if pair:
            found.append((unquote_plus(name), unquote_plus(value)))
    return found


@lru_cache(maxsize=64)
def _read(text: str) -> Url | None:
    from ada_url import URL  # noqa: PLC0415 (most runs see no url)

    if len(_written(text)) > LONGEST_HOST:
        return None
    try:
        found = URL(text)
        parts = {
            "scheme": found.protocol[:-1],
            "username": found.username,
            "password": found.password,
            "host": found.hostname.removeprefix("[").removesuffix("]"),
            "port": found.port,
            "path": found.pathname,
            "query": found.search[1:],
            "fragment": found.hash[1:],
        }
    except ValueError:  # UnicodeEncodeError too: half a surrogate pair
        return None
    return Url(text, parts)


def _authority(rest: str) -> str:
    """Cut the authority out of what follows a scheme; empty where there is none."""
    return _END.split(rest[2:], maxsplit=1)[0] if rest.startswith("//") else ""


def _written(text: str) -> str:
    if _RAW.search(text) is not None:
        text = text.strip(_C0_AND_BLANK).translate(_TABS)
    scheme, _, rest = text.partition(":")
    if scheme.lower() in SPECIAL:
        rest = "//" + rest.replace("\\", "/").lstrip("/")
    host = _authority(rest).rpartition("@")[2]
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def readable(label: str) -> str:
    """Decode a label of a host's name from punycode; give it as it is where that is none."""
    if not label.startswith("xn--") or len(label) > 63:
        return label
    try:
        return label[4:].encode().decode("punycode")
    except (UnicodeError, ValueError, OverflowError):
        return label


def written_host(text: str) -> str:
    """Give the host as a text spells it, also where no browser would open it."""
    return _written(text) if len(text) <= LONGEST else ""
