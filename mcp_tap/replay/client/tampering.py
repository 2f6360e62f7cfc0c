"""What a recorded client did to a state, done to another one."""

from __future__ import annotations

from typing import Any

from mcp_tap.core.facts.message import is_masked


def tampered(state: str, given: Any, sent: Any) -> str:
    """Change a state as another one was changed.

    Characters are changed where they were changed; what was added is added, and as much is cut off
    as was cut off.  A state that has nothing to do with the one given is sent as it was.

    Args:
        state: what the server gave now.
        given: what it had given then.
        sent: what the client had made of that.
    """
    if type(given) is not str or type(sent) is not str or is_masked(given) or is_masked(sent):
        return _other_at(state, len(state) // 2)
    if sent.startswith(given):
        return state + sent[len(given) :]
    if given.startswith(sent):
        return state[: max(0, len(state) - len(given) + len(sent))]
    spots = [at for at, (a, b) in enumerate(zip(given, sent, strict=False)) if a != b]
    if len(given) != len(sent) or 2 * len(spots) > len(given):
        return sent
    for at in spots:
        if len(state) == len(given) and state[at] != sent[at]:
            state = state[:at] + sent[at] + state[at + 1 :]
        else:
            state = _other_at(state, at * len(state) // len(given))
    return state


def _other_at(state: str, at: int) -> str:
    """Put another character in a place, one that coded bytes may have there."""
    return state[:at] + ("A" if state[at : at + 1] != "A" else "B") + state[at + 1 :]
