"""What was not recorded: the nearest that was, and where it differs first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, Final

from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.redact_names import SECRET_PARAMETERS, folded, folded_all
from mcp_tap.core.text import safe
from mcp_tap.core.values import text_of
from mcp_tap.core.wire import UNPARSED, dumps
from mcp_tap.errors import CaptureError
from mcp_tap.replay.fitting import ABSENT, Difference, differences
from mcp_tap.replay.index import Index
from mcp_tap.replay.keys import matched, params_of
from mcp_tap.replay.server.matching import MOST_LOOKED_AT, Book, Given, Node

CODE: Final = "not-recorded"
NOT_RECORDED: Final = -31998
"""JSON-RPC error of a replay's own; JSON-RPC and MCP do not reserve it."""
_LONGEST: Final = 60
_SECRET: Final = folded_all(SECRET_PARAMETERS)
_MOST_DIFFERENCES: Final = 3
_FORWARD: Final = "--on-miss forward=URL asks a server"
_NOT_WHOLE: Final = "arguments were not recorded whole (--max-body)"


class Miss(Exception):
    """A request nobody recorded the answer of."""

    def __init__(self, error: CaptureError, nearest: Node | None = None) -> None:
        """Keep the words for people, and the recorded round that comes nearest."""
        super().__init__(error.what)
        self.error = error
        self.nearest = nearest

    @property
    def line(self) -> str:
        """All of it on one line, for the message of a JSON-RPC error."""
        why = f" ({self.error.why})" if self.error.why else ""
        return f"mcp-tap: {self.error.what}{why}"


class Misses:
    """Makes the words."""

    def __init__(self, index: Index, book: Book, *, lines: bool = False) -> None:
        """Compare with what an index holds; `lines`: there is no server to forward to."""
        self._index = index
        self._forward = () if lines else (_FORWARD,)
        self._book = book
        names = [capture.name for capture in index.captures]
        self._where = safe(names[0]) if len(names) == 1 else f"the set of {len(names)} captures"

    def call(self, given: Given) -> Miss:
        """Say that no call like this one was recorded."""
        return self._miss(f"has no call like {_shown(given)}", *self._nearest(given))

    def exhausted(self, given: Given) -> Miss:
        """Say that this call was recorded, but not so often."""
        nodes = self._book.by_target.get(given.target, ())
        return self._miss(
            f"has no further call like {_shown(given)}",
            "every recorded one has been served",
            nodes[-1] if nodes else None,
            help="--after-last repeat serves the last one again",
        )

    def answers(self, given: Given, after: Sequence[Node]) -> Miss:
        """Say that nobody was recorded who answered so."""
        what = f"has no round like {_shown(given)}"
        best: tuple[int, list[Difference], Node] | None = None
        for node in after:
            found = list(differences(self._book.answers(node) or {}, given.answers or {}))
            if found and (best is None or len(found) < best[0]):
                best = len(found), found, node
        if best is None:
            name = f"#{after[0].call.number}" if after else "the call"
            return self._miss(what, f"{name} was recorded without an answer to this", None)
        node = best[2]
        why = f"nearest is {self._place(node)}: answers differ: {_differ(best[1])}"
        return self._miss(what, why, node)

    def pushed(self, method: str | None, target: str | None, recorded: Any, given: Any) -> Miss:
        """Say that nobody was recorded who answered a pushed ask so."""
        found = [] if recorded is UNPARSED else list(differences(recorded, given))
        name = " ".join(text for text in (method, target) if text)
        why = f"nearest answer differs: {_differ(found)}" if found else "it was never answered"
        return self._miss(f"has no {safe(name)} that goes on after this answer", why, None)

    def cut(self, given: Given, node: Node | None) -> Miss:
        """Say that the answer was recorded, but not all of it."""
        return self._miss(
            f"does not hold all of the answer to {_shown(given)}",
            "it was longer than --max-body when it was recorded",
            node,
            help="record it again with a larger --max-body",
        )

    def unanswered(self, miss: Miss) -> Miss:
        """Say that the nearest was not answered either, so that there is nothing to serve."""
        error = miss.error
        why = f"{error.why}; no answer to it was recorded"
        return Miss(CaptureError(CODE, error.what, why=why, help="".join(self._forward)))

    def _miss(self, what: str, why: str, node: Node | None, help: str = "") -> Miss:
        if not help:
            nearest = () if node is None else ("--on-miss nearest serves that one",)
            help = "; ".join((*nearest, *self._forward))
        return Miss(CaptureError(CODE, f"{self._where} {what}", why=why, help=help), node)

    def _place(self, node: Node) -> str:
        capture = self._index.captures[node.call.capture]
        name = f"{safe(capture.name)} " if len(self._index.captures) > 1 else ""
        line = capture.source.line(node.round.request_seq)
        return f"{name}#{node.call.number} (line {line})"

    def _nearest(self, given: Given) -> tuple[str, Node | None]:
        nodes = self._book.by_target.get(given.target, ())
        if not nodes:
            return self._other_name(given)
        wanted = matched(given.value)
        best: tuple[int, list[Difference], Node] | None = None
        for node in _some(nodes):
            request = self._book.request(node)
            if request is UNPARSED:
                continue
            found = list(differences(matched(request), wanted))
            if best is None or len(found) < best[0]:
                best = len(found), found, node
        node = nodes[0] if best is None else best[2]
        how = _NOT_WHOLE if best is None else f"arguments differ: {_differ(best[1])}"
        same = "same method and name" if given.target[1] else "same method"
        return f"nearest is {self._place(node)}: {same}; {how}", node

    def _other_name(self, given: Given) -> tuple[str, Node | None]:
        method, name = given.target
        of_method = [target for target in self._book.by_target if target[0] == method]
        if not of_method:
            methods = sorted({str(target[0]) for target in self._book.by_target})
            near = get_close_matches(str(method), methods, 1, cutoff=0.0)
            if not near:
                return "no call is in it", None
            return f"nearest method is {safe(near[0])}; no {safe(str(method))} is in it", None
        names = [str(target[1]) for target in of_method if target[1] is not None]
        near = get_close_matches(str(name), names, 1, cutoff=0.0) or names[:1]
        if not near:
            return "its arguments differ", None
        node = self._book.by_target[method, near[0]][0]
        why = f"nearest is {self._place(node)}: same method; name {_value(name)}, recorded "
        return why + _value(near[0]), node


