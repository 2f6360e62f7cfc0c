"""Who answers for a test's client: its scripts, and what it says by `tap.answer`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcp_tap.answers.book import Book
from mcp_tap.answers.match import KEYS
from mcp_tap.answers.reading import load_table
from mcp_tap.cli.scripting import open_book
from mcp_tap.plugin.options import Options
from mcp_tap.proxy.answering.answering import Answering

NAME: Final = "tap.answer"


class Answers:
    """The answers of one test."""

    def __init__(self, options: Options) -> None:
        """Read the scripts.

        Raises:
            TapError: one cannot be read, or be meant.
        """
        self._book: Book = open_book(
            options.answers, unmatched=options.unmatched, advertise=options.advertise
        )
        self._wanted = bool(options.answers or options.unmatched)
        self._max_rounds = options.max_rounds
        self._said = 0
        self.answering: Answering | None = self._begin() if self._wanted else None

    def _begin(self) -> Answering:
        return Answering(self._book, max_rounds=self._max_rounds)

    def add(
        self, key: str | None, content: Mapping[str, Any] | None, words: dict[str, Any]
    ) -> None:
        """Take one more answer, which goes before all others.

        Raises:
            ScriptError: it cannot be meant.
        """
        match = dict(words.pop("match", {}))  # for "name", which is the answer's own here
        match |= {name: words.pop(name) for name in KEYS if name in words and name != "name"}
        if key is not None:
            match["key"] = key
        self._said += 1
        entry = {"name": f"{NAME} {self._said}", **words}
        if match:
            entry["match"] = match
        if content is not None:
            entry["content"] = dict(content)
        self._book.add(load_table({"answer": [entry]}, NAME))
        if self.answering is None:
            self.answering = self._begin()
        self.answering.renew()

    def unused(self) -> list[str]:
        """Name the answers that were never used."""
        return self._book.unused()
