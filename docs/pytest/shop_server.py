"""A small server of the official Python SDK, over stdio: it asks before it ships."""

from typing import Annotated

from mcp.server.mcpserver import AcceptedElicitation, Elicit, ElicitationResult, MCPServer, Resolve
from pydantic import BaseModel

server = MCPServer("shop", log_level="ERROR")


class Confirm(BaseModel):
    """What a person is asked."""

    proceed: bool


def confirm(service: str) -> Elicit[Confirm]:
    """Ask whether to go on."""
    return Elicit(f"Ship {service}?", Confirm)


@server.tool()
def deploy(service: str, answer: Annotated[ElicitationResult[Confirm], Resolve(confirm)]) -> str:
    """Ship a service, if that is confirmed."""
    if isinstance(answer, AcceptedElicitation) and answer.data.proceed:
        return f"{service} ships"
    return f"{service} stays"


if __name__ == "__main__":
    server.run("stdio")
