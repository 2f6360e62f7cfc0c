"""Credentials and personal data where they must not be: results, logs, headers, request targets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from mcp_tap.core.facts.annotations import KEYWORD, annotations_in
from mcp_tap.core.facts.message import Message
from mcp_tap.core.forms import Field
from mcp_tap.core.model import Call
from mcp_tap.core.records import pointer
from mcp_tap.core.redact_names import folded, folded_all
from mcp_tap.core.redact_text import MARK
from mcp_tap.core.spec import TASKS_GET
from mcp_tap.core.text import brief
from mcp_tap.rules.base import ALL, RECENT, Hit, Hits, rule
from mcp_tap.rules.entries import entry_of
from mcp_tap.rules.keys import is_secret
from mcp_tap.rules.payment_forms import is_marked_payment
from mcp_tap.rules.secret_forms import is_marked_secret
from mcp_tap.rules.shapes import is_harmless, is_masked_text, is_placeholder, secret_in
from mcp_tap.rules.shapes_persons import email_in
from mcp_tap.rules.urls import pairs_of
from mcp_tap.rules.walk import Steps, texts_in

MOST_PROPERTIES: Final = 5_000
"""Properties looked at of one listing."""
MOST_MARKED: Final = 500
"""Those of them that are marked, and so are read."""
MOST_STEPS: Final = 64

_HANDED: Final = folded_all(("access_token", "refresh_token", "client_secret"))
"""Members that are a credential whatever their value looks like."""
_IN_TEXT: Final = re.compile(
    r"[\"']?\b(?:access_?token|refresh_?token|client_?secret)[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
    r"([^\s\"',;&}]{6,200})",
    re.IGNORECASE,
)
_ASSIGNED: Final = re.compile(
    r"(?<![A-Za-z])(?:password|passwd|pwd|secret|api_?key|access_?token|refresh_?token|auth_?token|"
    r"client_?secret)=[\"']?([^\s\"',;&]{4,200})",
    re.IGNORECASE,
)
_BLOCKS: Final = ("content", "contents", "messages")
"""Where `data` and `blob` are bytes in Base64, of pictures and files."""
_MARKS: Final = ("token", "secret")
_TOKENS: Final = folded_all(("access_token", "token", "api_key", "bearer"))
_MOST_IN_TEXT: Final = 100


@rule(
    "SEC-022",
    severity="error",
    level="heuristic",
    blames="server",
    spec="specification/2026-07-28/client/elicitation#understanding-the-distinction",
    on=("result tools/call", "result prompts/get", "result resources/read", "result tasks/get"),
    versions=RECENT,
)
def credential_returned_after_url_mode(m: Message) -> Hits:
    """After a url-mode interaction the server hands a credential to the client in its result.

    What a person entered on the server's page is the server's to keep: url mode exists so that the
    client never sees it.  Looked at are all texts, `structuredContent` and `_meta` of a result
    whose call had a link that was accepted, also where a task brings that result: values of
    well-known make (as in SEC-007), and members named `access_token`, `refresh_token` or
    `client_secret`.  Masked values, and sentences such as "token stored", are fine.
    """
    call = m.flow.call
    if call is None or m.result is None or m.result.get("resultType") == "input_required":
        return None
    return _handed(m) if _opened(call) else None


@rule(
    "SEC-025",
    severity="warning",
    level="should",
    blames="server",
    spec="specification/2026-07-28/server/tools#x-mcp-header",
    on="result tools/list",
    transports=("http",),
)
def header_mirrors_secret_parameter(m: Message) -> Hits:
    """A tool marks a sensitive parameter with `x-mcp-header`.

    The argument then travels in a header field, where proxies, gateways and their logs see it.
    Sensitive is what would be in a form: a secret or payment data, by the property's name, its
    `format: password`, its title or its description.
    """
    tools = m.result.get("tools") if m.result is not None else None
    if type(tools) is not list or not tools:
        return None
    marked = annotations_in(m)
    return _mirrored(tools, marked) if marked else None


@rule(
    "SEC-026",
    severity="warning",
    level="must",
    blames="server",
    spec="specification/2026-07-28/server/utilities/logging#security",
    on="server_notification notifications/message",
    versions=ALL,
)
def secret_in_log_message(m: Message) -> Hits:
    """A log notification contains a credential or personal data.

    Clients keep logs and show them.  Looked at is all of `data`: values of well-known make (as in
    SEC-007), members with the name of a secret and a value, `password=..` in a text, and e-mail
    addresses.  Masked values, and names without a value, are fine.
    """
    data = m.params.get("data")
    kind = type(data)
    if kind is not str and kind is not dict and kind is not list:
        return None
    return _logged(data)


@rule(
    "SEC-027",
    severity="error",
    level="must",
    blames="client",
    spec="specification/2026-07-28/basic/authorization#token-requirements",
    on=("request", "notification", "client_response"),
    versions=ALL,
    transports=("http",),
    steady=True,
)
def bearer_token_in_query(m: Message) -> Hits:
    """An access token is sent in the query string of the MCP endpoint.

    Request targets end up in logs and histories; a token belongs in the Authorization header.
    Found are the parameters `access_token`, `token`, `api_key` and `bearer` with any value, masked
    or not, and values of well-known make (as in SEC-007).  Said once a client and parameter.
    """
    path = m.flow.exchange.path
    if "?" not in path:
        return None
    return _in_target(m, path)


def _opened(call: Call) -> bool:
    """Tell whether a link was accepted in a call."""
    for round_ in call.rounds:
        for ask in round_.asks:
            if ask.kind == "url" and ask.action == "accept":
                return True
    return False


def _handed(m: Message) -> Iterator[Hit]:
    result: Any = m.result
    steps = ["result"]
    if m.method == TASKS_GET:
        result = result.get("result")
        steps.append("result")
    for path, name, text in texts_in(result, *steps):
        is_image = path[-1] in ("data", "blob") and path[len(steps)] in _BLOCKS
        if text and not is_image and (kind := _credential(name, text)) is not None:
            words = f"server hands the client {kind} after a link was opened for it"
            yield Hit(words, pointer(*path))


def _credential(name: str | None, text: str) -> str | None:
    if MARK in text:
        return None
    kind = secret_in(text)
    if kind is not None:
        return kind
    if name is not None and folded(name) in _HANDED:
        return None if is_harmless(text) else f"a member {brief(name, 40)}"
    if any(mark in text or mark.upper() in text for mark in _MARKS):
        for tries, found in enumerate(_IN_TEXT.finditer(text)):
            if tries >= _MOST_IN_TEXT:
                break
            if not (is_masked_text(found[1]) or is_placeholder(found[1]) or _is_word(found[1])):
                return "a credential with its name"
    return None


def _is_word(text: str) -> bool:
    """Tell a word of a sentence from a value: `access token: stored`."""
    return text.rstrip(".!)").isalpha() and len(text) < 16


def _mirrored(tools: list[Any], marked: dict[int, Any]) -> Iterator[Hit]:
    left, to_read = MOST_PROPERTIES, MOST_MARKED
    for index in marked:
        tool = tools[index]
        waiting: list[tuple[dict[str, Any], Steps]] = [
            (tool["inputSchema"], ("result", "tools", index, "inputSchema"))
        ]
        while waiting and left > 0:
            schema, steps = waiting.pop()
            properties = schema.get("properties")
            if type(properties) is not dict or len(steps) > MOST_STEPS:
                continue
            for name, value in properties.items():
                left -= 1
                if left <= 0:
                    break
                if type(value) is not dict:
                    continue
                path = (*steps, "properties", name)
                waiting.append((value, path))
                if KEYWORD not in value or to_read <= 0:
                    continue
                to_read -= 1
                if _is_sensitive(name, value):
                    words = f"server mirrors {brief(name, 40)} of tool "
                    words += f"{brief(tool.get('name'), 40)}, which is sensitive, into a header"
                    yield Hit(words, pointer(*path), spot=name)


def _is_sensitive(name: str, schema: dict[str, Any]) -> bool:
    entry = entry_of(Field(name, schema))
    return entry is not None and (is_marked_secret(entry) or is_marked_payment(entry))


def _logged(data: Any) -> Iterator[Hit]:
    for path, name, text in texts_in(data, "params", "data"):
        if not text or MARK in text:
            continue
        what = secret_in(text)
        if what is None and name is not None and is_secret(name):
            what = None if is_harmless(text) else f"a value for {brief(name, 40)}"
        if what is None and "=" in text and _assigns(text):
            what = "a credential with its name"
        if what is None and "@" in text and email_in(text):
            what = "an e-mail address"
        if what is not None:
            yield Hit(f"server logs {what}", pointer(*path))


def _assigns(text: str) -> bool:
    for tries, found in enumerate(_ASSIGNED.finditer(text)):
        if tries >= _MOST_IN_TEXT:
            break
        if not is_harmless(found[1]):
            return True
    return False


def _in_target(m: Message, path: str) -> list[Hit]:
    if not m.flow.is_endpoint:
        return []
    found = []
    for name, value in pairs_of(path.partition("?")[2]):
        if not value:
            continue
        if folded(name.partition("[")[0]) in _TOKENS:
            what = "an access token"
        elif MARK not in value and (kind := secret_in(value)) is not None:
            what = kind
        else:
            continue
        words = f"client sends {what} in parameter {brief(name, 40)} of the request target"
        found.append(Hit(words, spot=name[:60], once=("client", name[:60])))
    return found
