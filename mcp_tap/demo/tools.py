"""The tools of the demo server: what they are called, what they ask and what they answer.

The one called `broken_export` breaks a rule on purpose; `server.py` has its fault.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from mcp_tap.demo.wire import CAPABILITIES_KEY

Json = dict[str, Any]


class MissingCapabilityError(Exception):
    """The tool has to ask something that the client did not declare it can be asked."""

    def __init__(self, required: Json) -> None:
        super().__init__("the client declared no such capability")
        self.required = required


class BadArgumentsError(Exception):
    """The arguments do not fit the tool's input schema."""


@dataclass(kw_only=True)
class Request:
    """One `tools/call`, taken apart for a tool."""

    params: Json
    seal: Callable[[Json, Json], str]
    facts: Json = field(default_factory=dict)
    """What the verified `requestState` says; empty on a first round."""
    progress: Callable[[float, float, str], Awaitable[None]] | None = None
    """Reports progress, if the client asked for it."""

    @property
    def arguments(self) -> Json:
        """The call's arguments."""
        return self.params.get("arguments") or {}

    def argument(self, name: str) -> str:
        """Read a required string argument."""
        value = self.arguments.get(name)
        if not isinstance(value, str):
            raise BadArgumentsError(f"argument {name!r} must be a string")
        return value

    def answer(self, key: str) -> Json | None:
        """Read the answer to an ask of the round before, None if there is none that makes sense."""
        answer = (self.params.get("inputResponses") or {}).get(key)
        sound = (
            isinstance(answer, dict)
            and answer.get("action") in {"accept", "decline", "cancel"}
            and isinstance(answer.get("content", {}), dict)
        )
        return answer if sound else None

    def ask(self, key: str, ask: Json, **facts: Any) -> Json:
        """End the round with one ask; the facts come back in the retry's `requestState`."""
        mode = ask["mode"]
        declared = self.params["_meta"][CAPABILITIES_KEY].get("elicitation")
        able = isinstance(declared, dict) and (
            mode in declared or (mode == "form" and not declared)
        )
        if not able:
            raise MissingCapabilityError({"elicitation": {mode: {}}})
        return {
            "resultType": "input_required",
            "inputRequests": {key: {"method": "elicitation/create", "params": ask}},
            "requestState": self.seal(self.params, facts),
        }

    def come_back(self, **facts: Any) -> Json:
        """End the round with a state and nothing to ask: the client retries when it likes."""
        return {"resultType": "input_required", "requestState": self.seal(self.params, facts)}


Tool = Callable[[Request], Awaitable[Json]]


def form(message: str, properties: Json, *required: str) -> Json:
    """Ask for a form to be filled in."""
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"mode": "form", "message": message, "requestedSchema": schema}


def say(text: str, **more: Any) -> Json:
    """Complete a call with one block of text."""
    return {"resultType": "complete", "content": [{"type": "text", "text": text}], **more}


async def lookup(request: Request) -> Json:
    """Answer at once."""
    service, region = request.argument("service"), request.arguments.get("region", "eu-north-1")
    found = {"service": service, "region": region, "version": "2026.7.1", "healthy": True}
    return say(f"{service} 2026.7.1 is healthy in {region}", structuredContent=found)


async def build(request: Request) -> Json:
    """Take a while, and report progress meanwhile."""
    steps = ("fetch", "compile", "test", "package")
    for number, step in enumerate(steps, 1):
        await asyncio.sleep(0.1)
        if request.progress:
            await request.progress(number, len(steps), step)
    return say(f"{request.argument('target')}: {len(steps)} steps done")


CONFIRM = {
    "proceed": {"type": "boolean", "title": "Go ahead"},
    "strategy": {
        "type": "string",
        "title": "Strategy",
        "oneOf": [
            {"const": "rolling", "title": "One machine after the other"},
            {"const": "blue-green", "title": "All at once, the old ones kept"},
        ],
        "default": "rolling",
    },
}
WINDOW = form(
    "When should it start?",
    {
        "start": {"type": "string", "enum": ["now", "tonight"], "default": "tonight"},
        "minutes": {"type": "integer", "title": "Longest it may take", "minimum": 5, "maximum": 90},
    },
    "start",
)


async def deploy(request: Request) -> Json:
    """Ask twice, one thing after the other."""
    service = request.argument("service")
    if request.facts.get("step") == "window":
        answer = request.answer("window")
        if answer is None:
            return request.ask("window", WINDOW, **request.facts)
        if answer["action"] != "accept":
            return say(f"{service} was left as it is")
        start = answer.get("content", {}).get("start")
        return say(f"{service} goes out {start}, {request.facts['strategy']}")
    answer = request.answer("confirm") if request.facts else None
    if answer is None:
        message = f"Roll {service} 2026.7.1 out to 12 machines?"
        return request.ask("confirm", form(message, CONFIRM, "proceed"), step="confirm")
    content = answer.get("content", {})
    if answer["action"] != "accept" or content.get("proceed") is not True:
        return say(f"{service} was left as it is")
    return request.ask("window", WINDOW, step="window", strategy=content.get("strategy", "rolling"))


