from __future__ import annotations

import pytest

from mcp_tap.rules.shapes import (
    decode,
    is_masked_text,
    is_placeholder,
    is_statement,
    jwt_payload,
    secret_in,
)
from mcp_tap.rules.shapes_persons import card_in, email_in, phone_in
from tests.work import seconds_of

JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJ1MSJ9.c2lnbmF0dXJlLXBsYWNlaG9sZGVy"


@pytest.mark.parametrize(
    "value",
    [
        *("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "gho_16C7e42F292c6912E7710c838347Ae178B4a"),
        "github_pat_11ABCDEFG0abcdefghijkl_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrs",
        *("AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE", JWT, f"Bearer {JWT}"),
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEvQIBADANBg\n-----END",
        "-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXktdjEA\\n",
        "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----",
        *("sk-ant-api03-abcDEF123456789_-xyzABC09", "sk-abcdef0123456789abcdef0123456789"),
        *("sk-proj-AbC123_dEf456-gHi789jKl012", "AIzaSyA1234567890abcdefghijklmnopqrstuv"),
        *("xoxb-123456789012-abcdefghijkl", "glpat-AbCdEf123456_7890xyZ"),
        *("npm_abcdefghijklmnopqrstuvwxyz0123456789", "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH"),
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        'AWS_SECRET_ACCESS_KEY="wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"',
        *("ya29.a0AfH6SMBxyz1234567890abcdef", "sk_live_4eC39HqLyjWDarjtT1zdp7dc"),
        "Authorization: Bearer 0123456789abcdefXYZ",
        f"the first ghp_{'x' * 36}, then ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    ],
)
def test_values_of_well_known_make_are_recognised(value):
    assert secret_in(value) is not None
    assert secret_in(f"text around: {value} and more") is not None


@pytest.mark.parametrize(
    "value",
    [
        *("550e8400-e29b-41d4-a716-446655440000", "9fceb02d0ae598e95dc970b74767f19372d61af8"),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        *("SGVsbG8sIHdvcmxkISBUaGlzIGlzIGEgdGVzdC4=", "sk_store_42", "abc_123", "proj_8f14e45f"),
        *("release.candidate.build", "v1.Qk9YX0NJUEhFUg.8f1cB2", "eyJzdGVwIjoyfQ.abcd.efgh"),
        *("sk-learn-pipeline-configuration-2024", "task-list-0123456789abcdefgh"),
        *("npm_config_registry_is_not_a_token", "hf_model_name_with_long_words_and_more"),
        *("ghp_" + "x" * 36, "glpat-" + "x" * 20, "AKIAXXXXXXXXXXXXXXXX", "sk-" + "x" * 40),
        *("<your-key-here>", "sk-your-api-key-here-0000000", "ghp_****************************"),
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        *("-----BEGIN PRIVATE KEY-----\nheader is missing", "sk-1234567890abcdef..."),
        "-----BEGIN PUBLIC KEY-----\nMIIEvQIBADANBg\n",
        *("", "a", "eyJ", "Authorization: Bearer <token>........"),
    ],
)
def test_anything_else_may_be_anything(value):
    assert secret_in(value) is None


@pytest.mark.parametrize(
    ("number", "issuer"),
    [
        *(("4111 1111 1111 1111", "Visa"), ("4222222222222", "Visa")),
        *(("5555-5555-5555-4444", "Mastercard"), ("2223003122003222", "Mastercard")),
        *(("378282246310005", "American Express"), ("6011111111111117", "Discover")),
        *(
            ("3530111333300000", "JCB"),
            ("2200000000000004", "Mir"),
            ("30569309025904", "Diners Club"),
        ),
        ("6250941006528599", "UnionPay"),
    ],
)
def test_card_numbers_are_known_by_issuer_length_and_check_digit(number, issuer):
    assert card_in(number) == issuer


@pytest.mark.parametrize(
    "number",
    [
        *("4111 1111 1111 1112", "+49 30 901820", "490154203237518", "1234567812345670"),
        *("41111111111111", "5555555555554", "4111 1111 1111 1111 x", "", "4" * 100_000),
    ],
)
def test_numbers_that_miss_one_condition_are_no_cards(number):
    assert card_in(number) is None


@pytest.mark.parametrize(
    "text", ["joe@example.com", "mail to joe.doe+x@mail.example.co.uk, please", "ivan@пример.рф"]
)
def test_an_email_address_is_found(text):
    assert email_in(text)


@pytest.mark.parametrize(
    "text",
    [
        *("@team", "/pkg/@scope/name", "react@18.2.0", "a@b", "git@github.com:o/r.git"),
        *(
            "logo@2x.png",
            "left-pad@1.3.0.tgz",
            "svc@proj.iam.gserviceaccount.com",
            "@",
            "a@",
            "@a.b",
        ),
    ],
)
def test_other_at_signs_are_no_email_address(text):
    assert not email_in(text)


def test_international_phone_numbers_are_found():
    assert phone_in("/u/+4930901820123/verify")
    assert phone_in("+49 (30) 901-820")
    assert not phone_in("read+20240101")
    assert not phone_in("+1234")
    assert not phone_in("+12345678901234567890")


def test_what_stands_for_a_secret_is_told_from_one():
    for value in ("****", "[REDACTED]", "<hidden>", "sk-...abcd", "xxxx", "mcp-tap:0123", " "):
        assert is_masked_text(value), value
    assert not is_masked_text("hunter2!")
    for value in ("{token}", "<id>", "${TOKEN}", ":token", "****"):
        assert is_placeholder(value), value
    assert not is_placeholder("Zx81kPq77")
    assert is_statement(" Not set ")
    assert not is_statement("hunter2!")


def test_base64_is_decoded_in_both_alphabets():
    assert decode("eyJhIjoxfQ==") == decode("eyJhIjoxfQ") == b'{"a":1}'
    assert decode("_-8") == b"\xff\xef"
    assert decode("a") is None
    assert decode("é===") is None
    assert jwt_payload(JWT) == b'{"sub":"u1"}'
    assert jwt_payload("a.b.c") is None


@pytest.mark.parametrize(
    "value",
    [
        *("a" * 1_000_000, "ghp_" * 250_000, "eyJ" * 300_000, "@" * 1_000_000, "a@" * 500_000),
        *(
            "sk-" * 300_000,
            "sk-ab-" * 160_000,
            "xoxb-" * 200_000,
            "secret" * 160_000,
            "+1 " * 300_000,
        ),
        *("-----BEGIN PRIVATE KEY-----" * 30_000, "authorization: bearer " * 40_000),
        *("eyJhbGciOiJub25l" * 60_000, "ey" + "A" * 999_999, "eyJa." * 200_000),
    ],
    ids=lambda value: value[:12],
)
def test_a_hostile_value_costs_little(value):
    for search in (secret_in, email_in, phone_in):
        assert seconds_of(lambda search=search: search(value)) < 1
