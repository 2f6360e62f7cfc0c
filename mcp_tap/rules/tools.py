"""Tools: what servers list, and what they give back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcp_tap.core import schemas
from mcp_tap.core.facts.message import Message, is_masked
from mcp_tap.core.records import pointer
from mcp_tap.core.text import brief
from mcp_tap.core.values import short
from mcp_tap.rules.base import ALL, RECENT, Hit, Hits, rule

MOST_TOOLS: Final = 2048
"""Tools looked at in one result."""
MOST_WALKED: Final = 20_000
"""Values looked at in the schemas of one result."""
EACH: Final = 10
"""What a schema costs beside its values."""
LONGEST_NAME: Final = 128
_ALLOWED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")


def _tools(m: Message) -> Iterator[tuple[int, dict[str, Any]]]:
    tools = m.result.get("tools") if m.result is not None else None
    for index, tool in enumerate(tools[:MOST_TOOLS] if type(tools) is list else ()):
        if type(tool) is dict:
            yield index, tool


@rule(
    "TOOL-001",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/server/tools#tool",
    on="result tools/list",
    versions=ALL,
)
def input_schema_not_object(m: Message) -> Iterator[Hit]:
    """A tool's `inputSchema` is missing, or not the schema of an object.

    It must be an object whose `type` is `object` and nothing else: arguments always come as one.
    Whatever stands beside it is free, and an `outputSchema` may be of any type.
    """
    for index, tool in _tools(m):
        schema = tool.get("inputSchema")
        if type(schema) is dict and schema.get("type") == "object":
            continue
        name = brief(tool.get("name"), 60)
        path = f"/result/tools/{index}"
        if "inputSchema" not in tool:
            yield Hit(f"server lists tool {name} without an inputSchema", path, "inputSchema")
        elif type(schema) is not dict:
            words = f"server lists tool {name} with an inputSchema that is {brief(schema, 20)}"
            yield Hit(words, path + "/inputSchema")
        elif not is_masked(schema.get("type")):
            words = f'server lists tool {name} with an inputSchema whose type is not "object"'
            yield Hit(words, path + "/inputSchema", "type")


@rule(
    "TOOL-002",
    severity="note",
    level="should",
    blames="server",
    spec="specification/2026-07-28/server/tools#tool-names",
    on="result tools/list",
    versions=RECENT,
)
def tool_name_format(m: Message) -> Iterator[Hit]:
    """A tool's name is empty, longer than 128 characters, or not made of A-Z a-z 0-9 _ - and dots.

    Many clients and models take no other names.  It is advice only: any name works on the wire.
    """
    for index, tool in _tools(m):
        name = tool.get("name")
        if type(name) is not str or is_masked(name):
            continue
        if not name:
            why = "an empty name"
        elif len(name) > LONGEST_NAME:
            why = f"a name of {len(name)} characters"
        elif not _ALLOWED.issuperset(name):
            why = f"the name {brief(name, 60)}"
        else:
            continue
        yield Hit(f"server lists a tool with {why}", f"/result/tools/{index}/name")


@rule(
    "TOOL-003",
    severity="warning",
    level="should",
    blames="server",
    spec="specification/2026-07-28/server/tools#tool-names",
    on="result tools/list",
    versions=ALL,
)
def duplicate_tool_name(m: Message) -> Iterator[Hit]:
    """Two tools of one listing have the same name.

    A call can mean only one of them.  Pages count together as far as they are one listing, cursor
    by cursor, and nothing was said to have changed in between; two listings are never compared.
    Names that differ in letter case are different names.
    """
    seen = m.flow.seen
    cursor = m.request.params.get("cursor") if m.request is not None else None
    page = seen.listings.page("tools/list", cursor)
    earlier: list[frozenset[str | bytes]] = []
    while page is not None and page.changes == seen.tools.changes:
        earlier.append(page.names)
        page = page.before
    names: set[str] = set()
    for index, tool in _tools(m):
        name = tool.get("name")
        if type(name) is not str or is_masked(name):
            continue
        if name in names or any(short(name) in page_names for page_names in earlier):
            words = f"server lists tool {brief(name, 60)} twice"
            yield Hit(words, f"/result/tools/{index}/name")
        names.add(name)


@rule(
    "TOOL-004",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/server/tools#output-schema",
    on="result tools/call",
    versions=RECENT,
)
def structured_content_violates_output_schema(m: Message) -> Hits:
    """A tool with an output schema gives no `structuredContent`, or one that does not fit it.

    The definition is the one this client was shown last, and is not judged by once the server has
    said that its tools changed.  Errors of the tool, rounds that ask, and handles of tasks need
    none.  Schemas that cannot be used without fetching something, that are no schemas, or that
    would cost too much to judge by, are left alone; `format` is taken for a hint.
    """
    request, result = m.request, m.result
    if request is None or result is None:
        return None
    tools = m.flow.seen.tools
    tool = tools.of(request) if tools.any else None
    if tool is None or tool.output is None or not tools.is_fresh(tool) or not _is_done(m, result):
        return None
    return _structured(result, tool.output, brief(request.params.get("name"), 60))


def _is_done(m: Message, result: dict[str, Any]) -> bool:
    """Tell whether a result is what the tool gives in the end."""
    if result.get("isError") is True or "task" in result:
        return False
    kind = result.get("resultType")
    return kind == "complete" or (kind is None and not m.flow.modern)


def _structured(result: dict[str, Any], schema: bytes, name: str) -> Hits:
    if "structuredContent" not in result:
        if not schemas.is_usable(schema):
            return None
        words = f"server gave no structuredContent for tool {name}, which has an outputSchema"
        return Hit(words, "/result", "structuredContent")
    flaw = schemas.misfit(schema, result["structuredContent"])
    if flaw is None:
        return None
    broken = f"breaks {brief(flaw.keyword, 40)} of" if flaw.keyword else "does not fit"
    words = f"server gave structuredContent for tool {name} that {broken} its outputSchema"
    return Hit(words, "/result/structuredContent" + pointer(*flaw.path), "structuredContent")


@rule(
    "TOOL-005",
    severity="warning",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic#schema-validation",
    on="result tools/list",
    versions=RECENT,
)
def tool_schema_unusable(m: Message) -> Iterator[Hit]:
    """A tool's `inputSchema` or `outputSchema` is no valid JSON Schema, or needs another document.

    Each is compared with the schema of its dialect: 2020-12, unless `$schema` names 2019-09 or
    draft-04, -06 or -07; other dialects are not judged.  A `$ref` to another document is a note:
    clients must not fetch it of themselves, and neither does this tap.
    """
    left = MOST_WALKED
    for index, tool in _tools(m):
        for member in ("inputSchema", "outputSchema"):
            schema = tool.get(member)
            path = f"/result/tools/{index}/{member}"
            what = f"server lists tool {brief(tool.get('name'), 60)} with an {member}"
            if type(schema) is not dict:
                if member == "outputSchema" and type(schema) in (str, int, float, list):
                    yield Hit(f"{what} that is no JSON Schema", path)
                continue
            shape = schemas.outline(schema) if left > 0 else None
            if shape is None:
                continue
            left -= shape.nodes + EACH
            flaw = schemas.flaw_of(schema)
            if flaw is not None:
                place = pointer(*flaw.path)
                yield Hit(f"{what} that is no valid JSON Schema", path + place)
            if shape.refs:
                words = f"{what} that refers to another document, {brief(shape.refs[0], 60)}"
                yield Hit(words, path, "$ref", severity="note")
