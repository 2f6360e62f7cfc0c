"""The listener's guard against DNS rebinding.

A page in a browser can make its own name resolve to 127.0.0.1 and then speak to the tap as to its
own origin; the browser still sends that name as `Host` and its origin as `Origin`.  So foreign ones
are refused (specification, basic/transports/streamable-http, "Security Warning").
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from fnmatch import fnmatchcase

from mcp_tap.net.heads import Fields

_REMEMBERED = 64


class Guard:
    """Decides which `Host` and `Origin` values may speak to the tap."""

    def __init__(self, *, hosts: Sequence[str] = (), origins: Sequence[str] = ()) -> None:
        """Allow loopback names and these; `*` lets anything pass.

        Args:
            hosts: further host names (a port is ignored, globs work).
            origins: further origins, as a browser sends them (globs work).
        """
        self._hosts = [host_name(h.lower()) if h != "*" else h for h in hosts]
        self._origins = [o.lower().rstrip("/") for o in origins]
        self._any_host = "*" in hosts
        self._any_origin = "*" in origins
        self._known_hosts: set[str] = set()

    def refusal(self, fields: Fields) -> str | None:
        """Say why a request with these fields is refused, or None when it may pass."""
        if not self._any_host:
            if fields.hosts > 1:
                return "more than one Host field"
            host = (fields.host or b"").decode("latin-1")
            if fields.host is not None and not self._host_ok(host):
                return f"Host {host!r} is not this listener's"
        if fields.origin is not None and not self._any_origin:
            if fields.origins > 1:
                return "more than one Origin field"
            origin = fields.origin.decode("latin-1")
            if not self._origin_ok(origin):
                return f"Origin {origin!r} is foreign"
        return None

    def _host_ok(self, value: str) -> bool:
        if value in self._known_hosts:
            return True
        name = host_name(value.lower())
        if not is_loopback(name) and not any(fnmatchcase(name, h) for h in self._hosts):
            return False
        if len(self._known_hosts) < _REMEMBERED:
            self._known_hosts.add(value)
        return True

    def _origin_ok(self, value: str) -> bool:
        low = value.lower().rstrip("/")
        scheme, mark, rest = low.partition("://")
        if mark and scheme in ("http", "https") and is_loopback(host_name(rest)):
            return True
        return any(fnmatchcase(low, o) for o in self._origins)


def host_name(value: str) -> str:
    """Take the port off an authority: `[::1]:80` and `localhost:80` give `::1`, `localhost`."""
    if value.startswith("["):
        name, _, rest = value[1:].partition("]")
        return name if not rest or (rest[0] == ":" and rest[1:].isdigit()) else value
    name, colon, port = value.rpartition(":")
    return name if colon and port.isdigit() else value


def is_loopback(name: str) -> bool:
    """Tell whether a host name or address can only mean this machine."""
    if name in ("localhost", "localhost.") or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
