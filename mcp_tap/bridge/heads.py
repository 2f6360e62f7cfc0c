"""The headers a message gets on its way to an HTTP server.

Sources: 2026-07-28, basic/transports/streamable-http#request-metadata; 2025-11-25,
basic/transports#protocol-version-header.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcp_tap.bridge.checks import JSON, STREAM
from mcp_tap.bridge.messages import Said
from mcp_tap.core.facts.annotations import Annotations, annotations_of
from mcp_tap.core.mirrored import argument, encoded
from mcp_tap.core.spec import META_VERSION, NAME_PARAM

VERSION: Final = "MCP-Protocol-Version"
SESSION: Final = "Mcp-Session-Id"
"""As they are written; `core.spec` has names of fields as they are compared."""
MOST_TOOLS: Final = 10_000
"""Tools of which it is remembered what travels in headers."""


class Tools(dict[str, Annotations | None]):
    """What is known of tools: which of their arguments travel in headers too."""

    def learn(self, answer: Said) -> None:
        """Take note of tools that were listed."""
        tools = answer.result.get("tools")
        for tool in tools if type(tools) is list else ():
            name = tool.get("name") if type(tool) is dict else None
            if type(name) is str:
                if len(self) >= MOST_TOOLS:
                    self.clear()
                schema = tool.get("inputSchema")
                self[name] = annotations_of(schema) if type(schema) is dict else None


def stateless_head(
    said: Said, version: str, tools: Mapping[str, Annotations | None]
) -> dict[str, str]:
    """Give the headers of a message of the stateless era.

    Args:
        said: the message.
        version: the revision of one that does not say it itself.
        tools: what is known of tools.
    """
    head = {"Accept": f"{JSON}, {STREAM}", "Content-Type": JSON, "Mcp-Method": said.method}
    head[VERSION] = str(said.meta.get(META_VERSION, version))
    name = said.params.get(NAME_PARAM.get(said.method, ""))
    if type(name) is str:
        head["Mcp-Name"] = encoded(name)
    if said.method == "tools/call":
        head |= dict(_mirrored(said.params.get("arguments"), tools.get(str(name))))
    return head


def session_head(session: str | None, version: str | None) -> dict[str, str]:
    """Give the headers of a message in a session, as far as one has begun."""
    head = {"Accept": f"{JSON}, {STREAM}", "Content-Type": JSON}
    if version is not None:
        head[VERSION] = version
    if session is not None:
        head[SESSION] = session
    return head


def _mirrored(arguments: Any, tool: Annotations | None) -> Iterator[tuple[str, str]]:
    for entry in () if tool is None else tool.mirrored:
        value = argument(arguments, entry.path)
        if type(value) in (str, bool, int, float):
            yield f"Mcp-Param-{entry.name}", encoded(value)
