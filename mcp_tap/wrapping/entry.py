"""One server's entry: seen, and the edits that put the tap in and take it out.

A stdio entry holds all that it was: the command and its arguments stand, token by token as they
were written, behind the `--` of the tap's own.

    "command": "npx",          "command": "/usr/bin/mcp-tap",
    "args": ["-y", "x"]        "args": ["stdio", "--label", "fs", "--", "npx", "-y", "x"]

An entry that had no `args` is told by `--label=fs` in one word: they are taken out whole again.
In an HTTP entry only scheme, host and port of the URL change; path and query stay.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal

from msgspec import Struct

from mcp_tap.core.splice import Edit
from mcp_tap.wrapping.notation import Items, Member, Notation, Path, gap

Kind = Literal["stdio", "http", "none"]

_PROGRAM: Final = re.compile(r"(?:.*[/\\])?mcp-tap(?:\.exe)?", re.IGNORECASE | re.DOTALL)
_ORIGIN: Final = re.compile(r"[\"']+(https?:(?:\\?/){2}[^/\\?#\s\"']+)", re.IGNORECASE)
_TAP: Final = re.compile(r"http://127\.0\.0\.1:(\d{1,5})(?![^/?#])")
_VARIABLE: Final = re.compile(r"[${}]")


class Unwrappable(ValueError):
    """The tap cannot be put into this entry, or not be taken out; the text says why."""


class Shape(Struct, frozen=True):
    """How a client writes a server's entry."""

    urls: tuple[str, ...] = ("url",)
    """Members that may hold the URL, the one that counts first."""
    url_first: bool = False
    """A URL counts even where there is a command."""


class Entry:
    """A server's entry, which is a table."""

    def __init__(self, doc: Notation, path: Path, shape: Shape) -> None:
        """Look at the entry at `path`.

        Raises:
            Unreadable: a member is named twice.
        """
        self.doc, self.path, self.name = doc, path, path[-1]
        value = at(doc.value, path)
        self.where, self._command = path, "command"
        if isinstance(value.get("command"), dict):  # as Zed once had it
            self.where, self._command = (*path, "command"), "path"
            value = value["command"]
        self.value: dict[str, Any] = value
        self._members = doc.members(self.where)
        url = next((name for name in shape.urls if isinstance(value.get(name), str)), "")
        stdio = isinstance(value.get(self._command), str)
        self._url = url if shape.url_first or not stdio else ""
        self.kind: Kind = "http" if self._url else "stdio" if stdio else "none"

    @property
    def words(self) -> list[str]:
        """Of a stdio entry: the command and its arguments."""
        args = self.value.get("args", [])
        if not isinstance(args, list) or not all(isinstance(word, str) for word in args):
            raise Unwrappable("its args are no list of texts")
        return [self.value[self._command], *args]

    @property
    def ours(self) -> int:
        """Of a stdio entry: how many of its words are the tap's."""
        words = self.words
        if not _PROGRAM.fullmatch(words[0]) or "--" not in words[1:-1]:
            return 0
        return words.index("--") + 1

    @property
    def url(self) -> str:
        """Of an HTTP entry: the URL."""
        url: str = self.value[self._url]
        return url

    @property
    def tap_port(self) -> int:
        """Of an HTTP entry: the port of this machine it leads to, as to a tap; else 0."""
        match = _TAP.match(self.url)
        return int(match[1]) if match else 0

    def put_in(self, program: str) -> tuple[list[Edit], dict[str, Any]]:
        """Put the tap before the command: the edits, and the members as they then are."""
        if self.name.startswith("-"):
            raise Unwrappable("its name begins like an option")
        doc, words = self.doc, self.words
        command, args = self._member(self._command), self._args()
        lead = ["stdio", "--label", self.name, "--"]
        if args is None:
            lead = ["stdio", f"--label={self.name}", "--"]
        tokens = [*map(doc.token, lead), doc.data[command.start : command.end]]
        edits = [Edit(command.start, command.end, doc.token(program))]
        if args is None:
            value = b"[" + b", ".join(tokens) + b"]"
            added = command.glue + doc.name("args") + doc.assign + value
            edits.append(Edit(command.end, command.end, added))
        elif args.items:
            first = args.items[0].start
            comma = b"," + gap(doc.data, args.start + 1, first)
            edits.append(Edit(first, first, comma.join(tokens) + comma))
        else:
            edits.append(Edit(args.start + 1, args.start + 1, b", ".join(tokens)))
        return edits, self.value | {self._command: program, "args": [*lead, *words]}

    def take_out(self) -> tuple[list[Edit], dict[str, Any]]:
        """Take the tap out of what is `ours`: the edits, and the members as they then are."""
        command, args, count, words = (
            self._member(self._command),
            self._args(),
            self.ours,
            self.words,
        )
        assert args is not None  # some of them are ours
        data, items = self.doc.data, args.items
        own = items[count - 1]  # the words count the command itself, the items do not
        first, behind = items[0].start, own.behind
        said = self.value | {self._command: words[count], "args": words[count + 1 :]}
        if count < len(items):
            behind = items[count].start
        elif any(word.startswith("--label=") for word in words[:count]):
            place = self._member("args")
            rest = data[args.start + 1 : first] + data[behind : args.end - 1]
            between = data[command.end : place.key]
            if not rest.strip() and (between == command.glue or between.strip() == b","):
                first, behind = command.end, args.end
                del said["args"]
        back = Edit(command.start, command.end, data[own.start : own.end])
        return [back, Edit(first, behind, b"")], said

    def origin(self) -> tuple[Edit, str]:
        """Find scheme, host and port in the URL: an edit that takes them out, and how they stand.

        JSON may have a backslash before each slash.
        """
        _, start, end, _ = self._member(self._url)
        token = self.doc.data[start:end].decode()
        match = _ORIGIN.match(token)
        if _VARIABLE.search(match[1] if match else self.url):
            raise Unwrappable("the host in its URL is a variable")
        origin, rest = (plain(match[1]), self.url[len(plain(match[1])) :]) if match else ("", "")
        if match is None or not self.url.startswith(origin) or rest[:1] not in ("", *"/?#"):
            raise Unwrappable("its URL has no host, or is written with escapes")
        if "@" in match[1]:
            raise Unwrappable("its URL has a user name or password in it")
        first = start + match.start(1)  # before it there are only quotes
        return Edit(first, first + len(match[1].encode()), b""), match[1]

    def with_origin(self, written: str) -> tuple[list[Edit], dict[str, Any]]:
        """Put another scheme, host and port there: the edit, and the members as they then are."""
        edit, before = self.origin()
        url = plain(written) + self.url[len(plain(before)) :]
        return [edit._replace(token=written.encode())], self.value | {self._url: url}

    def upstream(self, written: str) -> str:
        """Give the URL to start the tap with: this origin with the path of the URL.

        Query and variables are the client's matter: they come with its requests.
        """
        _, before = self.origin()
        path = re.split(r"[?#]", self.url[len(plain(before)) :], maxsplit=1)[0]
        return plain(written) + ("" if _VARIABLE.search(path) else path)

    def _member(self, name: str) -> Member:
        if name not in self._members:
            raise Unwrappable(f"its {name} is not written beside the rest of it")
        return self._members[name]

    def _args(self) -> Items | None:
        if "args" not in self.value:
            return None
        found = self.doc.items(self._member("args"))
        assert found is not None  # `words` has seen a list
        return found


def plain(written: str) -> str:
    """Read an origin as it stands in a file."""
    return written.replace("\\/", "/")


def at(value: Any, path: Path) -> Any:
    """Go to a value by the names that lead to it; None where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value
