from __future__ import annotations

import pytest

from mcp_tap.demo import wire
from mcp_tap.demo.tools import TOOLS, BadArgumentsError, MissingCapabilityError, Request


def request(elicitation=None, facts=None, **params):
    able = {"form": {}, "url": {}} if elicitation is None else elicitation
    meta = {wire.CAPABILITIES_KEY: {"elicitation": able} if able is not False else {}}
    return Request(
        params={"_meta": meta, **params}, seal=lambda _params, facts: repr(facts), facts=facts or {}
    )


async def test_reserve_asks_in_russian_for_a_text_and_a_number_from_1_to_5():
    result = await TOOLS["reserve"].run(request())
    ask = result["inputRequests"]["request"]["params"]
    assert ask["message"].startswith("Укажите")
    fields = ask["requestedSchema"]["properties"]
    assert fields["project"]["type"] == "string"
    assert (fields["count"]["type"], fields["count"]["minimum"], fields["count"]["maximum"]) == (
        "integer",
        1,
        5,
    )


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "accept",
        {"action": "maybe"},
        {"action": "accept", "content": 1},
        {"action": "accept", "content": {"project": "x", "count": 6}},
        {"action": "accept", "content": {"project": "x"}},
    ],
)
async def test_an_answer_that_does_not_fit_is_asked_for_again(answer):
    again = request(facts={"step": "request"}, inputResponses={"request": answer})
    assert (await TOOLS["reserve"].run(again))["resultType"] == "input_required"


@pytest.mark.parametrize("action", ["decline", "cancel"])
@pytest.mark.parametrize(
    ("tool", "key"),
    [
        ("deploy", "confirm"),
        ("deploy", "window"),
        ("reserve", "request"),
        ("connect_registry", "consent"),
        ("rollback", "confirm"),
    ],
)
async def test_a_person_may_always_say_no(tool, key, action):
    asked = request(
        facts={"step": key, "strategy": "rolling"},
        arguments={"service": "billing"},
        inputResponses={key: {"action": action}},
    )
    assert (await TOOLS[tool].run(asked))["resultType"] == "complete"


@pytest.mark.parametrize(
    ("declared", "tool", "missing"),
    [
        (False, "reserve", "form"),
        ({"url": {}}, "reserve", "form"),
        ({}, "connect_registry", "url"),
        ({"form": {}}, "connect_registry", "url"),
    ],
)
async def test_what_the_client_did_not_declare_is_never_asked(declared, tool, missing):
    with pytest.raises(MissingCapabilityError) as caught:
        await TOOLS[tool].run(request(elicitation=declared))
    assert caught.value.required == {"elicitation": {missing: {}}}


async def test_an_empty_elicitation_capability_means_forms():
    assert (await TOOLS["reserve"].run(request(elicitation={})))["inputRequests"]


async def test_a_missing_argument_is_named():
    with pytest.raises(BadArgumentsError, match="service"):
        await TOOLS["deploy"].run(request(arguments={}))


def test_every_tool_is_listed_with_an_object_schema():
    for name, entry in TOOLS.items():
        listed = entry.listing()
        assert listed["name"] == name
        assert listed["inputSchema"]["type"] == "object"
        assert set(listed["inputSchema"]["required"]) <= set(listed["inputSchema"]["properties"])
