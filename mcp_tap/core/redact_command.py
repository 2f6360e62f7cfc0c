"""Command lines with their credentials masked: they are told in a capture's header, and in lists.

What is meant are those that stand in clients' configurations: `--api-key KEY`, `TOKEN=...` for
`env`, `--header 'Authorization: Bearer ...'`, the password or the token in a URL.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final

from mcp_tap.core.redact import Redactor
from mcp_tap.core.redact_text import MARK

_LAST_WORDS: Final = frozenset({"token", "secret", "password", "key"})
"""Last words of names that name a credential, whatever is before them."""
_HEADER: Final = re.compile(r"(?:-H|--?[a-z-]+=)?([A-Za-z0-9-]+):\s*(.+)", re.DOTALL)


def shown_command(words: Sequence[str], redactor: Redactor) -> str:
    """Write a command line as a shell reads it, its credentials masked."""
    shown: list[str] = []
    names_next = False
    for word in words:
        if names_next and not word.startswith("-"):
            shown.append(MARK + redactor.tag(word))
        else:
            shown.append(_shown(word, redactor))
        names_next = word.startswith("-") and "=" not in word and _is_secret(word, redactor)
    return redactor.hidden(shlex.join(shown))


def _shown(word: str, redactor: Redactor) -> str:
    name, equals, value = word.partition("=")
    if equals and value and _is_secret(name, redactor):
        return f"{name}={MARK}{redactor.tag(value)}"
    field = _HEADER.fullmatch(word)
    if field is not None:
        ((_, masked),), masks = redactor.headers(
            [(field[1].encode(), field[2].encode("utf-8", "surrogateescape"))]
        )
        if masks:
            return word[: field.start(2)] + masked
    return redactor.target(word)[0] if "://" in word else word


def _is_secret(name: str, redactor: Redactor) -> bool:
    """Tell whether this names a credential, by the names that are masked in query strings."""
    bare = name.lstrip("-").lower()
    last = re.split(r"[-_]", bare)[-1]
    known = (bare, last) if last in _LAST_WORDS else (bare,)
    return any(
        re.fullmatch(r"[a-z0-9_-]+", each) and redactor.target(f"/?{each}=x")[1] for each in known
    )
