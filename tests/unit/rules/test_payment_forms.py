from __future__ import annotations

import pytest

from tests.cases import answer, asking, call, exchange, fired, form, ids, traffic
from tests.unit.rules.elicited import asked

MINE = ("SEC-004", "SEC-005")
TEXT = {"type": "string"}


def keys(*names, kind="string"):
    return asked(form("Please fill in the form.", **{name: {"type": kind} for name in names}))


def titled(title, kind="string", **more):
    return asked(form("Please fill in the form.", q1={"type": kind, "title": title, **more}))


@pytest.mark.parametrize("kind", ["string", "integer", "number"])
def test_payment_data_is_found_in_texts_and_numbers(kind):
    assert ids(keys("card_number", kind=kind), *MINE) == ["SEC-004"]
    assert ids(titled("CVV", kind), *MINE) == ["SEC-004"]


def test_an_account_counts_beside_its_bank_and_an_iban_beside_a_pin():
    assert ids(keys("account_number"), *MINE) == []
    assert ids(keys("iban"), *MINE) == []
    assert ids(keys("account_number", "routing_number"), *MINE) == ["SEC-004", "SEC-004"]
    assert ids(keys("iban", "pin"), "SEC") == ["SEC-004", "SEC-004"]


@pytest.mark.parametrize(
    "name",
    [
        *("amount", "currency", "invoice_number", "card_type", "card_last4", "business_card"),
        *("card_color", "expiry_date", "payment_method"),
    ],
)
def test_what_describes_a_payment_is_fine(name):
    assert ids(keys(name), *MINE) == []


def test_a_payment_method_to_choose_is_fine():
    assert ids(titled("Credit card", enum=["visa", "amex"]), *MINE) == []
    assert ids(titled("Pay by credit card?", "boolean"), *MINE) == []


def test_a_message_that_requests_payment_data_counts_once():
    assert ids(asked(form("Please enter your card number.")), *MINE) == ["SEC-004"]
    assert ids(asked(form("Your credit card was charged. Which seat?")), *MINE) == []
    case = asked(form("Please enter your card number.", card_number=TEXT))
    assert ids(case, *MINE) == ["SEC-004"]
    link = {"mode": "url", "message": "Please enter your card number.", "url": "https://a.b/"}
    assert ids(asked({"method": "elicitation/create", "params": link}), *MINE) == []


@pytest.mark.parametrize("kind", ["string", "integer"])
@pytest.mark.parametrize("name", ["otp", "mfaCode", "verification_code", "sms_code"])
def test_codes_are_found_by_key(name, kind):
    (found,) = fired(keys(name, kind=kind), *MINE)
    assert found.rule == "SEC-005"
    assert found.path.endswith("/properties/" + name)


def test_harmless_codes_are_fine():
    names = ("zip_code", "country_code", "promo_code", "error_code", "code_style", "captcha")
    assert ids(keys(*names), *MINE) == []
    assert ids(titled("PIN code of the delivery address"), *MINE) == []


def test_the_chinese_word_needs_a_phone_or_a_mail_box_beside_it():
    assert ids(titled("验证码"), *MINE) == []
    assert ids(titled("验证码", description="已发送到您的手机"), *MINE) == ["SEC-005"]
    case = asked(form("请输入邮箱收到的内容", q1={"type": "string", "title": "验证码"}))
    assert ids(case, *MINE) == ["SEC-005"]


def test_a_chinese_message_needs_a_phone_or_a_mail_box_too():
    for text in ("请输入短信中的验证码", "我们已向您的手机发送验证码，请输入"):
        assert ids(traffic(exchange(call(), answer(asking({"q": form(text)})))), "SEC-005")
    for text in ("请输入验证码", "请勿填写短信验证码。", "请输入图片验证码"):
        assert not ids(traffic(exchange(call(), answer(asking({"q": form(text)})))), "SEC-005")


def test_a_message_that_requests_a_code_counts():
    assert ids(asked(form("Enter the verification code we sent you.")), *MINE) == ["SEC-005"]
    text = "Enter your phone number. We will send a verification code to it."
    assert ids(asked(form(text)), *MINE) == []
