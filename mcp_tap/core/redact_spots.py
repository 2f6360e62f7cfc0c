r"""Where names of secrets may stand in a text: one pass of RE2 tells, the rest is left alone.

Rules of this file:

- A spot is a doubt and no verdict: it may be none.  What is no spot holds no name, in whatever
  spelling: `Access-Token`, `access%5Ftoken`, `"to\u006ben"`.
- Nothing here replaces anything; `redact_text` looks closely at the spots.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from math import inf
from typing import Final

from msgspec import Struct

from mcp_tap.core.redact_specs import Wanted
from mcp_tap.core.regex import Pattern, compile_pattern

LONG: Final = 4 << 10
"""Characters from which a text is worth the pass."""
_PLAIN: Final = re.compile("[a-z_-]+")
_BLANK: Final = r"[\t-\r\x1c-\x20\x{85}\p{Z}]"
"""What Python takes for blank."""
_LETTER: Final = "(?:2d|5f|[46][1-9a-f]|[57][0-9a])"
"""Of a letter, `-` or `_`: its code."""
_KELVIN: Final = "e2%(?:25)*84%(?:25)*aa"
"""Its small letter is an ordinary k."""
_DISPOSITION: Final = "content-disposition:"
_DOTTED: Final = r"[i\x{130}\x{131}]"
"""Letters that Python takes for an i, other than RE2."""


class Spots(Struct, frozen=True):
    """Where to look, in order."""

    keys: list[int]
    """Quotes that begin what may be the name of a member."""
    pairs: list[tuple[int, int]]
    """From and to: there may be the name of a field of a form, or a part of it."""
    parts: bool
    """There are heads of parts of multipart/form-data."""


class _Looking:
    """Finds the spots of some names."""

    def __init__(self, names: Iterable[str]) -> None:
        """Take the names: of small letters, `-` and `_`."""
        plain = [name.replace("_", "").replace("-", "") for name in names]
        name = "[-_]*(?:{})[-_]*".format("|".join("[-_]*".join(letters) for letters in plain))
        escaped = rf"\\u(?:00{_LETTER}|212a)"
        percent = f"%(?:25)*(?:{_LETTER}|{_KELVIN})"
        letter = f"(?:[a-z_-]|{percent})"
        least = min(4, *map(len, plain))  # bytes that are no text look like one or two by chance
        spelled = "|".join(
            f"[a-z_-]{{{n}}}{percent}{letter}{{{least - n - 1},}}" for n in range(least)
        )
        ways = (
            f'"(?:{name}|[a-z_-]*(?:{escaped}[a-z_-]*)+)"{_BLANK}*:',
            rf"(?:{name}|{spelled}){_BLANK}*[=%\[\]+]",
            _DISPOSITION.replace("i", _DOTTED),
        )
        self._pattern: Pattern = compile_pattern(f"(?i:{'|'.join(ways)})")

    def any(self, data: str | bytes) -> bool:
        """Tell whether there is a spot at all."""
        return self._pattern.search(data)

    def spots(self, text: str) -> Spots:
        """Find them all."""
        keys: list[int] = []
        pairs: list[tuple[int, int]] = []
        parts = False
        for start, end in self._pattern.spans(text, most=inf):  # no match reads on behind its end
            if text[start] == '"':
                keys.append(start)
            elif text[end - 1] == ":":
                parts = True
            else:
                pairs.append((start, end))
        return Spots(keys, pairs, parts)


class Where:
    """Tells where in the payloads of a run something may have to be masked."""

    def __init__(self, wanted: Wanted) -> None:
        """Take the specifications of the run."""
        self._wanted = wanted

    def spots(self, text: str, fields: frozenset[str]) -> Spots | None:
        """Give the spots of a text with regard to fields of OAuth too; None: look everywhere."""
        found = self._looking(len(text), fields)
        return None if found is None else found.spots(text)

    def is_clean(self, payload: bytes, fields: frozenset[str]) -> bool:
        """Tell whether there can be nothing to mask in a payload, which is UTF-8 or no text."""
        found = None if self._wanted.values else self._looking(len(payload), fields)
        return found is not None and not found.any(payload)

    def _looking(self, size: int, fields: frozenset[str]) -> _Looking | None:
        """Give what finds spots; None for what is short, and for globs."""
        if size < LONG:
            return None
        forms = {"password"} if fields else ()
        return _looking(fields.union(forms, self._wanted.keys, self._wanted.tails))


@lru_cache(8)
def _looking(names: frozenset[str]) -> _Looking | None:
    known = bool(names) and all(map(_PLAIN.fullmatch, names))
    return _Looking(sorted(names)) if known else None
