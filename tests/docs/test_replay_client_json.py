"""docs/replay-client-json.md shows a document of `replay client`."""

from __future__ import annotations

import json

import jsonschema_rs
import msgspec

from mcp_tap.cli import replay_client_doc
from tests.pages import example_of


def test_the_example_is_such_a_document():
    example = example_of("replay-client-json.md")
    jsonschema_rs.validator_for(replay_client_doc.schema()).validate(json.loads(example))
    msgspec.json.decode(example, type=replay_client_doc.ReplayDoc)
