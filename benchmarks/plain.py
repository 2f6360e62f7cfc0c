"""The reference: a pass-through as one would write it with aiohttp, well, recording nothing.

python -m benchmarks.plain UPSTREAM      prints its port
"""

from __future__ import annotations

import sys

import aiohttp
from aiohttp import web
from multidict import CIMultiDict

from benchmarks.children import run_loop, until_ended

HOP_BY_HOP = {"connection", "keep-alive", "te", "transfer-encoding", "upgrade"}
SMALL = 256 << 10
"""Bodies up to this size are read whole, which is faster than streaming them."""


class Plain:
    """Passes requests on to one origin."""

    def __init__(self, origin: str, session: aiohttp.ClientSession) -> None:
        self._origin = origin
        self._session = session

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Pass one exchange through."""
        length = request.content_length
        body = await request.read() if length is None or length <= SMALL else request.content
        async with self._session.request(
            request.method,
            self._origin + request.raw_path,
            headers=_end_to_end(request.headers),
            data=body,
            allow_redirects=False,
        ) as upstream:
            headers = _end_to_end(upstream.headers)
            length = upstream.content_length
            if length is not None and length <= SMALL:
                return web.Response(
                    status=upstream.status, headers=headers, body=await upstream.read()
                )
            response = web.StreamResponse(status=upstream.status, headers=headers)
            await response.prepare(request)
            async for data in upstream.content.iter_any():
                await response.write(data)
            await response.write_eof()
            return response


def _end_to_end(headers: object) -> CIMultiDict[str]:
    kept: CIMultiDict[str] = CIMultiDict(headers)  # type: ignore[arg-type] # any mapping will do
    for name in HOP_BY_HOP:
        kept.popall(name, None)
    return kept


async def main() -> None:
    """Serve until the parent goes."""
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(total=None),
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),  # one client's cookies are not another's
        skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
    ) as session:
        app = web.Application(client_max_size=1 << 30)
        app.router.add_route("*", "/{path:.*}", Plain(sys.argv[1], session).handle)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
        print(runner.addresses[0][1], flush=True)
        await until_ended()
        await runner.cleanup()


if __name__ == "__main__":
    run_loop(main())
