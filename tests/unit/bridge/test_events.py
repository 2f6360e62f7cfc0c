from __future__ import annotations

from tests.bridges import bridged


async def test_events_that_are_no_messages_are_passed_over():
    async def handle(posted):
        return await posted.stream(
            b"retry: 50\nid: a\ndata:\n\n",
            b"event: endpoint\ndata: /messages\n\n",
            b"data: nonsense\n\n",
            b"retry: " + b"9" * 5000 + b'\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
        )

    async with bridged(handle) as client:
        client.ask(1, "x")
        assert await client.line() == b'{"jsonrpc":"2.0","id":1,"result":{}}'
