"""Sampling: what servers ask a client's model for, and what comes back."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from mcp_tap.core.facts.ask import Answer, Ask
from mcp_tap.core.facts.flow import MODERN
from mcp_tap.core.facts.message import NONE, is_masked
from mcp_tap.core.forms import is_number, json_type
from mcp_tap.core.text import brief
from mcp_tap.rules.base import RECENT, Hit, Hits, rule
from mcp_tap.rules.shown import has_shape

PAGE: Final = "specification/2026-07-28/client/sampling"
MOST_MESSAGES: Final = 5000
"""Messages of a history that are looked at."""
MOST_BLOCKS: Final = 10_000
"""Content blocks of a history, or of an answer, that are looked at."""

ROLES: Final = frozenset({"user", "assistant"})
MODES: Final = frozenset({"auto", "required", "none"})
PRIORITIES: Final = ("costPriority", "speedPriority", "intelligencePriority")


def _one_of(value: Any, words: frozenset[str]) -> bool:
    return type(value) is str and (value in words or is_masked(value))


def _blocks(content: Any, most: int = MOST_BLOCKS) -> list[dict[str, Any]]:
    """Give the blocks of a content, be it one or a list of them."""
    found = content[:most] if type(content) is list else [content]
    return [block for block in found if type(block) is dict]


@rule(
    "SAMP-001",
    severity="error",
    level="must",
    blames="server",
    spec=f"{PAGE}#tools-in-sampling",
    on="ask sampling",
)
def sampling_tools_undeclared(ask: Ask) -> Hits:
    """A sampling request uses tools although the client did not declare that it can.

    A client without `sampling.tools` has to refuse it, so the server gets nothing at all where a
    plain request would have been answered. Where sampling itself was not declared, that is what is
    reported.
    """
    params = ask.params
    if params.get("tools") is None and params.get("toolChoice") is None:
        return None
    declared = (ask.flow.capabilities or NONE).get("sampling")
    if ask.origin == "pushed" or type(declared) is not dict or "tools" in declared:
        return None
    used = "tools" if params.get("tools") is not None else "toolChoice"
    words = f"server uses {used} in a sampling request, and the client did not declare"
    return Hit(f"{words} sampling.tools", ask.at(used))


@rule(
    "SAMP-002",
    severity="warning",
    level="should",
    blames="server",
    spec=f"{PAGE}#capabilities",
    on="ask sampling",
)
def include_context_undeclared(ask: Ask) -> Hits:
    """A sampling request asks for context of servers, which the client does not offer.

    The values `thisServer` and `allServers` are deprecated, and a client that did not declare
    `sampling.context` ignores them: the model answers without what the server relied on. With the
    capability it is a note, since the values will go. `none` is what holds without the field.
    """
    value = ask.params.get("includeContext")
    if type(value) is not str or value not in ("thisServer", "allServers"):
        return None
    capabilities = ask.flow.capabilities
    at = ask.at("includeContext")
    sampling = (capabilities or NONE).get("sampling")
    if capabilities is None or (type(sampling) is dict and "context" in sampling):
        return Hit(f"server asks for the context {value}, a deprecated value", at, severity="note")
    words = f"server asks for the context {value}, and the client did not declare"
    return Hit(f"{words} sampling.context", at)


@rule(
    "SAMP-003",
    severity="error",
    level="must",
    blames="server",
    spec=f"{PAGE}#messages",
    on="ask sampling",
    versions=RECENT,
)
def sampling_request_malformed(ask: Ask) -> Hits:
    """A sampling request lacks messages or maxTokens, or has values outside their domain.

    Clients hand these on to a model's own interface, which refuses what it does not know. There
    are two roles, `user` and `assistant`; instructions go into `systemPrompt`. Priorities are from
    0 to 1, both included; tools are chosen by `auto`, `required` or `none`, or by nothing.  An
    input request without any params is MRTR-006.
    """
    if ask.params is NONE and ask.origin != "pushed":
        return None
    return chain(_message_faults(ask), _setting_faults(ask))


def _message_faults(ask: Ask) -> Iterator[Hit]:
    messages = ask.params.get("messages")
    if type(messages) is list:
        for index, message in enumerate(messages[:MOST_MESSAGES]):
            fault = _message_fault(message)
            if fault is not None:
                name, words = fault
                at = ask.at("messages", index, *([name] if name else []))
                yield Hit(f"server asks for sampling with a message {words}", at)
    elif not is_masked(messages):
        yield Hit("server asks for sampling without a list of messages", ask.at("messages"))


def _setting_faults(ask: Ask) -> Iterator[Hit]:
    params = ask.params
    tokens = params.get("maxTokens")
    if not is_number(tokens) and not is_masked(tokens):
        words = "without maxTokens" if tokens is None else f"with {json_type(tokens)} for maxTokens"
        yield Hit(f"server asks for sampling {words}", ask.at("maxTokens"))
    choice = params.get("toolChoice")
    if choice is not None and not is_masked(choice):
        mode = choice.get("mode") if type(choice) is dict else choice
        if type(choice) is not dict or ("mode" in choice and not _one_of(mode, MODES)):
            words = f"a toolChoice of {brief(mode, 40)} instead of auto, required or none"
            yield Hit(f"server asks for sampling with {words}", ask.at("toolChoice", "mode"))
    preferences = params.get("modelPreferences")
    if type(preferences) is dict:
        for name in PRIORITIES:
            value = preferences.get(name)
            if value is not None and not is_masked(value) and not _is_priority(value):
                words = f"server asks for sampling with a {name} that is not from 0 to 1"
                yield Hit(words, ask.at("modelPreferences", name))


def _message_fault(message: Any) -> tuple[str, str] | None:
    """Say which member of a message is wrong, and how."""
    if type(message) is not dict:
        return None if is_masked(message) else ("", "that is no object")
    role = message.get("role")
    if not _one_of(role, ROLES):
        if "role" not in message:
            return "role", "without a role"
        return "role", f"of the role {brief(role, 40)} instead of user or assistant"
    content = message.get("content")
    if content is None:
        return "content", "without content"
    if type(content) not in (dict, list) and not is_masked(content):
        return "content", f"whose content is {json_type(content)} instead of a block"
    return None


def _is_priority(value: Any) -> bool:
    return is_number(value) and 0 <= value <= 1


@rule(
    "SAMP-004",
    severity="error",
    level="must",
    blames="server",
    spec=f"{PAGE}#tool-result-messages",
    on="ask sampling",
    versions=RECENT,
)
def tool_result_sequence_invalid(ask: Ask) -> Hits:
    """The history of a sampling request breaks the order of tool uses and their results.

    All uses of one assistant message are answered by the next message: one of the user's with
    nothing in it but a result for each of them. The interfaces of models demand it, and refuse the
    whole request otherwise.

    One block and a list of one are the same. After the results the user may speak.
    """
    messages = ask.params.get("messages")
    if type(messages) is not list or not messages:
        return None
    return _out_of_order(ask, messages[:MOST_MESSAGES], len(messages) <= MOST_MESSAGES)


def _out_of_order(ask: Ask, messages: list[Any], whole: bool) -> Iterator[Hit]:  # noqa: FBT001
    known: set[str] = set()
    waiting: set[str] = set()
    asker = 0
    left = MOST_BLOCKS
    for index, message in enumerate(messages):
        content = message.get("content") if type(message) is dict else None
        role = message.get("role") if type(message) is dict else None
        blocks = _blocks(content, left)
        left -= len(blocks)
        if left <= 0:
            return
        results = [block for block in blocks if block.get("type") == "tool_result"]
        given = {use for block in results if type(use := block.get("toolUseId")) is str}
        mixed = role == "user" and bool(results) and len(results) < len(blocks)
        if mixed:
            words = "server mixes tool results with other content in a user message"
            yield Hit(words, ask.at("messages", index, "content"))
        elif waiting and (role != "user" or not (waiting <= given or any(map(is_masked, given)))):
            yield _unanswered(ask, asker, waiting - given)
        if any(not is_masked(use) and use not in known for use in given):
            words = "server sends a tool result for a tool use that is nowhere before it"
            yield Hit(words, ask.at("messages", index, "content"), spot="toolUseId")
        waiting = set()
        for block in blocks:
            use = block.get("id") if block.get("type") == "tool_use" else None
            if type(use) is str:
                known.add(use)
                if role == "assistant" and not is_masked(use):
                    waiting.add(use)
                    asker = index
    if waiting and whole:
        yield _unanswered(ask, asker, waiting)


def _unanswered(ask: Ask, index: int, missing: set[str]) -> Hit:
    count = len(missing)
    which = brief(min(missing), 40) if count == 1 else f"{count} of them"
    words = "server sends tool uses whose results are not all in the next message"
    return Hit(f"{words}: {which}", ask.at("messages", index, "content"))


@rule(
    "SAMP-005",
    severity="error",
    level="must",
    blames="client",
    spec=f"{PAGE}#result-fields",
    on="answer sampling",
    versions=RECENT,
)
def sampling_result_malformed(answer: Answer) -> Hits:
    """A sampling answer lacks role, content or model, or uses tools it was not allowed to.

    A server that gets a tool use it offered no tool for has nobody to hand it to. The name of the
    model tells it who is speaking. A tool of another name than those offered is a warning: models
    make names up.

    Why sampling stopped is optional, and may be any word.
    """
    value = answer.value
    if type(value) is not dict or answer.error:
        return None
    if answer.flow.band == MODERN and not has_shape(value, "sampling"):
        return None  # an answer of another kind
    return _answer_faults(answer, value)


def _answer_faults(answer: Answer, value: dict[str, Any]) -> Iterator[Hit]:
    role, content, model = value.get("role"), value.get("content"), value.get("model")
    if not _one_of(role, ROLES):
        yield _lacks(answer, "role", "a role", role)
    if type(content) not in (dict, list) and not is_masked(content):
        yield _lacks(answer, "content", "content", content)
    if type(model) is not str:
        yield _lacks(answer, "model", "the name of a model", model)
    uses = [block for block in _blocks(content) if block.get("type") == "tool_use"]
    if not uses:
        return
    params = answer.ask.params
    tools, choice = params.get("tools"), params.get("toolChoice")
    at = answer.at("content")
    if is_masked(tools):
        return
    if not tools:
        yield Hit("client answered sampling with a tool use, and was offered no tools", at)
        return
    if type(choice) is dict and choice.get("mode") == "none":
        yield Hit("client answered sampling with a tool use although toolChoice is none", at)
        return
    names = {tool.get("name") for tool in _blocks(tools) if type(tool.get("name")) is str}
    for block in uses:
        name = block.get("name")
        if type(name) is str and name not in names and not is_masked(name):
            words = f"client answered sampling with the tool {brief(name, 40)}, which it was not"
            yield Hit(f"{words} offered", at, spot="name", severity="warning")
            return


def _lacks(answer: Answer, name: str, what: str, value: Any) -> Hit:
    if value is None:
        words = f"client answered sampling without {what}"
    elif name == "role" and type(value) is str:
        words = f"client answered sampling in the role {brief(value, 40)}"
    else:
        words = f"client answered sampling with {json_type(value)} for {what}"
    return Hit(words, answer.at(name))
