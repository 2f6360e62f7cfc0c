"""Hosts and schemes of elicitation links: where a click would really lead."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final, TypeAlias

from mcp_tap.core.facts.ask import Ask
from mcp_tap.core.facts.flow import Flow
from mcp_tap.core.text import brief
from mcp_tap.rules.base import RECENT, Hit, Hits, rule
from mcp_tap.rules.elicit_links import dangerous_scheme
from mcp_tap.rules.link_secrets import url_of
from mcp_tap.rules.urls import SPECIAL, Url, read_url, readable, written_host

Network: TypeAlias = IPv4Network | IPv6Network

_NETWORKS: Final[tuple[tuple[Network, str], ...]] = tuple(
    (ip_network(network), what)
    for network, what in (
        ("10.0.0.0/8", "a private address"),
        ("172.16.0.0/12", "a private address"),
        ("192.168.0.0/16", "a private address"),
        ("100.64.0.0/10", "an address of a carrier's network"),
        ("169.254.0.0/16", "a link-local address"),
        ("0.0.0.0/8", "the unspecified address"),
        ("127.0.0.0/8", "the own machine, spelled to hide it"),
        ("::/128", "the unspecified address"),
        ("::1/128", "the own machine, spelled to hide it"),
        ("fc00::/7", "a unique-local address"),
        ("fe80::/10", "a link-local address"),
    )
)
"""Listed one by one: general helpers count documentation ranges, too."""
_NAT64: Final = ip_network("64:ff9b::/96")
_METADATA: Final = frozenset(
    {
        *("169.254.169.254", "169.254.170.2", "100.100.100.200", "fd00:ec2::254"),
        *("metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"),
    }
)
"""Where cloud machines get their credentials."""
_INTERNAL: Final = ("local", "internal", "lan", "home.arpa")
_SCRIPTS: Final = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})
"""Scripts whose letters look alike."""
_LOOKALIKES: Final = frozenset("асԁеһіјӏорԛѕԝхуѵүғ" + "αονρτυικχγηε")
"""Cyrillic and Greek letters that look like Latin ones."""
_LONGEST_LABEL: Final = 255
_DOTS: Final = re.compile(r"[.\u3002\uff0e\uff61]")


@rule(
    "SEC-014",
    severity="warning",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#safe-url-handling",
    on="ask url",
    versions=RECENT,
)
def url_punycode_host(ask: Ask) -> Hits:
    """The host of the elicitation url is internationalised: punycode, or raw non-ASCII.

    Such names are legitimate, and the usual way to make one host look like another; whoever shows
    the link should show that.  A name that mixes scripts is SEC-015.  `xn--` elsewhere in the url
    means nothing.
    """
    labels = _foreign_labels(ask)
    if not any(label.startswith("xn--") or not label.isascii() for label in labels):
        return None
    return Hit("server sends a url whose host is internationalised", ask.at("url"))


@rule(
    "SEC-015",
    severity="error",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#safe-url-handling",
    on="ask url",
    versions=RECENT,
)
def url_mixed_script_host(ask: Ask) -> Hits:
    """A host label mixes look-alike scripts, such as Latin with Cyrillic.

    Or it is written with nothing but Cyrillic or Greek letters that look like Latin ones, below a
    Latin top-level domain.  Both are made to deceive.  Japanese and Korean names mix scripts
    as a matter of course, also with Latin: those are fine.
    """
    labels = [readable(label) for label in _foreign_labels(ask)]
    for label in labels:
        why = _deceives(label, labels[-1])
        if why is not None:
            return Hit(f"server sends a url whose host {why}", ask.at("url"))
    return None


@rule(
    "SEC-016",
    severity="warning",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#safe-url-handling",
    on="ask url",
    versions=RECENT,
)
def url_private_host(ask: Ask) -> Hits:
    """The elicitation url points to a private, link-local or otherwise internal host.

    A stranger's server has no business there, and the client or its browser can reach what the
    server cannot.  Addresses are compared in their one true spelling (`0x0a000005` is 10.0.0.5);
    an error where it is where cloud machines get their credentials.  The own machine is
    development, unless its address is spelled to hide it.  Quiet where the server itself is on the
    same private host or network.
    """
    url = url_of(ask)
    if url is None or url.host is None or url.scheme not in SPECIAL:
        return None
    what = _internal(url)
    if what is None or _is_near(url, ask.flow):
        return None
    if url.host.removesuffix(".") in _METADATA or str(url.address) in _METADATA:
        words = "server sends a url that points to a cloud's metadata service"
        return Hit(words, ask.at("url"), severity="error")
    return Hit(f"server sends a url that points to {what}", ask.at("url"))


@rule(
    "SEC-017",
    severity="error",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#safe-url-handling",
    on="ask url",
    versions=RECENT,
)
def url_dangerous_scheme(ask: Ask) -> Hits:
    """The elicitation url uses a scheme that executes code or opens local content.

    `javascript:`, `data:`, `file:` and their like never lead to a page of a server.  Blanks and
    control characters before or in the scheme do not hide it, as they do not for browsers.
    """
    text = ask.params.get("url")
    if type(text) is not str:
        return None
    scheme = dangerous_scheme(text)
    if scheme is None:
        return None
    return Hit(f"server sends a url of the scheme {scheme}", ask.at("url"))


def _foreign_labels(ask: Ask) -> list[str]:
    """Give the labels of an ask's host, where one of them may be written in another script."""
    text = ask.params.get("url")
    if type(text) is not str or ("xn--" not in text.lower() and text.isascii() and "%" not in text):
        return []
    return _labels(text)