RESERVE = form(
    "Укажите проект и количество серверов",
    {
        "project": {"type": "string", "title": "Проект", "minLength": 1, "maxLength": 40},
        "count": {"type": "integer", "title": "Количество", "minimum": 1, "maximum": 5},
    },
    "project",
    "count",
)


async def reserve(request: Request) -> Json:
    """Ask in Russian, for a text and a number with bounds."""
    answer = request.answer("request") if request.facts else None
    if answer is None:
        return request.ask("request", RESERVE, step="request")
    if answer["action"] != "accept":
        return say("Ничего не зарезервировано")
    content = answer.get("content", {})
    project, count = content.get("project"), content.get("count")
    if not isinstance(project, str) or not isinstance(count, int) or not 1 <= count <= 5:
        return request.ask("request", RESERVE, step="request")
    return say(f"Зарезервировано для «{project}»: {count}")


async def connect_registry(request: Request) -> Json:
    """Send the person to a page: what is typed there never passes client or tap."""
    answer = request.answer("consent") if request.facts else None
    if answer is None:
        visit = secrets.token_urlsafe(6)
        page = {
            "mode": "url",
            "message": "Sign in to the package registry in your browser",
            "url": f"https://registry.example.com/connect/{visit}",
        }
        return request.ask("consent", page, visit=visit)
    if answer["action"] != "accept":
        return say("The registry was not connected")
    return say("Agreed; the registry is connected once its page has been completed")


async def rollback(request: Request) -> Json:
    """Ask for a confirmation; the demo's client declines it."""
    answer = request.answer("confirm") if request.facts else None
    if answer is None:
        sure = {"sure": {"type": "boolean", "title": "I know what I lose"}}
        message = f"Roll {request.argument('service')} back and lose 14 minutes of orders?"
        return request.ask("confirm", form(message, sure, "sure"), step="confirm")
    done = answer["action"] == "accept" and answer.get("content", {}).get("sure") is True
    return say("Rolled back" if done else "Nothing was rolled back")


async def report(request: Request) -> Json:
    """Need no answer, only another round: the state carries how far the work is."""
    if not request.facts:
        return request.come_back(pages=3)
    return say(f"{request.facts['pages']} pages for {request.argument('month')}")


async def broken_export(request: Request) -> Json:
    """Complete as any other; its fault is added where results are written."""
    return say(f"exported as {request.arguments.get('format', 'csv')}")


@dataclass(frozen=True)
class Entry:
    """A tool and how it is listed."""

    run: Tool
    title: str
    description: str
    properties: Json = field(default_factory=dict)
    required: tuple[str, ...] = ()
    output: Json | None = None
    streams: bool = False

    def listing(self) -> Json:
        """Describe the tool as `tools/list` does."""
        schema = {
            "type": "object",
            "properties": self.properties,
            "required": list(self.required),
            "additionalProperties": False,
        }
        listed = {
            "name": self.run.__name__,
            "title": self.title,
            "description": self.description,
            "inputSchema": schema,
        }
        return listed if self.output is None else {**listed, "outputSchema": self.output}


def _text(title: str, **more: Any) -> Json:
    return {"type": "string", "title": title, **more}


FOUND = {
    "type": "object",
    "properties": {
        "service": {"type": "string"},
        "region": {"type": "string"},
        "version": {"type": "string"},
        "healthy": {"type": "boolean"},
    },
    "required": ["service", "region", "version", "healthy"],
}
_SERVICE = {"service": _text("Service")}

TOOLS: dict[str, Entry] = {
    entry.run.__name__: entry
    for entry in (
        Entry(
            build,
            "Build",
            "Builds a target and reports progress.",
            {"target": _text("Target")},
            ("target",),
            streams=True,
        ),
        Entry(
            connect_registry,
            "Connect registry",
            "Connects the package registry; asks for a visit to its page.",
        ),
        Entry(deploy, "Deploy", "Rolls a service out; asks twice.", _SERVICE, ("service",)),
        Entry(
            lookup,
            "Look up",
            "Says which version of a service runs.",
            {**_SERVICE, "region": _text("Region", **{"x-mcp-header": "Region"})},
            ("service",),
            output=FOUND,
        ),
        Entry(
            report,
            "Report",
            "Writes a report in two rounds without asking anything.",
            {"month": _text("Month")},
            ("month",),
        ),
        Entry(reserve, "Reserve", "Reserves machines; asks in Russian."),
        Entry(rollback, "Roll back", "Rolls a service back; asks first.", _SERVICE, ("service",)),
        Entry(
            broken_export,
            "Export, broken",
            "Breaks a rule on purpose: its result has no resultType.",
            {"format": _text("Format", enum=["csv", "json"])},
        ),
    )
}
