"""From an entry's words to the answer that is sent.

Rules of this file:

- What cannot be answered raises `NoAnswer`: nothing half filled is ever sent.
- No text made here holds a value from the environment; errors name the variable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from mcp_tap.answers.generate import Chance, fits, generate
from mcp_tap.answers.question import Question
from mcp_tap.answers.script import OTHERS, FromDefault, FromEnv, Step, Value
from mcp_tap.core.contents import INVALID, faults
from mcp_tap.core.facts.flow import MODERN
from mcp_tap.core.facts.message import NONE, is_masked
from mcp_tap.core.forms import Form
from mcp_tap.core.records import pointer
from mcp_tap.core.schemas import MOST_BYTES, misfit
from mcp_tap.core.text import brief
from mcp_tap.core.wire import dumps
from mcp_tap.errors import ScriptError

if TYPE_CHECKING:
    from mcp_tap.answers.recall import Recording
    from mcp_tap.answers.script import Entry

MODEL: Final = "scripted"
"""What a sampling answer names where the script names no model."""
_TRUE_FALSE: Final = {"true": True, "false": False}


class NoAnswer(Exception):
    """An entry matched and yet there is nothing to send."""

    def __init__(
        self, code: str, what: str, *, spot: str = "", why: str = "", help: str = ""
    ) -> None:
        """Keep what `told` makes an error of.

        Args:
            code: stable short name.
            what: follows the name of the answer: `does not fit`.
            spot: place in the entry: `content.name`.
            why: the reason.
            help: one thing to do.
        """
        super().__init__(what)
        self.code = code
        self.what = what
        self.spot = spot
        self.why = why
        self.help = help

    def told(self, entry: Entry, ask: Question) -> ScriptError:
        """Say it of an entry and the ask it was to answer."""
        where = [entry.place, self.spot, f"for ask {brief(ask.key)} of {ask.place}"]
        return ScriptError(
            self.code,
            f"answer {brief(entry.name)} {self.what}",
            where=", ".join(part for part in where if part),
            why=self.why,
            help=self.help,
        )


def answer_to(
    ask: Question,
    step: Step,
    env: Mapping[str, str],
    recording: Recording | None,
    *,
    check: bool,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Make the answer to an ask.

    Args:
        ask: what is asked.
        step: what the entry says.
        env: the environment.
        recording: the capture it is filled from, where it is.
        check: compare content with the schema.

    Returns:
        The answer, and JSON pointers into it to what came from the environment.

    Raises:
        NoAnswer: there is none.
    """
    if step.text is not None:
        content = {"type": "text", "text": step.text}
        model = step.model or MODEL
        return {
            "role": "assistant",
            "content": content,
            "model": model,
            "stopReason": "endTurn",
        }, ()
    if step.roots is not None:
        named = [{"uri": r.uri} | ({"name": r.name} if r.name else {}) for r in step.roots]
        return {"roots": named}, ()
    recorded = _recorded(ask, step, recording) if "capture" in step.fill else None
    if ask.ask in ("sampling", "roots"):
        assert recorded is not None
        return recorded, ()
    action = step.action or (recorded or {}).get("action", "accept")
    if ask.ask == "url" or action != "accept":
        return {"action": action}, ()
    filling = _Filling(ask, step, env, (recorded or {}).get("content"))
    content = filling.content()
    if check:
        check_content(ask, content)
    return {"action": "accept", "content": content}, tuple(filling.secrets)


def check_content(ask: Question, content: dict[str, Any]) -> None:
    """Compare content with the form it is for.

    Raises:
        NoAnswer: it does not fit.
    """
    form = ask.form
    found = faults(form, content, MODERN)
    for flaw, each in found.items():
        if flaw in INVALID or (flaw == "unknown" and form.whole):
            raise _misfit(each[0].field, each[0].what)
    schema = ask.schema
    if schema is None:
        return
    try:
        data = dumps(schema)
    except (ValueError, TypeError, RecursionError):
        return
    flaw_found = misfit(data, content) if len(data) <= MOST_BYTES else None
    if flaw_found is not None:
        spot = str(flaw_found.path[0]) if flaw_found.path else ""
        raise _misfit(spot, f"the schema's {flaw_found.keyword} refuses what is there")


