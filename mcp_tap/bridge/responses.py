"""Responses of the HTTP front: the status of a server's answer, and the bridge's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from aiohttp import web

from mcp_tap.bridge.checks import JSON, STREAM, is_malformed
from mcp_tap.bridge.messages import Said, own_error, read
from mcp_tap.bridge.served import ENDED
from mcp_tap.bridge.streams import Part
from mcp_tap.core.spec import (
    CLIENT_CAPABILITIES,
    ERROR_STATUS,
    HEADER_MISMATCH,
    INITIALIZE,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    META_VERSION,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    UNSUPPORTED_VERSION,
)

MARK: Final = "Mcp-Tap-Error"
"""Names the fault in a response that is none of the server's."""
STREAM_HEAD: Final = {
    "Content-Type": STREAM,
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
}
_OF_THE_ERA: Final = frozenset({HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION})

StatusOf: TypeAlias = Callable[[Said], int]
"""Gives the status of an answer."""


class Refused(Exception):
    """A request gets a response of the bridge's own."""

    def __init__(
        self,
        status: int,
        name: str,
        why: str,
        *,
        about: Said | None = None,
        code: int = INTERNAL_ERROR,
    ) -> None:
        """Say why.

        Args:
            status: of the response.
            name: stable short name of the fault.
            why: in words.
            about: the message that is refused.
            code: JSON-RPC's code.
        """
        super().__init__(why)
        token = about.token("id") if about is not None and about.kind == "request" else None
        self.status = status
        self.name = name
        self.body = own_error(token, name, why, code=code)

    def response(self) -> web.Response:
        """Give the response."""
        head = {MARK: self.name}
        return web.Response(status=self.status, body=self.body, content_type=JSON, headers=head)


def whole(part: Part, status_of: StatusOf, head: Mapping[str, str]) -> web.Response:
    """Give an answer that nothing came before."""
    assert part.data is not None
    status = part.status
    if status is None:
        answer = read(part.data)
        status = 200 if answer is None else status_of(answer)
    marked = {**head, MARK: part.mark} if part.mark else head
    return web.Response(status=status, body=part.data, content_type=JSON, headers=marked)


def stateless_status(answer: Said) -> int:
    """Give the status of an answer in the stateless era."""
    return 200 if answer.code is None else ERROR_STATUS.get(answer.code, 200)


def older(part: Part | None) -> str | None:
    """Say how an older server, which does not know `server/discover`, took it; None for others.

    A client that speaks both eras goes by the status 400 and an error that is none of the newer
    era (2026-07-28, basic/transports/streamable-http#backward-compatibility).

    Args:
        part: what came first; None: nothing, for long.
    """
    words = None
    if part is None:
        words = "the server says nothing to server/discover"
    elif part.mark == ENDED:
        words = "the server ends when it is asked server/discover"
    elif part.last and part.data is not None:
        answer = read(part.data)
        if answer is not None and answer.code not in (None, *_OF_THE_ERA):
            words = f"the server answers server/discover with the error {answer.code}"
    return words and f"{words}; it may be one of sessions"


def see_era(said: Said) -> None:
    """Refuse what could make the process, which serves all clients, one of the session era.

    Raises:
        Refused: the request lacks what each must have, or begins a session.
    """
    if is_malformed(said):
        words = f"params._meta has to have {META_VERSION} and {CLIENT_CAPABILITIES}"
        raise Refused(400, "malformed", words, about=said, code=INVALID_PARAMS)
    if said.method == INITIALIZE:
        words = f"revision {said.meta[META_VERSION]} has no {INITIALIZE}"
        raise Refused(404, "no-method", words, about=said, code=METHOD_NOT_FOUND)


def session_status(_: Said) -> int:
    """Give the status of an answer in the session era."""
    return 200


async def without_type(_: web.Request, response: web.StreamResponse) -> None:
    """Take off what aiohttp says of the content of a response that has none."""
    if isinstance(response, web.Response) and not response.body:
        response.headers.popall("Content-Type", None)
