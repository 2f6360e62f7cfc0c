"""Drafting what an entry says: the answer a client gave, or one that is made up."""

from __future__ import annotations

import re
from typing import Any, Final

from msgspec import Struct

from mcp_tap.answers import toml
from mcp_tap.answers.fill import NoAnswer, check_content
from mcp_tap.answers.generate import Chance, fits, generate
from mcp_tap.answers.question import Question
from mcp_tap.core.facts.message import is_masked

_NAME: Final = re.compile(r"[^A-Za-z0-9]+")


class Draft(Struct, kw_only=True):
    """What an entry says."""

    members: dict[str, Any]
    notes: list[str] = []
    """Comments to stand above it."""
    misfit: bool = False
    """It does not fit the schema, and was sent nevertheless."""


class Names:
    """Names that are used once: of entries, and of variables for what was masked."""

    def __init__(self, end: str = "") -> None:
        """Begin with none; names of entries get that end."""
        self._end = end
        self._entries: set[str] = set()
        self._variables: dict[str, str] = {}

    def entry(self, wanted: str) -> str:
        """Give a name for an entry."""
        return self._free(wanted + self._end, self._entries, " ({})")

    def variable(self, field: str, masked: str) -> str:
        """Name a variable for a masked value; the same value has the same one."""
        known = next((name for name, mask in self._variables.items() if mask == masked), None)
        if known is not None:
            return known
        wanted = _NAME.sub("_", field).strip("_").upper() or "SECRET"
        if wanted[0].isdigit():
            wanted = "_" + wanted
        name = self._free(wanted, set(self._variables), "_{}")
        self._variables[name] = masked
        return name

    @staticmethod
    def _free(wanted: str, taken: set[str], form: str) -> str:
        name, number = wanted, 1
        while name in taken:
            number += 1
            name = wanted + form.format(number)
        taken.add(name)
        return name


def answered(
    question: Question, answer: dict[str, Any], names: Names, capture: str | None
) -> Draft:
    """Spell an answer; where no entry can, say it again from the capture."""
    if question.ask == "sampling":
        found = _sampling(answer)
    elif question.ask == "roots":
        found = _roots(answer)
    else:
        found = _elicited(question, answer, names)
    if found is not None:
        return found
    again: dict[str, Any] = {"fill": ["capture"], "capture": capture or "CAPTURE.jsonl"}
    notes = ["the answer cannot be spelled in a script; it is taken from the capture"]
    return Draft(members=again, notes=notes)


def _sampling(answer: dict[str, Any]) -> Draft | None:
    content, model = answer.get("content"), answer.get("model")
    if isinstance(content, list) and len(content) == 1:
        content = content[0]
    text = content.get("text") if isinstance(content, dict) else None
    if not isinstance(text, str) or not text or not _is_whole(text) or is_masked(text):
        return None
    members: dict[str, Any] = {"text": text}
    if isinstance(model, str) and model and _is_whole(model):
        members["model"] = model
    return Draft(members=members)


def _roots(answer: dict[str, Any]) -> Draft | None:
    roots = answer.get("roots")
    found = []
    for root in roots if isinstance(roots, list) else [None]:
        uri, name = (root.get("uri"), root.get("name")) if isinstance(root, dict) else (None, None)
        if not isinstance(uri, str) or not uri or not _is_whole(uri) or is_masked(uri):
            return None
        named = isinstance(name, str) and name and _is_whole(name)
        found.append({"uri": uri, "name": name} if named else {"uri": uri})
    return Draft(members={"roots": found})


def _elicited(question: Question, answer: dict[str, Any], names: Names) -> Draft | None:
    action = answer.get("action")
    if action in ("decline", "cancel"):
        return Draft(members={"action": action})
    if action != "accept":
        return None
    content = answer.get("content")
    if question.ask == "url" or not isinstance(content, dict):
        return Draft(members={"action": "accept"})
    members: dict[str, Any] = {}
    notes = []
    for name, value in content.items():
        if _masked_within(value):
            members[name] = {"env": names.variable(name, str(value))}
            notes.append(f"{members[name]['env']} was masked in the capture")
        elif value is None:
            notes.append(f"the client sent null for {name}, which is left out here")
        elif isinstance(value, dict):
            return None
        else:
            members[name] = value
        if not _is_writable(name, members.get(name, "")):
            return None
    misfit = False
    try:
        check_content(question, content)
    except NoAnswer as error:
        misfit = True
        notes.append(f"the client's answer did not fit the schema: {error.spot}")
    return Draft(members={"content": members}, notes=notes, misfit=misfit)


def _masked_within(value: Any) -> bool:
    return is_masked(value) or (isinstance(value, list) and any(map(is_masked, value)))


def _is_writable(name: str, value: Any) -> bool:
    try:
        toml.table({name: value})
    except toml.Unwritable:
        return False
    nested = isinstance(value, list) and any(isinstance(one, dict) for one in value)
    return not nested and name != "*"


def _is_whole(text: str) -> bool:
    return not any("\ud800" <= ch <= "\udfff" for ch in text)


def made_up(question: Question) -> Draft | None:
    """Draft an answer to what nobody has answered; None where there can be none."""
    note = "nobody answered this one"
    if question.ask == "form":
        form = question.form
        content = {}
        for name, field in form.fields.items():
            value = field.schema.get("default")
            if value is None or not fits(name, field.schema, value):
                value = generate(name, field.schema, Chance(0, question.key, name))
            if value is not None and _is_writable(name, value):
                content[name] = value
        notes = [note + ": these are defaults, and values that are made up"]
        return Draft(members={"content": content}, notes=notes)
    if question.ask == "url":
        return Draft(members={"action": "decline"}, notes=[note])
    if question.ask == "sampling":
        return Draft(members={"text": "..."}, notes=[note])
    if question.ask == "roots":
        return Draft(members={"roots": []}, notes=[note])
    return None