def _is_text(value: str) -> bool:
    """Tell a text from bytes that the system could not decode."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _misfit(field: str, what: str) -> NoAnswer:
    return NoAnswer(
        "answer-misfit",
        "does not fit the schema it was asked to fill",
        spot=f"content.{brief(field, 60).strip(chr(34))}" if field else "content",
        why=f"{what}; nothing was sent",
        help="check = false sends it anyway",
    )


def _recorded(ask: Question, step: Step, recording: Recording | None) -> dict[str, Any] | None:
    """Give what the capture has; None where other ways are left to fill a form."""
    found = recording.find(ask) if recording is not None else None
    if found is None:
        if ask.ask == "form" and len(step.fill) > 1:
            return None
        raise NoAnswer(
            "not-recorded",
            "finds nothing to say again",
            why=f"{step.capture} has no answer to ask {brief(ask.key)} of {ask.place}",
            help='fill = ["capture", "default"] goes on without it',
        )
    if ask.ask in ("sampling", "roots") and has_mask(found):
        raise NoAnswer("masked", "cannot be said again", why=f"{step.capture} has it masked")
    return found


def has_mask(value: Any) -> bool:
    """Tell whether anything in a value was masked."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
        elif is_masked(one):
            return True
    return False


class _Filling:
    """Fills one form."""

    def __init__(self, ask: Question, step: Step, env: Mapping[str, str], recorded: Any) -> None:
        self.secrets: list[str] = []
        self._ask = ask
        self._step = step
        self._env = env
        self._recorded: dict[str, Any] = recorded if isinstance(recorded, dict) else NONE
        self._form: Form = ask.form

    def content(self) -> dict[str, Any]:
        """Give the whole content."""
        written = self._step.content or {}
        found: dict[str, Any] = {}
        for name, value in written.items():
            if name != OTHERS:
                found[name] = self._value(name, value)
        others = written.get(OTHERS)
        for name in self._form.fields:
            if name in found:
                continue
            if others is None:
                value = self._filled(name)
            elif isinstance(others, FromDefault):
                value = self._default(name)
            else:
                value = self._value(name, others)
            if value is not None:
                found[name] = value
            elif name in self._form.required and (others is not None or self._step.fill):
                raise self._unfilled(name)
        return found

    def _value(self, name: str, value: Value) -> Any:
        """Give a value that is written down."""
        if isinstance(value, FromDefault):
            found = self._default(name)
            if found is None:
                raise NoAnswer(
                    "no-default",
                    "wants a default that the server does not offer",
                    spot=f"content.{name}",
                    why="the field has no default",
                )
            return found
        if not isinstance(value, FromEnv):
            return value
        text = self._env.get(value.variable)
        if text is None:
            raise NoAnswer(
                "env-missing",
                f"needs {value.variable}, which is not in the environment",
                spot=f"content.{name}",
                help=f"export {value.variable}=...",
            )
        if not _is_text(text):
            raise NoAnswer(
                "answer-misfit",
                f"needs {value.variable}, which is no UTF-8 in the environment",
                spot=f"content.{name}",
            )
        self.secrets.append(pointer("content", name))
        return self._typed(name, text)

    def _typed(self, name: str, text: str) -> Any:
        """Read a text of the environment as what its field takes; as text where it is none."""
        field = self._form.fields.get(name)
        kind = field.kind if field is not None else None
        if kind == "boolean":
            return _TRUE_FALSE.get(text.lower(), text)
        if kind == "array":
            return [part.strip() for part in text.split(",")]
        if kind in ("integer", "number"):
            for read in (int, float):
                try:
                    number = read(text)
                except ValueError:
                    continue
                return number if number - number == 0 else text
        return text

    def _default(self, name: str) -> Any:
        return self._form.fields[name].schema.get("default") if name in self._form.fields else None

    def _filled(self, name: str) -> Any:
        """Try the ways to fill a field in their order."""
        schema = self._form.fields[name].schema
        for way in self._step.fill:
            if way == "default":
                value = self._default(name)
            elif way == "capture":
                value = self._recorded.get(name)
                value = None if is_masked(value) else value
            else:
                chance = Chance(self._step.seed, self._ask.key * (not self._ask.pushed), name)
                value = generate(name, schema, chance)
            if value is not None and fits(name, schema, value):
                return value
        return None

    def _unfilled(self, name: str) -> NoAnswer:
        ways = self._step.fill or ("default",)
        why = {
            "default": "it has no default that fits",
            "generate": "nothing made up fits it",
            "capture": "the capture has no value that fits",
        }
        return NoAnswer(
            "cannot-fill",
            f"cannot fill {brief(name)}, which is required",
            why="; ".join(why[way] for way in ways),
            help=f"content = {{ {name} = ... }}",
        )
