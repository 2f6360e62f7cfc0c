"""The gist of a result: what a line can show of it, read once, when it passes.

It is read for every result that passes, so it costs little, and it is kept as long as its call, so
it is small.
"""

from __future__ import annotations

from typing import Any, Final

from mcp_tap.core.model import Said

MOST_TEXT: Final = 400
"""Characters of a text that are kept."""
MOST_MEMBERS: Final = 8
_MOST_VALUE: Final = 40
_BLOCKS: Final = (("content", "block"), ("messages", "message"), ("contents", "content"))
"""Members that hold blocks, and what one of them is called."""
_UNTOLD: Final = frozenset(("resultType", "_meta", "ttlMs", "cacheScope", "requestState"))
"""Members that say nothing of what was asked, and the one that is never shown."""
NOTHING: Final = Said()


def said(result: Any, *, whole: bool = True) -> Said:
    """Read the gist of a result; of one that is not `whole` nothing can be told."""
    if type(result) is not dict or not whole:
        return NOTHING
    blocks = result.get("content")
    if type(blocks) is list and blocks:
        block = blocks[0]
        if type(block) is dict and type(text := block.get("text")) is str:  # nearly all of them
            return Said(text=text[:MOST_TEXT], more=len(blocks) - 1)
    for name, unit in _BLOCKS:
        blocks = result.get(name)
        if type(blocks) is list and blocks:
            return _first(blocks, unit)
    return Said(words=_members(result))


def _first(blocks: list[Any], unit: str) -> Said:
    block = blocks[0]
    if type(block) is dict and unit == "message":
        block = block.get("content")
    if type(block) is not dict:
        return Said(block=unit, more=len(blocks) - 1, unit=unit)
    text = block.get("text")
    if type(text) is str:
        return Said(text=text[:MOST_TEXT], more=len(blocks) - 1, unit=unit)
    kind = block.get("type") or block.get("mimeType")
    kind = kind[:_MOST_VALUE] if type(kind) is str else unit
    return Said(block=kind, more=len(blocks) - 1, unit=unit)


def _members(result: dict[str, Any]) -> tuple[str, ...]:
    words: list[str] = []
    for name, value in result.items():
        if name in _UNTOLD:
            continue
        if len(words) == MOST_MEMBERS:
            words.append("..")
            break
        words.append(_member(name[:_MOST_VALUE], value))
    return tuple(words)


def _member(name: str, value: Any) -> str:
    if type(value) is list:
        return f"{len(value)} {name}"
    if type(value) is dict:
        return f"{name} {{..}}" if value else f"{name} {{}}"
    if type(value) is str:
        cut = value[:_MOST_VALUE]
        return f'{name} "{cut}"' if cut == value else f'{name} "{cut}..'
    if value is None or type(value) is bool:
        return f"{name} {'null' if value is None else str(value).lower()}"
    return f"{name} {str(value)[:_MOST_VALUE]}"
