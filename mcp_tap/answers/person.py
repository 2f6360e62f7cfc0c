"""A person answers a question: what is asked next, and what a typed line means.

A `Talk` is a state machine without a terminal: it says what is to be asked (`prompt`), takes the
line that was typed (`enter`), and at last has what the person said (`said`).

Rules of this file:

- Nothing is sent that was not looked at: a form ends with a review, a link is agreed to by a word.
- A field that was not touched and has no default is not sent.
- Every line may be a command instead (`:d` declines), wherever the person is.
- What is typed is held against the schema by the check that scripts undergo.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from mcp_tap.answers.entering import LEFT_OUT, Option, Refused, entered, options_of
from mcp_tap.answers.fill import NoAnswer, check_content
from mcp_tap.answers.question import EVERY, Question
from mcp_tap.core.forms import Field

Said: TypeAlias = dict[str, Any] | Literal["pass", "fail"]
"""An answer as it is sent; or that the client shall be asked, or that the call shall fail."""
Answers: TypeAlias = dict[str, dict[str, Any]] | Literal["pass", "fail"]
"""The answers of a round, by key; or what becomes of all of it."""
Where: TypeAlias = Literal["field", "text", "roots", "review", "consent"]
"""What is asked for: a value, lines of text, folders; whether to send it; a word of consent."""

END: Final = "."
"""The line that ends a text of several."""
MODEL: Final = "a person"
"""What is named as the model, where a person writes the text."""
ACCEPT: Final = "accept"
_WORDS: Final = {
    **dict.fromkeys(("a", "accept", "y", "yes"), ACCEPT),
    **dict.fromkeys(("e", "edit"), "edit"),
    **dict.fromkeys(("d", "decline"), "decline"),
    **dict.fromkeys(("c", "cancel"), "cancel"),
    **dict.fromkeys(("p", "pass"), "pass"),
    **dict.fromkeys(("f", "fail"), "fail"),
    **dict.fromkeys(("b", "back"), "back"),
    **dict.fromkeys(("?", "h", "help"), "help"),
}
_OMIT: Final = ":-"
"""The line that leaves a field out, also where it has a default."""
_ANYWHERE: Final = frozenset({"decline", "cancel", "pass", "fail", "back", "help"})


class Prompt(Struct, frozen=True, kw_only=True):
    """What is to be asked now."""

    where: Where
    field: Field | None = None
    required: bool = False
    options: Sequence[Option] = ()
    offer: Any = LEFT_OUT
    """What an empty line stands for: the default, or what was entered before."""
    note: str | None = None
    """Why the line before was not taken."""
    help: bool = False
    """The person asked what can be done."""
    commands: Sequence[str] = ()
    """Words that can be typed here; of `field`, `text` and `roots` after a colon."""


class Talk:
    """One question, and how far the person is with it."""

    def __init__(self, question: Question, *, root: Callable[[str], str] = str) -> None:
        """Begin.

        Args:
            question: what is asked.
            root: makes the URI of a folder that was typed; raises `Refused` where it is none.
        """
        self.question = question
        self._root = root
        self.form = question.form
        self.fields: list[Field] = list(self.form.fields.values())
        self.values: dict[str, Any] = {}
        """What was entered so far, `LEFT_OUT` where that was wanted."""
        self.lines: list[str] = []
        self.said: Said | None = None
        self._at = 0
        self._note: str | None = None
        self._help = False
        self._reviewing = not self.fields and question.ask not in ("sampling", "roots")

    @property
    def prompt(self) -> Prompt:
        """Say what is to be asked now."""
        where = self._where
        field = self.fields[self._at] if where == "field" else None
        return Prompt(
            where=where,
            field=field,
            required=field is not None and field.name in self.form.required,
            options=options_of(field) if field is not None else (),
            offer=self._offer(field) if field is not None else LEFT_OUT,
            note=self._note,
            help=self._help,
            commands=self._commands(where),
        )

    @property
    def content(self) -> dict[str, Any]:
        """What would be sent as the content of a form."""
        return {
            field.name: self.values[field.name]
            for field in self.fields
            if self.values.get(field.name, LEFT_OUT) is not LEFT_OUT
        }

    def enter(self, line: str) -> None:
        """Take a line that was typed, without its end."""
        self._note, self._help = None, False
        where, word = self._where, line.strip()
        bare = where in ("review", "consent")
        command = _WORDS.get(word.lower().removeprefix(":")) if bare or word[:1] == ":" else None
        if command is not None and (bare or command in _ANYWHERE):
            self._do(command)
        elif bare:
            self._choose(word)
        elif where == "field":
            self._take(self.fields[self._at], line)
        else:
            self._add(where, line)

    @property
    def _where(self) -> Where:
        ask = self.question.ask
        if ask in ("sampling", "roots"):
            return "review" if self._reviewing else "text" if ask == "sampling" else "roots"
        if self.fields:
            return "review" if self._reviewing else "field"
        return "consent"

    def _commands(self, where: Where) -> tuple[str, ...]:
        answerable = where in ("review", "consent") and self.question.ask in EVERY
        found = [ACCEPT] if answerable else []
        if where == "review":
            found.append("edit")
        found += ["fail"] if self._is_bare else ["decline", "cancel"]
        found += ["pass"] if self.question.declared else []
        if where == "field" and self._at:
            found.append("back")
        return tuple(found)

    @property
    def _is_bare(self) -> bool:
        """Its answer has no action: it can be given, or not."""
        return self.question.ask not in ("form", "url")

    def _do(self, command: str) -> None:
        if command == "help":
            self._help = True
        elif command == "back":
            self._back()
        elif command not in (*self._commands(self._where), "pass", "fail"):
            self._note = f"there is nothing to {command} here"
        elif command == ACCEPT:
            self._accept()
        elif command == "edit":
            self._at, self._reviewing, self.lines = 0, False, []
        elif command in ("decline", "cancel"):
            self.said = {"action": command}
        elif command == "pass" and not self.question.declared:
            self._note = "the client cannot be asked this: it never said that it can"
        else:
            self.said = "pass" if command == "pass" else "fail"

    def _choose(self, word: str) -> None:
        """Take what is none of the words, where one is wanted."""
        if not word and self._where == "review":
            self._accept()
            return
        self._note = "write one of the words, or its first letter"

    def _back(self) -> None:
        if self._reviewing and self.fields:
            self._reviewing = False
        elif self.lines:
            self.lines.pop()
        elif self._at:
            self._at -= 1

    def _accept(self) -> None:
        ask = self.question.ask
        if ask == "sampling":
            text = {"type": "text", "text": "\n".join(self.lines)}
            self.said = {
                "role": "assistant",
                "content": text,
                "model": MODEL,
                "stopReason": "endTurn",
            }
        elif ask == "roots":
            self.said = {"roots": [{"uri": uri} for uri in self.lines]}
        elif ask == "url":
            self.said = {"action": ACCEPT}
        else:
            self._note = _misfit(self.question, self.content)
            if self._note is None:
                self.said = {"action": ACCEPT, "content": self.content}

    def _offer(self, field: Field) -> Any:
        if field.name in self.values:
            return self.values[field.name]
        default = field.schema.get("default", LEFT_OUT)
        if default is None or default is LEFT_OUT or self._unfit(field, default) is not None:
            return LEFT_OUT
        return default

    def _take(self, field: Field, line: str) -> None:
        """Take a value for a field."""
        try:
            value = self._value(field, line)
        except Refused as error:
            self._note = str(error)
            return
        self.values[field.name] = value
        if self._at + 1 < len(self.fields):
            self._at += 1
        else:
            self._reviewing = True

    def _value(self, field: Field, line: str) -> Any:
        """Read a value, or that there is none; raise `Refused` where it cannot be."""
        word = line.strip()
        if word in ("", _OMIT):
            value = LEFT_OUT if word else self._offer(field)
            if value is LEFT_OUT and field.name in self.form.required:
                raise Refused("it is required")
            return value
        value = entered(field, line)
        why = self._unfit(field, value)
        if why is not None:
            raise Refused(why)
        return value

    def _add(self, where: Where, line: str) -> None:
        """Take a line of a text, or a folder."""
        if line.strip() == (END if where == "text" else ""):
            self._reviewing = True
            return
        if where == "text":
            self.lines.append(line)
            return
        try:
            self.lines.append(self._root(line.strip()))
        except Refused as error:
            self._note = str(error)

    def _unfit(self, field: Field, value: Any) -> str | None:
        """Say why a value does not fit its field, whatever else is entered."""
        alone = {"type": "object", "properties": {field.name: field.schema}}
        params = {"requestedSchema": alone}
        return _misfit(
            Question(key=self.question.key, ask="form", params=params), {field.name: value}
        )


def _misfit(question: Question, content: dict[str, Any]) -> str | None:
    """Say why a content does not fit its form; None where it does."""
    try:
        check_content(question, content)
    except NoAnswer as error:
        return error.why.removesuffix("; nothing was sent")
    return None
