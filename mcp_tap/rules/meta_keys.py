"""The grammar of keys in `_meta`, and of the names of extensions."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from mcp_tap.core.facts.message import NONE
from mcp_tap.core.records import pointer
from mcp_tap.core.spec import (
    CLIENT_CAPABILITIES,
    META_CLIENT,
    META_LOG_LEVEL,
    META_SERVER,
    META_SUBSCRIPTION,
    META_VERSION,
)
from mcp_tap.core.text import brief
from mcp_tap.rules.base import RECENT, Hit, Hits, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_tap.core.facts.message import Message

_USUAL: Final = frozenset(
    {
        CLIENT_CAPABILITIES,
        META_CLIENT,
        META_LOG_LEVEL,
        META_SERVER,
        META_SUBSCRIPTION,
        META_VERSION,
        "progressToken",
        "traceparent",
        "tracestate",
        "baggage",
    }
)
_MOST_KEYS: Final = 1000
"""Keys looked at in one object."""
_MOST_NODES: Final = 5_000
"""Objects and arrays walked through in one message."""
_LONGEST: Final = 200
_MARK: Final = b'"_meta"'
_NOT_OURS: Final = frozenset(
    {
        "_meta",
        "arguments",
        "structuredContent",
        "inputSchema",
        "outputSchema",
        "requestedSchema",
        "experimental",
        "extensions",
        "data",
        "input",
        "metadata",
    }
)
"""Members whose insides belong to applications: a `_meta` in there is a word of theirs."""


@rule(
    "META-007",
    severity="warning",
    level="must",
    blames="sender",
    spec="specification/2026-07-28/basic#_meta",
    on=(
        "request",
        "notification",
        "client_response",
        "result",
        "server_request",
        "server_notification",
    ),
    versions=RECENT,
    steady=("request", "server_notification"),
    flat=("result",),
)
def invalid_meta_or_extension_key(m: Message) -> Hits:
    """A key in `_meta`, or the name of an extension, does not follow the grammar.

    A key is a name, perhaps after a prefix that ends in a slash.  The prefix is made of labels with
    dots between them, each of which begins with a letter and ends with a letter or a digit; the
    name begins and ends with a letter or a digit and may be empty.  An extension must have a
    prefix.  Keys beside the grammar may be dropped on the way, and may collide with others.

    All of `_meta` is looked at wherever the protocol has one, not what applications put into
    arguments, structured content or schemas.  Whether a prefix may be used by whom is not judged.
    """
    meta = m.meta
    usual = meta.keys() <= _USUAL
    if usual and not _has_more(m):
        return None
    found = [] if usual else list(_in_meta(m, meta, _top(m)))
    if m.flow.modern:
        found += _in_extensions(m)
    found += _nested(m)
    return found or None


def _top(m: Message) -> str:
    return "/result/_meta" if m.result is not None else "/params/_meta"


def _has_more(m: Message) -> bool:
    """Tell cheaply whether there is more to look at than the message's own `_meta`."""
    declared = m.meta.get(CLIENT_CAPABILITIES)
    if type(declared) is dict and "extensions" in declared:
        return True
    result = m.result
    if result is not None and "capabilities" in result:
        return True
    return _has_nested(m)


def _has_nested(m: Message) -> bool:
    if m.event == "request" and "inputResponses" not in m.params:
        return False  # nothing else in a request has a `_meta` of its own
    own = 1 if m.meta is not NONE else 0
    return m.record.payload().count(_MARK) > own


def _in_meta(m: Message, meta: dict[str, Any], path: str) -> Iterator[Hit]:
    for count, key in enumerate(meta):
        if count >= _MOST_KEYS:
            return
        if key in _USUAL or is_key(key):
            continue
        words = f"{m.sender} sent a key in _meta that breaks the grammar: {brief(key, 60)}"
        yield Hit(words, path + pointer(key[:_LONGEST]))


def _in_extensions(m: Message) -> Iterator[Hit]:
    places = []
    declared = m.meta.get(CLIENT_CAPABILITIES)
    if type(declared) is dict:
        path = "/params/_meta" + pointer(CLIENT_CAPABILITIES, "extensions")
        places.append((declared.get("extensions"), path))
    for top, holder in (("/result", m.result), ("/params", m.params)):
        found = holder.get("capabilities") if holder is not None else None
        if type(found) is dict:
            places.append((found.get("extensions"), f"{top}/capabilities/extensions"))
    for extensions, path in places:
        if type(extensions) is not dict:
            continue
        for count, name in enumerate(extensions):
            if count >= _MOST_KEYS:
                break
            if "/" in name and is_key(name):
                continue
            what = "breaks the grammar" if "/" in name else "lacks its prefix"
            words = f"{m.sender} declared an extension whose name {what}: {brief(name, 60)}"
            yield Hit(words, path + pointer(name[:_LONGEST]))


def _nested(m: Message) -> Iterator[Hit]:
    """Look into every `_meta` below the message's own."""
    if not _has_nested(m):
        return
    tops = (("/result", m.result), ("/params", m.params))
    todo: list[tuple[Any, str]] = [(node, path) for path, node in tops if node]
    walked = 0
    while todo and walked < _MOST_NODES:
        node, path = todo.pop()
        walked += 1
        if type(node) is list:
            todo += [
                (item, f"{path}/{index}")
                for index, item in enumerate(node[:_MOST_NODES])
                if type(item) is dict or type(item) is list
            ]
            continue
        own = node.get("_meta")
        if type(own) is dict and own is not m.meta:
            yield from _in_meta(m, own, f"{path}/_meta")
        todo += [
            (value, path + pointer(key))
            for key, value in node.items()
            if (type(value) is dict or type(value) is list)
            and key not in _NOT_OURS
            and len(key) <= _LONGEST
        ]


def is_key(key: str) -> bool:
    """Tell whether a key follows the grammar."""
    return _is_short_key(key) if len(key) <= _LONGEST else _follows(key)


@lru_cache(maxsize=2048)
def _is_short_key(key: str) -> bool:
    return _follows(key)


def _follows(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and not all(map(_is_label, prefix.split("."))):
        return False
    if not name:
        return bool(slash) or not key
    if not _is_alphanumeric(name[0]) or not _is_alphanumeric(name[-1]):
        return False
    return _is_alphanumeric(name.replace("-", "").replace("_", "").replace(".", ""))


def _is_label(label: str) -> bool:
    if not label or not label[0].isalpha() or not label[-1].isalnum():
        return False
    return label.replace("-", "").isalnum()


def _is_alphanumeric(text: str) -> bool:
    return text.isascii() and text.isalnum()
