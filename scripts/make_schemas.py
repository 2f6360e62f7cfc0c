"""Write `mcp_tap/rules/data/schemas.json`: what messages of each revision must look like.

Made from the wire types of the `mcp-types` package, which are in turn made from the published
schema of each revision.  Run it after raising the version of that package (`make schemas`).

What it changes on the way, and why:

- An optional member of these types may also be null.  That is how Python says "absent"; the
  specification has no null there.
- A number is a `number`: the specification's TypeScript, which is normative, knows no integers.
- Members that rules of their own judge are left open here: `_meta`, `resultType`, `inputResponses`,
  `requestedSchema`, the content of an answer, and whether the caching hints are there.
- A union of objects told apart by their `type` becomes a choice by it: of a wrong content block one
  then learns what is wrong with it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mcp_types._v2025_11_25 as session_era
import mcp_types._v2026_07_28 as stateless_era
from mcp_types import methods
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

TARGET = Path(__file__).parent.parent / "mcp_tap" / "rules" / "data" / "schemas.json"
REVISIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
TABLES = {
    "request": methods.CLIENT_REQUESTS,
    "notification": methods.CLIENT_NOTIFICATIONS,
    "server_request": methods.SERVER_REQUESTS,
    "server_notification": methods.SERVER_NOTIFICATIONS,
    "result": methods.SERVER_RESULTS,
    "answer": methods.CLIENT_RESULTS,
}
"""The events of messages, as the rules call them; `answer`: a client's result (session era)."""

OBJECT = {"type": "object"}
OPEN: dict[str, Any] = {
    "_meta": OBJECT,
    "inputResponses": OBJECT,
    "requestedSchema": OBJECT,
    "resultType": True,
}
"""Member -> what is left of its schema."""
MAY_LACK = {"_meta", "resultType", "ttlMs", "cacheScope"}
MOST_VALUES = 100
"""Of a completion; older schemas say so in words only."""
ANYTHING = {"JSONValue", "JSONObject", "JSONArray"}
ANNOTATIONS = {"title", "description", "default", "examples", "format"}


def main() -> None:
    """Write the file."""
    eras: dict[str, Any] = {}
    revisions: dict[str, Any] = {}
    for revision in REVISIONS:
        era = session_era if revision < "2026" else stateless_era
        name = era.__name__.rsplit("_v", 1)[-1].replace("_", "-")
        if name not in eras:
            eras[name] = definitions(era)
        revisions[revision] = {"definitions": name} | {
            event: {
                method: subject(model, eras[name], result=event in {"result", "answer"})
                for (method, version), model in sorted(table.items(), key=lambda pair: pair[0])
                if version == revision
            }
            for event, table in TABLES.items()
        }
    for revision in revisions.values():
        for event in TABLES:
            revision[event] = {m: s for m, s in revision[event].items() if s is not None}
    for name, found in eras.items():
        used = {s for r in revisions.values() if r["definitions"] == name for s in roots(r)}
        eras[name] = {key: found[key] for key in sorted(reached(used, found))}
    data = {"definitions": eras, "revisions": revisions}
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    TARGET.write_text(text + "\n", encoding="utf-8")
    print(f"{TARGET}: {len(text)} bytes")


def definitions(era: Any) -> dict[str, Any]:
    """Give the schemas of all models of a module, by name."""
    models = [
        model
        for model in vars(era).values()
        if isinstance(model, type)
        and issubclass(model, BaseModel)
        and model.__module__ == era.__name__
    ]
    _, schema = models_json_schema([(model, "validation") for model in models])
    found = {name: plain(node) for name, node in schema["$defs"].items()}
    for name, node in found.items():
        adjust(name, node)
    return {name: choices(node, found) for name, node in found.items()}


def plain(node: Any) -> Any:  # noqa: C901 (one branch a keyword)
    """Take away what says nothing about validity, and null where it stands for absence."""
    if isinstance(node, list):
        return [plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("$ref", "").rpartition("/")[2] in ANYTHING:
        return True
    out: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            required = node.get("required", ())
            out[key] = {
                name: plain(member if name in required else present(member))
                for name, member in value.items()
            }
        elif key == "required":
            out[key] = [name for name in value if name not in MAY_LACK]
        elif key == "type" and value == "integer":
            out[key] = "number"
        elif key == "additionalProperties" and value is True:
            continue
        elif key not in ANNOTATIONS:
            out[key] = plain(value)
    if not out.get("required", True):
        del out["required"]
    if out.get("type") == "number" and "enum" in out:
        del out["type"]
    return out


def present(member: Any) -> Any:
    """Give the schema of an optional member that is there."""
    branches = member.get("anyOf") if isinstance(member, dict) else None
    if branches is None or {"type": "null"} not in branches:
        return member
    rest = [branch for branch in branches if branch != {"type": "null"}]
    return rest[0] if len(rest) == 1 else {**member, "anyOf": rest}


def adjust(name: str, node: dict[str, Any]) -> None:
    """Open what other rules judge."""
    properties = node.get("properties", {})
    for member, left in OPEN.items():
        if member in properties:
            properties[member] = left
    if name == "ElicitResult":
        properties["content"] = True
    if name == "Completion":
        properties["values"]["maxItems"] = MOST_VALUES


def choices(node: Any, found: dict[str, Any]) -> Any:
    """Make a choice by `type` of each union of objects that have a constant one."""
    if isinstance(node, list):
        return [choices(item, found) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: choices(value, found) for key, value in node.items()}
    branches = node.get("anyOf")
    if not branches or not all(isinstance(b, dict) and "$ref" in b for b in branches):
        return node
    names = [branch["$ref"].rpartition("/")[2] for branch in branches]
    types = [found[n].get("properties", {}).get("type", {}) for n in names]
    if not all(isinstance(t, dict) and "const" in t for t in types):
        return node
    del node["anyOf"]
    return node | {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"enum": sorted(t["const"] for t in types)}},
        "allOf": [
            {"if": {"properties": {"type": {"const": t["const"]}}}, "then": branch}
            for t, branch in zip(types, branches, strict=True)
        ],
    }


def subject(model: Any, found: dict[str, Any], *, result: bool) -> str | None:
    """Name the definition of a message's result, or of its params; None where it has none."""
    if result:
        arms = getattr(model, "__args__", None) or getattr(model, "__value__", model)
        arms = arms if isinstance(arms, tuple) else getattr(arms, "__args__", (arms,))
        names = [arm.__name__ for arm in arms if arm.__name__ != "InputRequiredResult"]
        assert len(names) == 1, names
        return str(names[0])
    params = found[model.__name__].get("properties", {}).get("params")
    if params is None or "anyOf" in params:
        assert model.__name__ == "ElicitRequest", (model, params)
        return None
    return str(params["$ref"].rpartition("/")[2])


def roots(revision: dict[str, Any]) -> set[str]:
    """Give the definitions a revision begins with."""
    return {name for event in TABLES for name in revision[event].values()}


def reached(names: set[str], found: dict[str, Any]) -> set[str]:
    """Give all definitions that are referred to from these."""
    seen: set[str] = set()
    todo = sorted(names)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            text = json.dumps(found[name])
            todo += [part.partition('"')[0] for part in text.split("#/$defs/")[1:]]
    return seen


if __name__ == "__main__":
    main()
