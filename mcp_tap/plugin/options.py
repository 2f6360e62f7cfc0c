"""What a test wants of its tap: the markers and `tap_config`, put together and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import Struct

from mcp_tap.answers.script import How
from mcp_tap.core.text import brief
from mcp_tap.errors import ConfigError
from mcp_tap.rules.policy import FailOn

Mode: TypeAlias = Literal["none", "once", "new_episodes", "all"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
ALIASES: Final[dict[str, Mode]] = {"rewrite": "all"}


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of one test's tap.

    Those with a list take a single word as well.
    """

    answers: list[str] = []
    """Answer scripts; a path is seen from the folder of the test's file."""
    unmatched: How | None = None
    """What becomes of a round that no script answers; None: the script's word."""
    advertise: list[str] | None = None
    """Capabilities to declare to the server; None: what the scripts can answer."""
    max_rounds: int = 10
    strict_answers: bool = False
    """An answer that was never used fails the test."""
    label: str | None = None
    """Name of the server, in filters and timelines."""
    headers: dict[str, str] = {}
    """Fields put into each request to the server."""
    insecure: bool = False
    cacert: str | None = None
    redact: list[str] = []
    """What is masked beside credentials."""
    default_redaction: bool = True
    redact_key: str | None = None
    max_body: int = 16 << 20
    select: list[str] = []
    """Rules that count; none: all."""
    ignore: list[str] = []
    extend_select: list[str] = []
    fail_on: FailOn = "error"
    after_last: Literal["repeat", "fail"] = "repeat"
    """What an equal call gets in a replay once all recorded ones were served."""


NAMES: Final = Options.__struct_fields__
_LISTS: Final = ("answers", "advertise", "redact", "select", "ignore", "extend_select")
_PATHS: Final = ("answers", "cacert", "redact_key")


def merged(tables: Iterable[Mapping[str, Any]], folder: Path) -> Options:
    """Put settings together, closer ones last.

    Args:
        tables: what the fixture and the markers say, in this order.
        folder: paths are seen from it.

    Raises:
        ConfigError: a name or a value cannot be meant.
    """
    found: dict[str, Any] = {}
    for table in tables:
        for name, value in table.items():
            if name not in NAMES:
                raise unknown("mcp_tap", name, NAMES)
            found[name] = [str(value)] if name in _LISTS and _is_word(value) else value
    for name in _PATHS:
        value = found.get(name)
        if isinstance(value, list | tuple):
            found[name] = [str(folder / str(path)) for path in value]
        elif value is not None:
            found[name] = str(folder / str(value))
    try:
        return msgspec.convert(found, Options)
    except msgspec.ValidationError as error:
        raise ConfigError("setting-type", f"mcp_tap: {error}") from None


def unknown(what: str, name: object, known: Sequence[str]) -> ConfigError:
    """Say that something has no setting of this name, and which was probably meant."""
    near = get_close_matches(str(name), known, 1)
    return ConfigError(
        "unknown-setting",
        f"{what} has no setting {brief(name, 80)}",
        help=f'did you mean "{near[0]}"?' if near else f"one of {', '.join(known)}",
    )


def mode_of(word: str, *, where: str) -> Mode:
    """Read a record mode.

    Raises:
        ConfigError: it is none.
    """
    word = ALIASES.get(word, word)
    for mode in MODES:
        if mode == word:
            return mode
    raise ConfigError(
        "bad-value",
        f"{where}: {brief(word, 80)} is no record mode",
        help=f"one of {', '.join(MODES)} (or rewrite, for all)",
    )


def _is_word(value: Any) -> bool:
    return isinstance(value, str | Path)
