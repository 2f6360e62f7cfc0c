"""What a person sees of a question: rows for the terminal.

Rules of this file:

- Whatever came over the wire is made harmless, and stands behind a bar or in a column of its own,
  so that it cannot pass for words of the tap's.
- A link is shown whole, as plain text, with its host once more by itself; nothing opens it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from mcp_tap.answers.entering import LEFT_OUT, Option
from mcp_tap.answers.person import END, Prompt, Talk
from mcp_tap.answers.question import Question
from mcp_tap.core.forms import Field
from mcp_tap.core.text import brief, cut, pad, plural, safe, width
from mcp_tap.core.wire import dumps
from mcp_tap.rules.urls import read_url
from mcp_tap.views.look import Glyphs, Row, wrapped

MOST_LINES: Final = 40
"""Lines of a text that are shown."""
MOST_CHARS: Final = 4000
"""Characters of a text that are shown."""
LONGEST_URL: Final = 16_384
"""Characters of a link that are shown."""
WIDE: Final = 78
WARNING: Final = "  warning: "
_NAME: Final = 24
"""Cells of a field's name at most, where it stands in a column."""
_FORMATS: Final = {
    "email": "an e-mail address",
    "uri": "a URL",
    "date": "a date, YYYY-MM-DD",
    "date-time": "a time, YYYY-MM-DDTHH:MM:SSZ",
}
_COMMANDS: Final = {
    "accept": "send it",
    "edit": "go through it again",
    "decline": "say no",
    "cancel": "walk away without an answer",
    "fail": "give no answer: the call fails",
    "pass": "let the client answer this round itself",
    "back": "one step back",
}


def question_rows(
    question: Question, glyphs: Glyphs, *, number: int, of: int, concerns: Sequence[str]
) -> Iterator[Row]:
    """Lay a question out: who asks, for what, which words, and what is dubious about it."""
    who = safe(question.server) if question.server else "the server"
    yield [("", "")]
    yield [(glyphs.rule * WIDE, "dim")]
    count = f"  ({number} of {of})" if of > 1 else ""
    yield [(cut(who, 40), "strong"), (" asks, for ", ""), (safe(question.place), ""), (count, "")]
    yield [("  ", ""), (cut(safe(question.key), 60), "ask"), (f" ({_kind(question)})", "")]
    yield from _told(question.params.get("message"), glyphs)
    if question.ask == "sampling":
        yield from _sampling(question, glyphs)
    elif question.ask == "url":
        yield from _link(question.url or "", glyphs)
    for concern in concerns:
        lines = wrapped(safe(concern), WIDE - len(WARNING))
        for row, line in enumerate(lines):
            yield [(" " * len(WARNING) if row else WARNING, "bad"), (line, "")]
    if question.ask == "form":
        yield from _fields(question)


def prompt_rows(talk: Talk, prompt: Prompt) -> Iterator[Row]:
    """Lay out what stands above the line that is typed."""
    if prompt.note is not None:
        yield [("  ", ""), (safe(prompt.note), "bad")]
    if prompt.help:
        yield from _help(prompt)
    elif prompt.note is None:
        yield from _explained(talk, prompt)


def label(prompt: Prompt) -> str:
    """Give the words before the cursor."""
    if prompt.field is not None:
        name = cut(safe(prompt.field.name), _NAME) + "*" * prompt.required
        if prompt.offer is LEFT_OUT:
            return f"{name}: "
        return f"{name} [{_offer(prompt)}]: "
    if prompt.where == "text":
        return "> "
    if prompt.where == "roots":
        return "folder: "
    words = ", ".join(prompt.commands)
    return f"{words}? [accept] " if prompt.where == "review" else f"{words}? "


def outcome_row(talk: Talk) -> Row:
    """Say what the person said."""
    said = talk.said
    if said == "pass":
        return [("  the client is asked", "wait")]
    if said == "fail":
        return [("  the call fails", "bad")]
    assert isinstance(said, dict)
    words = {"accept": "accepted", "decline": "declined", "cancel": "cancelled"}
    return [("  " + words.get(str(said.get("action")), "answered"), "answer")]


