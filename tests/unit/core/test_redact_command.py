"""Command lines are told without the credentials that stand in them."""

from __future__ import annotations

import shlex

import pytest

from mcp_tap.core.redact import Redactor
from mcp_tap.core.redact_command import shown_command

S = "s3cret-Value.1"


@pytest.mark.parametrize(
    ("line", "stays"),
    [
        (f"server --api-key {S} --port 80", "server --api-key * --port 80"),
        (f"server --apikey={S}", "server --apikey=*"),
        (
            f"env GITHUB_PERSONAL_ACCESS_TOKEN={S} npx server",
            "env GITHUB_PERSONAL_ACCESS_TOKEN=* npx",
        ),
        (f"docker run -e DB_PASSWORD={S} image", "docker run -e DB_PASSWORD=* image"),
        (f"npx mcp-remote https://h/mcp --header 'Authorization: Bearer {S}'", "Bearer *"),
        (f"npx mcp-remote https://h/mcp --header X-API-Key:{S}", "X-API-Key:*"),
        (f"server '--header=Authorization: Bearer {S}'", "'--header=Authorization: Bearer *'"),
        (f"curl '-HAuthorization: Bearer {S}'", "'-HAuthorization: Bearer *'"),
        (f"server https://user:{S}@host/mcp?a=1", "host/mcp?a=1"),
        (f"server 'https://host/mcp?token={S}&a=1'", "host/mcp?token="),
    ],
)
def test_a_credential_is_masked_and_the_rest_stays(line, stays):
    shown = shown_command(shlex.split(line), Redactor(b"k" * 32))
    assert S not in shown
    assert shown.count("mcp-tap:") == 1
    for part in stays.split("*"):
        assert part.strip() in shown


@pytest.mark.parametrize(
    "line",
    [
        "node server.js --exit-code=1 --tokens 5 key token",
        "python -m server --root /a/b --name 'two words' x=1",
        "server --token --other",
        "server --url http://localhost:3000/mcp 'a: b'",
        "server --password= '='",
    ],
)
def test_what_is_no_credential_stays_as_it_is(line):
    assert shlex.split(shown_command(shlex.split(line), Redactor(b"k" * 32))) == shlex.split(line)


def test_without_the_default_masks_only_what_is_asked_for_is_masked():
    words = ["server", "--token", S, "pin-1234"]
    redactor = Redactor(b"k" * 32, default=False, specs=[r"value:pin-\d+"])
    shown = shown_command(words, redactor)
    assert S in shown
    assert "pin-1234" not in shown


def test_equal_credentials_have_equal_tags():
    redactor = Redactor(b"k" * 32)
    first, second = (shown_command(["x", "--token", S], redactor) for _ in range(2))
    assert first == second
