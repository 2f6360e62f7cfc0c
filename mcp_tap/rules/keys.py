"""Names of fields, parameters and members that say what a value is: a secret, a card, a code.

A name is cut at case changes, `_`, `-`, `.` and blanks, and its end decides: `user_password` is a
password, `password_policy` a policy, `next_page_token` a page.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, TypeAlias

_Words: TypeAlias = frozenset[str]

LONGEST: Final = 200
"""Characters of a name that are read: its last ones."""

_CUT: Final = re.compile(
    r"[\s_.\-/:\[\]]+|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", re.ASCII
)
_DIGITS: Final = re.compile(r"(?<=[a-z]{3})\d+$")
_AGAIN: Final = frozenset(
    {
        "confirm",
        "confirmation",
        "again",
        "repeat",
        "repeated",
        "value",
        "text",
        "input",
        "plaintext",
    }
)
"""Say that the same is entered once more, or nothing at all."""

_SECRET: Final = frozenset(
    {
        *("password", "passwords", "passwd", "pwd", "passphrase", "passcode", "secret", "token"),
        *("apikey", "apitoken", "apisecret", "credential", "credentials", "creds", "jwt"),
        *("privatekey", "accesskey", "secretkey", "clientsecret", "appsecret", "authtoken"),
        *("accesstoken", "refreshtoken", "idtoken", "bearertoken", "sessiontoken", "authkey"),
        *("signingkey", "encryptionkey", "sshkey", "masterkey", "secretaccesskey", "seedphrase"),
        *("passwort", "kennwort", "contrasena", "contraseña", "motdepasse", "parol", "mima"),
        *("senha", "wachtwoord", "haslo", "hasło", "parola", "sifre", "şifre", "heslo", "losenord"),
        *("пароль", "密码", "密碼", "パスワード", "비밀번호", "zugangsdaten", "userpassword"),
        *("dbpassword", "userpass", "dbpass", "psw", "pswd", "passw"),
    }
)
_SECRET_PAIRS: Final = frozenset(
    {
        *("api key", "access key", "private key", "secret key", "signing key", "encryption key"),
        *("ssh key", "auth key", "client secret", "user pass", "db pass", "session cookie"),
        *("session token", "seed phrase", "recovery phrase", "mnemonic phrase", "master key"),
        *("decryption key", "auth cookie", "admin pass", "root pass", "secret phrase"),
        *("user pin", "bank pin", "card pin", "account pin", "login pin", "atm pin"),
        *("security pin", "access pin", "pass phrase", "pass code", "pass word", "security answer"),
        *("api keys", "access keys", "private keys", "secret keys", "ssh keys"),
    }
)
_SECRET_TRIPLES: Final = frozenset({"mot de passe"})
_NOT_AFTER: Final = frozenset(
    {
        *("next", "page", "cursor", "continuation", "public", "sync", "design", "css", "lexical"),
        *("pagination", "resume", "resumption", "progress", "idempotency", "csrf", "xsrf", "start"),
        *("stop", "end", "eos", "bos", "pad", "unk", "mask", "special", "max", "min", "previous"),
        *("prev", "base", "quote", "erc20", "nft", "governance", "native", "hashed", "has", "is"),
    }
)
"""Directly before such a word they make something harmless of it."""

_CARD: Final = frozenset(
    {
        *("cardnumber", "cardno", "ccnumber", "creditcard", "creditcardnumber", "debitcard"),
        *("debitcardnumber", "pan", "cvv", "cvc", "cvv2", "cvc2", "cardcvv", "cardcvc"),
        *("cardexpiry", "kartennummer", "kreditkartennummer", "kreditkarte", "pruefziffer"),
        *("numerotarjeta", "numerocarte"),
    }
)
_CARD_PAIRS: Final = frozenset(
    {
        *("card number", "card no", "card num", "credit card", "debit card", "cc number"),
        *("cc num", "cc no", "card expiry", "card expiration", "card exp", "card cvv", "card cvc"),
        *("card cvv2", "card cvc2", "card pan", "cc exp", "cc expiry", "cc cvv", "cc cvc"),
        *("cvv code", "cvc code", "cvv number", "cvc number", "online banking", "card csc"),
        *("bank card", "payment card"),
    }
)
_CARD_TRIPLES: Final = frozenset(
    {
        *("card expiry date", "card expiration date", "card security code", "card expiry month"),
        *("card expiry year", "card exp month", "card exp year", "card expiration month"),
        *("card expiration year", "card verification code", "card verification value"),
        *("card verification number", "credit card expiry", "credit card number"),
    }
)
_NO_PAYMENT: Final = frozenset(
    {
        *(
            "business",
            "library",
            "gift",
            "loyalty",
            "membership",
            "member",
            "sim",
            "id",
            "identity",
        ),
        *("insurance", "health", "student", "report", "score", "graphics", "video", "sound"),
        *("network", "boarding", "access", "key", "green", "trello", "kanban", "jira", "story"),
        *("rewards", "reward", "fuel", "punch", "flash", "index", "wild", "memory", "sd"),
    }
)
"""Cards nobody pays with."""

_CODES: Final = frozenset(
    {
        *("otp", "totp", "hotp", "otpcode", "totpcode", "mfacode", "smscode", "verificationcode"),
        *("recoverycode", "backupcode", "twofactorcode", "onetimecode", "onetimepassword"),
        *("onetimepasscode", "einmalcode", "einmalpasswort"),
    }
)
_CODE_PAIRS: Final = frozenset(
    {
        *("mfa code", "mfa token", "2fa code", "2fa token", "tfa code", "verification code"),
        *(
            "recovery code",
            "backup code",
            "sms code",
            "otp code",
            "totp code",
            "authenticator code",
        ),
        *("twofactor code", "otp token", "totp token", "otp value", "mfa otp", "magic link"),
        *("onetime code", "onetime password", "recovery codes", "backup codes"),
    }
)
_CODE_TRIPLES: Final = frozenset(
    {
        *("two factor code", "two factor token", "two fa code", "one time code", "2 fa code"),
        *("one time password", "one time passcode", "one time pin", "multi factor code"),
        *("two step code", "2 factor code", "second factor code", "factor auth code"),
    }
)
_SOURCE: Final = frozenset({"source", "address", "domain", "dns"})
"""Codes that verify no person."""


def tokens(name: str) -> tuple[str, ...]:
    """Cut a name into lower-case words; what only says `once more` at its end is left out."""
    return _tokens(name[-LONGEST:])


@lru_cache(maxsize=4096)
def _tokens(name: str) -> tuple[str, ...]:
    found = [_DIGITS.sub("", word.lower()) for word in _CUT.split(name) if word]
    while len(found) > 1 and (found[-1] in _AGAIN or found[-1].isdigit()):
        found.pop()
    return tuple(found)


def is_secret(name: str) -> bool:
    """Tell whether a name is that of a secret."""
    return _is_one(name, _SECRET, _SECRET_PAIRS, _SECRET_TRIPLES, _NOT_AFTER)


def is_pin(name: str) -> bool:
    """Tell whether a name is that of a personal number, and nothing but digits is expected."""
    return tokens(name)[-1:] == ("pin",)


def is_payment(name: str) -> bool:
    """Tell whether a name is that of something to pay with."""
    return _is_one(name, _CARD, _CARD_PAIRS, _CARD_TRIPLES, _NO_PAYMENT)


def is_code(name: str) -> bool:
    """Tell whether a name is that of a code that lets somebody in once."""
    return _is_one(name, _CODES, _CODE_PAIRS, _CODE_TRIPLES, _SOURCE)


def _is_one(name: str, words: _Words, pairs: _Words, triples: _Words, not_after: _Words) -> bool:
    """Tell whether a name ends in one of these, and not directly after a word that undoes it."""
    parts = tokens(name)
    if not parts:
        return False
    if parts[-1] in words:
        size = 1
    elif " ".join(parts[-3:]) in triples:
        size = 3
    elif " ".join(parts[-2:]) in pairs:
        size = 2
    else:
        return False
    return len(parts) == size or parts[-size - 1] not in not_after