def _kind(question: Question) -> str:
    words = {"form": "form", "url": "link", "sampling": "a text from a model", "roots": "folders"}
    return words.get(question.ask, question.ask)


def _told(text: Any, glyphs: Glyphs) -> Iterator[Row]:
    """Quote a stranger's text, line by line."""
    if not isinstance(text, str) or not text:
        return
    lines = text[:MOST_CHARS].splitlines()
    for line in lines[:MOST_LINES]:
        yield [(f"  {glyphs.bar} ", "dim"), (safe(line), "")]
    left = len(text) - MOST_CHARS
    if left > 0 or len(lines) > MOST_LINES:
        yield [(f"  {glyphs.bar} ", "dim"), (f"{glyphs.more} (it goes on)", "dim")]


def _link(url: str, glyphs: Glyphs) -> Iterator[Row]:
    found = read_url(url)
    whole = safe(url[:LONGEST_URL])
    host = safe(found.written_host) if found is not None and found.host else ""
    start = _host_at(whole, host)
    end = start + len(host)
    pieces = [(whole[:start], ""), (whole[start:end], "strong"), (whole[end:], "")]
    yield [(f"  {glyphs.bar} ", "dim"), *pieces]
    if len(url) > LONGEST_URL:
        yield [(WARNING, "bad"), (f"{len(url) - LONGEST_URL} more characters follow", "")]
    if found is None or not found.host:
        return
    reads = ".".join(found.labels)
    note = f", which reads {safe(reads)}" if reads and reads != found.host.removesuffix(".") else ""
    yield [("  leads to ", ""), (safe(found.host), "strong"), (note, "bad" if note else "")]


def _host_at(url: str, host: str) -> int:
    """Find where the host of a link stands, not what looks like it before or behind."""
    start = url.find("//") + 2
    end = next((n for n in range(start, len(url)) if url[n] in "/?#\\"), len(url))
    found = url.find(host, max(start, url.rfind("@", start, end) + 1)) if host else -1
    return found if found >= 0 else len(url)


def _sampling(question: Question, glyphs: Glyphs) -> Iterator[Row]:
    params = question.params
    yield from _told(_prefixed("system", params.get("systemPrompt")), glyphs)
    messages = params.get("messages")
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict):
            content = message.get("content")
            for block in content if isinstance(content, list) else (content,):
                yield from _told(_prefixed(message.get("role"), _block(block)), glyphs)
    if isinstance(params.get("maxTokens"), int):
        yield [(f"  at most {params['maxTokens']} tokens", "dim")]
    tools = params.get("tools")
    if isinstance(tools, list) and tools:
        yield [
            (f"  {plural(len(tools), 'tool')} could be called; a person answers in words", "dim")
        ]


def _prefixed(role: Any, text: Any) -> str | None:
    return f"{role}: {text}" if isinstance(text, str) else None


def _block(block: Any) -> str | None:
    if not isinstance(block, dict):
        return None
    text = block.get("text")
    if isinstance(text, str):
        return text
    return f"[{block.get('type')}, {block.get('mimeType', 'of no named type')}]"


def _fields(question: Question) -> Iterator[Row]:
    form = question.form
    if not form.fields:
        return
    names = {name: cut(safe(name), _NAME) + "*" * (name in form.required) for name in form.fields}
    types = {name: type_words(field) for name, field in form.fields.items()}
    cells, room = (max(map(width, column.values())) for column in (names, types))
    for name, field in form.fields.items():
        yield [
            ("  ", ""),
            (pad(names[name], cells), "strong"),
            (f"  {pad(types[name], room)}", ""),
            _dim("  ", _text(field, "title")),
        ]
    if not form.whole:
        yield [(WARNING, "bad"), ("it has more fields than can be asked for here", "")]
    star = "* required.  " if form.required & form.fields.keys() else ""
    yield [(f"  {star}:d declines, :c cancels, :? says what else can be typed", "dim")]


def type_words(field: Field) -> str:
    """Say what can be entered: `whole number, 5 to 90`."""
    options = field.choices
    low, high = field.low, field.high
    if field.kind == "array":
        words = f"some of {len(options)}" if options else "several texts"
        return words + _range(low, high, "of them")
    if options:
        return f"one of {len(options)}"
    if field.kind == "boolean":
        return "yes or no"
    if field.kind in ("integer", "number"):
        return ("whole number" if field.kind == "integer" else "number") + _range(low, high)
    if field.kind == "string":
        words = _FORMATS.get(field.format or "", "text")
        return words + _range(low, high, "characters")
    return "of a type that forms do not have"