def error_of(miss: Miss, request_id: Any) -> bytes:
    """Make the JSON-RPC error that tells a client of a miss."""
    return dumps(
        {
            "jsonrpc": "2.0",
            "id": request_id,
            "error": {
                "code": NOT_RECORDED,
                "message": miss.line,
                "data": {"sender": "mcp-tap", "error": miss.error.code},
            },
        }
    )


def _some(nodes: Sequence[Node]) -> Iterable[Node]:
    """Take no more than can be looked at, without those that are equal."""
    seen: set[bytes | None] = set()
    for node in nodes:
        if node.call.key is not None and node.call.key in seen:
            continue
        seen.add(node.call.key)
        yield node
        if len(seen) >= MOST_LOOKED_AT:
            return


def _shown(given: Given) -> str:
    method, name = given.target
    arguments = params_of(given.value).get("arguments")
    words = [str(method), *([name] if name else [])]
    if type(arguments) is dict and arguments:
        words.append(text_of(_hidden(arguments)))
    if type(given.answers) is dict and given.answers:
        words.append(f"answering {', '.join(given.answers)}")
    return safe(_cut(" ".join(words), 4 * _LONGEST))


def _differ(found: list[Difference]) -> str:
    """Name the first spots that differ, each with both values."""
    words = []
    for difference in found[:_MOST_DIFFERENCES]:
        steps = [step for step in difference.steps if step not in ("params", "arguments")]
        secret = any(folded(str(step)) in _SECRET for step in steps)
        name = ".".join(map(str, steps)) or "the whole"
        given, recorded = (
            "***" if secret and value is not ABSENT else _value(value)
            for value in (difference.given, difference.recorded)
        )
        words.append(f"{safe(_cut(name, _LONGEST))} {given}, recorded {recorded}")
    if len(found) > _MOST_DIFFERENCES:
        words.append(f"and {len(found) - _MOST_DIFFERENCES} more")
    return "; ".join(words)


def _value(value: Any) -> str:
    if value is ABSENT:
        return "nothing"
    if is_masked(value):
        return "***"
    try:
        return safe(_cut(dumps(_hidden(value)).decode(errors="replace"), _LONGEST))
    except (ValueError, TypeError, RecursionError):
        return "?"


def _hidden(value: Any, depth: int = 0) -> Any:
    """Give a value without what has a secret's name, as deep as anybody gets to see."""
    if depth > _LONGEST:
        return "…"
    if type(value) is dict:
        return {
            key: "***" if folded(key) in _SECRET else _hidden(member, depth + 1)
            for key, member in value.items()
        }
    return [_hidden(item, depth + 1) for item in value] if type(value) is list else value


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
