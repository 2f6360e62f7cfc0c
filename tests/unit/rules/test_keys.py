from __future__ import annotations

import pytest

from mcp_tap.rules.keys import is_code, is_payment, is_pin, is_secret, tokens


def test_a_name_is_cut_at_case_changes_and_separators():
    assert tokens("APIKey") == ("api", "key")
    assert tokens("DB_PASSWORD") == ("db", "password")
    assert tokens("user.login-name") == ("user", "login", "name")
    assert tokens("newPassword2") == ("new", "password")
    assert tokens("password_confirm") == ("password",)
    assert tokens("") == ()


@pytest.mark.parametrize(
    "name",
    [
        *("password", "userPassword", "DB_PASSWORD", "passwd", "pwd", "passphrase", "api_key"),
        *("apiKey", "APIKey", "apikey", "X-Api-Key", "client_secret", "privateKey", "ssh key"),
        *(
            "accessToken",
            "GITHUB_TOKEN",
            "token",
            "jwt",
            "seed_phrase",
            "session cookie",
            "bank_pin",
        ),
        *("credentials", "secret", "signing.key", "passwort", "contraseña", "motDePasse", "пароль"),
        *("password2", "confirmPassword", "passwordConfirmation", "userPass", "db_pass"),
    ],
)
def test_names_of_secrets_are_known_by_their_end(name):
    assert is_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        *("name", "full_name", "email", "username", "login", "phone", "address", "public_key"),
        *("page_token", "nextPageToken", "token_count", "password_policy", "passenger", "compass"),
        *("keyboard", "secretary", "api_key_name", "secret_name", "token_type", "tokenizer"),
        *("key", "sort_key", "primary_key", "foreign_key", "otp", "cvc", "pin", "pincode"),
        *("csrf_token", "design_token", "password_length", "secret_ref", "token_url", ""),
    ],
)
def test_look_alikes_are_no_secrets(name):
    assert not is_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        *("card_number", "cardnumber", "pan", "cvv", "CVC", "card_expiry", "credit_card"),
        *("creditCardNumber", "cardSecurityCode", "billing_card_number"),
    ],
)
def test_names_of_payment_data_are_known(name):
    assert is_payment(name)


@pytest.mark.parametrize(
    "name",
    [
        *("amount", "currency", "invoice_number", "payment_method", "card_type", "card_last_four"),
        *("last4", "business_card", "card_color", "expiry_date", "iban", "account_number"),
        *("library_card_number", "company", "panel", ""),
    ],
)
def test_other_cards_and_payments_are_harmless(name):
    assert not is_payment(name)


@pytest.mark.parametrize(
    "name",
    [
        *("otp", "totp", "mfa_code", "mfaCode", "two_factor_code", "verification_code"),
        *("recovery_code", "backupCode", "sms_code", "email_verification_code", "oneTimePassword"),
    ],
)
def test_names_of_codes_are_known(name):
    assert is_code(name)


@pytest.mark.parametrize(
    "name",
    ["zip_code", "pincode", "country_code", "promo_code", "error_code", "code_style", "code", ""],
)
def test_other_codes_are_harmless(name):
    assert not is_code(name)


def test_a_pin_is_the_last_word():
    assert is_pin("userPin")
    assert not is_pin("pin_count")
    assert is_secret("a" * 100_000 + "_password")