def _range(low: Any, high: Any, unit: str = "") -> str:
    unit = f" {unit}" if unit else ""
    if low is not None and high is not None:
        return f", {brief(low, 20)} to {brief(high, 20)}{unit}"
    if low is not None and (low or not unit):
        return f", at least {brief(low, 20)}{unit}"
    return f", at most {brief(high, 20)}{unit}" if high is not None else ""


def _explained(talk: Talk, prompt: Prompt) -> Iterator[Row]:
    if prompt.field is not None:
        yield from _field(prompt.field, prompt.options)
    elif prompt.where == "text" and not talk.lines:
        yield [(f"  write the text; a line with only {END} ends it", "dim")]
    elif prompt.where == "roots" and not talk.lines:
        yield [("  one folder a line, a path or a file:// URI; an empty line ends it", "dim")]
    elif prompt.where == "review":
        yield from _review(talk)
    elif prompt.where == "consent" and talk.question.ask == "url":
        yield [("  accept says yes; the link is not opened", "dim")]


def _field(field: Field, options: Sequence[Option]) -> Iterator[Row]:
    about = [text for text in (_text(field, "title"), _text(field, "description")) if text]
    words = type_words(field)
    yield [("", "")]
    yield [(cut(safe(field.name), _NAME), "ask"), (f"  {words}", ""), _dim("  ", ". ".join(about))]
    for number, option in enumerate(options, 1):
        value, title = cut(safe(option.value), 40), option.title
        named = _dim("  ", cut(safe(title), 60)) if title and title != option.value else ("", "")
        yield [(f"{number:>4} ", ""), (value, ""), named]
    if field.kind == "array":
        yield [("  several with commas between, [] for none", "dim")]


def _dim(before: str, text: str) -> tuple[str, str]:
    return (before + text, "dim") if text else ("", "")


def _text(field: Field, word: str) -> str:
    found = field.schema.get(word)
    return cut(safe(found), 200) if isinstance(found, str) else ""


def _review(talk: Talk) -> Iterator[Row]:
    yield [("", "")]
    if talk.question.ask in ("sampling", "roots"):
        yield [("  to be sent:", "dim"), ("" if talk.lines else " nothing", "")]
        for line in talk.lines:
            yield [("    ", ""), (safe(line), "strong")]
        return
    content = talk.content
    yield [("  to be sent:", "dim"), ("" if content else " an empty form", "")]
    names = {name: cut(safe(name), _NAME) for name in content}
    cells = max(map(width, names.values()), default=0)
    for name, value in content.items():
        yield [("    ", ""), (pad(names[name], cells), ""), ("  ", ""), (_json(value), "strong")]
    left = [safe(field.name) for field in talk.fields if field.name not in content]
    if left:
        yield [(f"  left out: {', '.join(left)}", "dim")]


def _offer(prompt: Prompt) -> str:
    value = prompt.offer
    for number, option in enumerate(prompt.options, 1):
        if option.value == value:
            return f"{number} {cut(safe(option.value), 30)}"
    if isinstance(value, bool):
        return "y" if value else "n"
    return cut(safe(value) if isinstance(value, str) else _json(value), 40)


def _json(value: Any) -> str:
    return safe(dumps(value).decode("utf-8", "replace"))


def _help(prompt: Prompt) -> Iterator[Row]:
    colon = "" if prompt.where in ("review", "consent") else ":"
    if prompt.field is not None:
        yield [("  empty line", "strong"), ("  what stands in [ ], else nothing", "")]
        yield [("  :-        ", "strong"), ("  leave the field out", "")]
        yield [('  "text"    ', "strong"), ('  as JSON writes it: "", ":d", "two\\nlines"', "")]
    for word in prompt.commands:
        key = f"{colon}{word[0]}".ljust(10)
        yield [(f"  {key}", "strong"), (f"  {word}: {_COMMANDS[word]}", "")]
