"""The stateless era behind the HTTP front: one process for all clients.

Rules of this file (2026-07-28, basic/transports and basic/patterns):

- Clients choose ids and progress tokens as they like, and those of two may be equal: the server
  gets numbers in their place, and each client its own back.
- What a server says goes to the request it is about: progress by its token, what belongs to a
  subscription by the subscription's id.  A log message names no request: it goes to the one open
  request that asked for logs, or to the only one that is open.  What cannot be placed is dropped,
  and that is said.
- A client that goes away has cancelled its request; over stdio that is a notification.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Final

from mcp_tap.bridge.heads import Tools
from mcp_tap.bridge.messages import Path, Said, own_error
from mcp_tap.bridge.process import Gone
from mcp_tap.bridge.served import Open, Served, Ways
from mcp_tap.core.spec import (
    LIST_CHANGES,
    LISTEN,
    META_LOG_LEVEL,
    META_SUBSCRIPTION,
    METHOD_NOT_FOUND,
    NOTE_ACKNOWLEDGED,
    NOTE_CANCELLED,
    NOTE_LOG,
    NOTE_UPDATED,
)

_SUBSCRIBED: Final = frozenset({*LIST_CHANGES, NOTE_UPDATED, NOTE_ACKNOWLEDGED})
"""Notifications that belong to a subscription."""


class Shared(Served):
    """The process that serves the stateless era."""

    def __init__(self, command: Sequence[str], ways: Ways, ended: Callable[[Served], None]) -> None:
        """Prepare it."""
        super().__init__(command, ways, ended)
        self._numbers = count(1)
        self.tools = Tools()

    def ask(self, said: Said) -> Open:
        """Pass a request on."""
        number = next(self._numbers)
        token = b"%d" % number
        data = said.with_tokens({("id",): token, ("params", "_meta", "progressToken"): token})
        request = Open(number, said, said.token("id") or b"null")
        self.process.send(data)
        self.open[number] = request
        return request

    def left(self, request: Open) -> None:
        """Tell the server that the request is cancelled."""
        request.stream.drop()
        if request.key not in self.open:
            return
        self.close(request)
        self._cancel(b"%d" % request.key)

    def pass_on(self, said: Said) -> None:
        """Pass a notification on; one that cancels, where it is plain whose request it is about."""
        if said.method != NOTE_CANCELLED:
            self.process.send(said.data)
            return
        about = said.token("params", "requestId")
        meant = [request for request in self.open.values() if request.token == about]
        if len(meant) == 1:
            token = b"%d" % meant[0].key
            self.process.send(said.with_tokens({("params", "requestId"): token}))
            self.close(meant[0])
            meant[0].stream.end()

    def _cancel(self, token: bytes) -> None:
        params = b'{"requestId":%b,"reason":"the client closed the request"}' % token
        note = b'{"jsonrpc":"2.0","method":"%b","params":%b}' % (NOTE_CANCELLED.encode(), params)
        try:
            self.process.send(note)
        except Gone:
            return

    def _answer(self, request: Open, said: Said) -> bytes:
        if request.said.method == "tools/list":
            self.tools.learn(said)
        return said.with_tokens(
            {("id",): request.token, ("result", "_meta", META_SUBSCRIPTION): request.token}
        )

    def _progress(self, said: Said) -> bool:
        request = self._of(said.params.get("progressToken"))
        if request is None:
            return said.params.get("progressToken") in self._past
        token = request.said.token("params", "_meta", "progressToken")
        if token is not None:
            request.stream.put(said.with_tokens({("params", "progressToken"): token}))
        return token is not None

    def _other(self, said: Said) -> None:
        if said.kind == "request":
            self._refuse(said)
            return
        about = said.meta.get(META_SUBSCRIPTION)
        if said.method == NOTE_CANCELLED:
            about = said.params.get("requestId")
        if about is not None:
            request = self._of(about)
            if request is None:
                self._lose(said, known=about in self._past)
                return
            token = request.token
            places: dict[Path, bytes] = {("params", "_meta", META_SUBSCRIPTION): token}
            if said.method == NOTE_CANCELLED:
                places[("params", "requestId")] = token
            request.stream.put(said.with_tokens(places))
            if said.method == NOTE_CANCELLED:  # which ends the subscription
                self.close(request)
                request.stream.end()
            return
        request = self._only(said.method)
        if request is None:
            self._lose(said)
        else:
            request.stream.put(said.data)

    def _only(self, method: str) -> Open | None:
        """Give the one request that a notification which names none can be about."""
        subscribed = method in _SUBSCRIBED
        can = [r for r in self.open.values() if (r.said.method == LISTEN) == subscribed]
        if method == NOTE_LOG and len(can) > 1:
            can = [r for r in can if META_LOG_LEVEL in r.said.meta]
        return can[0] if len(can) == 1 else None

    def _of(self, key: Any) -> Open | None:
        return self.open.get(key) if type(key) is int else None

    def _lose(self, said: Said, *, known: bool = False) -> None:
        if not known:
            words = f"a {said.method} of the server names no request it could go to"
            self.ways.once("dropped", words)

    def _refuse(self, said: Said) -> None:
        """Answer a request of the server's, which nobody else may get in this era."""
        self.ways.once("server-request", f"the server asked {said.method}, which it may not")
        if not self.process.reads:
            return  # answers would pile up
        why = "servers send no requests in this revision"
        error = own_error(said.token("id"), "server-request", why, code=METHOD_NOT_FOUND)
        try:
            self.process.send(error)
        except Gone:
            return
