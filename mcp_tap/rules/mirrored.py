"""Headers that repeat what a request says: read once a request, for all rules on them.

Most requests are as they should be.  That is told by comparing a few strings, and all rules then
look up the same empty reading.
"""

from __future__ import annotations

from typing import Any, Final

from mcp_tap.core import spec
from mcp_tap.core.facts.annotations import PREFIX
from mcp_tap.core.facts.message import Message, is_masked
from mcp_tap.core.finding import Severity
from mcp_tap.core.mirrored import is_plain
from mcp_tap.core.records import pointer
from mcp_tap.core.text import brief
from mcp_tap.rules.base import Hit
from mcp_tap.rules.mirrored_form import Reading, check
from mcp_tap.rules.mirrored_params import read_params

NAMED: Final[dict[str, str]] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
}
"""Method -> the parameter `Mcp-Name` repeats."""

_VERSION: Final = spec.HEADER_VERSION
_METHOD: Final = spec.HEADER_METHOD
_NAME: Final = spec.HEADER_NAME
_DECLARED: Final = "/params/_meta" + pointer(spec.META_VERSION)
_MEMO: Final = "mirrored"
_CLEAN: Final[Reading] = {}


def reading(m: Message) -> Reading:
    """Give what is wrong with the headers of a request, by rule."""
    memo = m.flow.memo
    found: Reading | None = memo.get(_MEMO)
    if found is None:
        found = memo[_MEMO] = _read(m)
    return found


def was_read(memo: dict[str, Any]) -> Reading:
    """Give the reading of an exchange's request; empty where there is none."""
    found: Reading = memo.get(_MEMO, _CLEAN)
    return found


def version_hit(
    wrong: str, right: str, path: str = _DECLARED, severity: Severity | None = None
) -> Hit:
    """Say that the version in the header is not the one it has to be."""
    words = f"client sent MCP-Protocol-Version: {brief(wrong, 40)}, but {right}"
    return Hit(words, path, "MCP-Protocol-Version", severity=severity)


def other(values: list[str], wanted: str) -> str | None:
    """Give the first value that is not the wanted one."""
    return next((v for v in values if v != wanted and not is_masked(v)), None)


def _read(m: Message) -> Reading:
    fields = m.flow.fields
    method = m.method or ""
    key = NAMED.get(method)
    name = None if key is None else m.params.get(key)
    version = m.meta.get(spec.META_VERSION)
    calls = method == "tools/call"
    if (
        fields.get(_VERSION) == [version]
        and fields.get(_METHOD) == [method]
        and (key is None or (fields.get(_NAME) == [name] and is_plain(name)))
        and (key is not None or _NAME not in fields)
        and not (calls and _mirrors(m, fields))
    ):
        return _CLEAN
    found: Reading = {}
    if m.flow.head is None:
        return found
    _read_version(found, fields.get(_VERSION), version)
    _read_method(found, fields.get(_METHOD), method)
    if key is not None:
        _read_name(found, fields.get(_NAME), name, f"/params/{key}")
    elif method in spec.NAME_PARAM and _NAME in fields:
        name = m.params.get(spec.NAME_PARAM[method])
        check(found, "Mcp-Name", fields[_NAME], name, strict=False)
    if calls:
        read_params(found, m)
    return found or _CLEAN


def _mirrors(m: Message, fields: dict[str, list[str]]) -> bool:
    """Tell whether arguments of a call travel, or should travel, in headers."""
    if PREFIX in " ".join(fields):
        return True
    tool = m.flow.seen.tools.of(m)
    return tool is not None and bool(tool.mirrored)


def _read_version(found: Reading, values: list[str] | None, version: Any) -> None:
    if type(version) is not str or is_masked(version):
        wrong = other(values, values[0]) if values is not None else None
        if wrong is not None:
            words = "client sent MCP-Protocol-Version more than once, with different values"
            found["HDR-002"] = [Hit(words, spot="MCP-Protocol-Version")]
        return
    if values is None:
        words = f"client declared {brief(version, 40)}, but sent no MCP-Protocol-Version header"
        found["HDR-001"] = [Hit(words, _DECLARED, "MCP-Protocol-Version")]
        return
    wrong = other(values, version)
    if wrong is not None:
        found["HDR-002"] = [version_hit(wrong, f"declared {brief(version, 40)} in _meta")]


def _read_method(found: Reading, values: list[str] | None, method: str) -> None:
    if is_masked(method):
        return
    if values is None:
        words = f"client sent a request of method {brief(method, 60)} without an Mcp-Method header"
        found["HDR-003"] = [Hit(words, "/method", "Mcp-Method")]
        return
    wrong = other(values, method)
    if wrong is not None:
        words = (
            f"client sent Mcp-Method: {brief(wrong, 60)} with a request of method"
            f" {brief(method, 60)}"
        )
        found["HDR-004"] = [Hit(words, "/method", "Mcp-Method")]


def _read_name(found: Reading, values: list[str] | None, name: Any, path: str) -> None:
    if type(name) is not str:
        return
    if values is None:
        words = "client sent no Mcp-Name header, although the request names its target"
        found["HDR-005"] = [Hit(words, path, "Mcp-Name")]
        return
    if is_masked(name):
        return
    wrong = check(found, "Mcp-Name", values, name, path=path)
    if wrong is not None:
        words = f"client sent Mcp-Name: {brief(wrong, 80)}, but the request names {brief(name, 80)}"
        found["HDR-006"] = [Hit(words, path, "Mcp-Name")]
