"""Forms and links that servers ask for, for the tests of the rules about them."""

from __future__ import annotations

from typing import Any

from tests.cases import (
    CAPABILITIES,
    SESSION,
    answer,
    asking,
    call,
    exchange,
    form,
    handshake,
    post,
    stream,
    traffic,
)

MINE = tuple(f"ELIC-{n:03}" for n in (*range(1, 31), 49, 50, 51))
"""The rules about what is asked."""
CHOICE = [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]


def asked(entry: dict[str, Any], caps: Any = CAPABILITIES) -> dict[str, Any]:
    """Ask in a result."""
    return traffic(exchange(call(caps=caps), answer(asking({"q": entry}))))


def pushed(entry: dict[str, Any], version: str) -> dict[str, Any]:
    """Ask in a request of the server's, in a session."""
    request = {"jsonrpc": "2.0", "id": 9, **entry}
    reply = {"jsonrpc": "2.0", "id": 9, "result": {"action": "cancel"}}
    return traffic(
        *handshake(version),
        exchange(call(version=version, headers=SESSION), stream(request, open=True)),
        exchange(post(reply, SESSION, version=version), answer(status=202)),
    )


def field(**found: Any) -> dict[str, Any]:
    """Ask for one field, which is this."""
    return asked(form(f=found))


def old(version: str, **found: Any) -> dict[str, Any]:
    """Ask for one field in a session."""
    return pushed(form(f=found), version)