def _labels(text: str) -> list[str]:
    """Give the labels of a url's host, in lower case, as a browser reads them."""
    url = read_url(text)
    if url is not None:
        if url.scheme not in SPECIAL or url.host is None or url.address is not None:
            return []
        written = url.written_host.lower().rstrip(".")
        if url.host.isascii() and not written.isascii() and "xn--" not in url.host:
            return _DOTS.split(written)
        return url.host.rstrip(".").split(".")
    host = written_host(text).lower().rstrip(".")
    return _DOTS.split(host[:1024]) if not host.startswith("[") else []


def _deceives(label: str, top: str) -> str | None:
    if label.isascii():
        return None
    letters = [ch for ch in label[:_LONGEST_LABEL].lower() if ch.isalpha()]
    scripts = sorted({_script(ch) for ch in letters} & _SCRIPTS)
    if len(scripts) > 1:
        return "mixes the scripts " + " and ".join(script.capitalize() for script in scripts)
    if top.isascii() and letters and _LOOKALIKES.issuperset(letters):
        return f"is written in {scripts[0].capitalize()} letters that look like Latin ones"
    return None


@lru_cache(maxsize=4096)
def _script(ch: str) -> str:
    return unicodedata.name(ch, "").partition(" ")[0]


def _internal(url: Url) -> str | None:
    """Say what kind of internal host a link leads to; None for the world's, and the own machine."""
    host = (url.host or "").removesuffix(".")
    if url.address is not None:
        if url.is_loopback and _is_plain(url):
            return None
        found = _network(url)
        return found[1] if found is not None else None
    if url.is_loopback:
        return None
    if "." not in host:
        return f"a name without a domain, {brief(host, 40)}"
    zone = _zone(host)
    return f"a name below .{zone}, which is internal" if zone is not None else None


def _is_plain(url: Url) -> bool:
    written = url.written_host.lower().rstrip(".")
    if written.startswith("["):
        return isinstance(url.address, IPv6Address)
    return written == str(url.address)


def _network(url: Url) -> tuple[Network, str] | None:
    address = url.address
    if isinstance(address, IPv6Address) and address in _NAT64:
        address = IPv4Address(int(address) & 0xFFFFFFFF)
    for network, what in _NETWORKS:
        if address is not None and address.version == network.version and address in network:
            return network, what
    return None


def _zone(host: str) -> str | None:
    return next((zone for zone in _INTERNAL if host == zone or host.endswith("." + zone)), None)


def _is_near(url: Url, flow: Flow) -> bool:
    """Tell whether the server may be on the same private host or network."""
    server = read_url(flow.upstream) if flow.http else None
    if server is None or server.host is None:
        return False
    if server.host == url.host:
        return True
    if server.is_loopback or _internal(server) is None:
        return False
    here, there = _network(server), _network(url)
    return here is None or there is None or here[0] == there[0]
