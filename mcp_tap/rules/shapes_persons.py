"""Numbers and addresses that give a person away: payment cards, e-mail, telephone.

The texts are a stranger's: time is linear in them.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 200_000
"""Characters of one text that are read."""
MOST_TRIES: Final = 200
"""Places looked at in one text."""


_LOCAL: Final = re.compile(r"[\w.%+'-]{1,64}\Z")
_DOMAIN: Final = re.compile(r"(?:[^\W_](?:[\w-]{0,62})\.){1,8}[^\W\d_]{2,24}(?![\w-])")
_PHONE: Final = re.compile(r"(?<![\w+])\+[1-9](?:[ .()/-]{0,2}\d){7,14}(?!\d)")
_NO_DOMAIN: Final = re.compile(
    r"\d+(?:\.\d+|x\.)|.*\.(?:png|jpe?g|gif|svg|tgz|gz|zip|js|css|json|html?|local|internal)$"
)


def card_in(value: str) -> str | None:
    """Name the issuer of the payment card a value is the number of; None where it is none."""
    if len(value) > 40:
        return None
    digits = value.strip().replace(" ", "").replace("-", "")
    if not (13 <= len(digits) <= 19 and digits.isascii() and digits.isdigit()):
        return None
    issuer = _issuer(digits)
    return issuer if issuer is not None and _luhn(digits) else None


def email_in(text: str) -> bool:
    """Tell whether a text holds an e-mail address of a person."""
    text = text[:LONGEST]
    at = text.find("@")
    tries = 0
    while at >= 0 and tries < MOST_TRIES:
        tries += 1
        local = _LOCAL.search(text, max(at - 64, 0), at)
        domain = _DOMAIN.match(text, at + 1)
        if local is not None and domain is not None and _is_mailbox(local[0], domain[0]):
            return True
        at = text.find("@", at + 1)
    return False


def phone_in(text: str) -> bool:
    """Tell whether a text holds an international phone number."""
    return "+" in text and _PHONE.search(text[:LONGEST]) is not None


def _is_mailbox(local: str, domain: str) -> bool:
    if local in ("git", "ssh", "svn", "hg") or local.startswith((".", "%")):
        return False
    if domain.lower().endswith("gserviceaccount.com"):  # of a program, in signed links
        return False
    return _NO_DOMAIN.match(domain.lower()) is None


def _luhn(digits: str) -> bool:
    total = 0
    for index, digit in enumerate(reversed(digits)):
        number = int(digit)
        if index % 2:
            number = number * 2 - 9 if number > 4 else number * 2
        total += number
    return total % 10 == 0


_ISSUERS: Final = (
    ("Visa", ((4, 4),), (13, 16, 19)),
    ("Mir", ((2200, 2204),), (16,)),
    ("Mastercard", ((51, 55), (2221, 2720)), (16,)),
    ("American Express", ((34, 34), (37, 37)), (15,)),
    ("Discover", ((6011, 6011), (644, 649), (65, 65), (622126, 622925)), (16,)),
    ("UnionPay", ((62, 62),), (16, 17, 18, 19)),
    ("JCB", ((3528, 3589),), (16,)),
    ("Diners Club", ((300, 305), (309, 309), (36, 36), (38, 39)), (14,)),
)
"""Issuer, what its numbers begin with (from, to), how many digits they have."""


def _issuer(digits: str) -> str | None:
    for issuer, ranges, sizes in _ISSUERS:
        if len(digits) in sizes and any(
            low <= int(digits[: len(str(low))]) <= high for low, high in ranges
        ):
            return issuer
    return None
