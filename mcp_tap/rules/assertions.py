"""What a user says must hold of a run, beside the rules: tested on calls that no longer change."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from mcp_tap.core.filters import Filter, Scope, parse
from mcp_tap.core.finding import Blame, Finding
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.text import brief, plural, took
from mcp_tap.errors import UsageError

Subject: TypeAlias = Call | Exchange
Said: TypeAlias = tuple[str, Blame]
"""What is wrong with a call, and whose fault it is."""


class Assertion:
    """One thing that must hold: of a call, of every call, or of some call.

    Where it fails, that is a finding whose id is the option that asked for it.
    """

    def __init__(self, option: str, text: str) -> None:
        """Keep how it was written."""
        self.option = option
        self.text = text

    def filters(self) -> tuple[Filter, ...]:
        """Give the filters it looks with."""
        return ()

    def look(self, subject: Subject, scope: Scope) -> Finding | None:
        """Look at a call or exchange; give what is wrong with it."""
        raise NotImplementedError

    def finish(self) -> Finding | None:
        """Say, after all captures, what was not seen in any."""
        return None

    def _failed(self, message: str, subject: Subject | None, blame: Blame = "unknown") -> Finding:
        call = subject if isinstance(subject, Call) else None
        exchange = subject if isinstance(subject, Exchange) else None
        seq, number = 0, None
        if call is not None and call.rounds:
            seq, number = call.rounds[-1].request_seq, call.rounds[-1].exchange
        elif exchange is not None:
            seq, number = exchange.request_seq or 0, exchange.number
        return Finding(
            rule=self.option,
            name=self.option,
            severity="error",
            level="heuristic",
            blame=blame,
            message=message,
            seq=seq,
            t=subject.t if subject is not None else 0.0,
            call=call.number if call is not None else None,
            exchange=number,
            server=call.server if call is not None else None,
            method=subject.method if subject is not None else None,
            target=call.name if call is not None else None,
            spot=self.text,
        )


class Expect(Assertion):
    """At least one call or exchange passes a filter, in any of the captures."""

    def __init__(self, text: str) -> None:
        """Read the filter."""
        super().__init__("expect", text)
        self._filter = parse(text)
        self._seen = False

    def filters(self) -> tuple[Filter, ...]:
        """Give the filter."""
        return (self._filter,)

    def look(self, subject: Subject, scope: Scope) -> Finding | None:
        """Remember that one was seen."""
        self._seen = self._seen or self._filter.matches(subject, scope)
        return None

    def finish(self) -> Finding | None:
        """Say that none was seen."""
        return None if self._seen else self._failed(f"no call is like this: {self.text}", None)


class Forbid(Assertion):
    """No call or exchange passes a filter."""

    def __init__(self, text: str) -> None:
        """Read the filter."""
        super().__init__("forbid", text)
        self._filter = parse(text)

    def filters(self) -> tuple[Filter, ...]:
        """Give the filter."""
        return (self._filter,)

    def look(self, subject: Subject, scope: Scope) -> Finding | None:
        """Say that one was seen."""
        if not self._filter.matches(subject, scope):
            return None
        return self._failed(f"it is like this, which was forbidden: {self.text}", subject)


class PerCall(Assertion):
    """Something holds of every call."""

    def __init__(self, option: str, text: str, test: Callable[[Call], Said | None]) -> None:
        """Take a test that says what is wrong with a call."""
        super().__init__(option, text)
        self._test = test

    def look(self, subject: Subject, scope: Scope) -> Finding | None:  # noqa: ARG002
        """Test a call."""
        said = self._test(subject) if isinstance(subject, Call) else None
        return None if said is None else self._failed(said[0], subject, said[1])


def max_rounds(most: int) -> Assertion:
    """Assert that no call takes more rounds."""

    def test(call: Call) -> Said | None:
        rounds = len(call.rounds) + call.dropped
        return None if rounds <= most else (f"it took {rounds} rounds, at most {most} expected",
                                            "unknown")  # fmt: skip

    return PerCall("expect-max-rounds", str(most), test)


def max_server_time(seconds: float) -> Assertion:
    """Assert that the server takes no longer over any call; a stream is meant to stay open."""

    def test(call: Call) -> Said | None:
        if call.kind == "stream" or call.server_s <= seconds:
            return None
        return f"server took {took(call.server_s)}, at most {took(seconds)} expected", "server"

    return PerCall("max-server-time", took(seconds), test)


class Asks(Assertion):
    """Every call of a tool asks for certain keys, all of them and no others; and there is one."""

    def __init__(self, text: str) -> None:
        """Read `TOOL=KEY,KEY`."""
        super().__init__("expect-asks", text)
        tool, equals, keys = text.partition("=")
        if not equals or not tool.strip():
            raise UsageError(
                "bad-value",
                f"--expect-asks: {text!r} is not TOOL=KEYS",
                help="--expect-asks deploy=confirm,window; deploy= where it must ask nothing",
            )
        self._tool = tool.strip()
        self._keys = frozenset(key.strip() for key in keys.split(",") if key.strip())
        self._seen = False

    def look(self, subject: Subject, scope: Scope) -> Finding | None:  # noqa: ARG002
        """Compare what a call of the tool asked for."""
        if not isinstance(subject, Call) or subject.name != self._tool:
            return None
        self._seen = True
        asked = {ask.key for round_ in subject.rounds for ask in round_.asks}
        if asked == self._keys:
            return None
        words = [
            f"{word} {_words(keys)}"
            for word, keys in (("did not ask for", self._keys - asked),
                               ("asked for", asked - self._keys))
            if keys
        ]  # fmt: skip
        said = f"server {' and '.join(words)}"
        if asked - self._keys:
            said += f"; expected {f'only {_words(self._keys)}' if self._keys else 'nothing'}"
        return self._failed(said, subject, "server")

    def finish(self) -> Finding | None:
        """Say that the tool was never called."""
        return None if self._seen else self._failed(f"no call of {self._tool}", None)


def _words(keys: frozenset[str] | set[str]) -> str:
    named = ", ".join(brief(key, 60)[1:-1] for key in sorted(keys)[:10])
    return named if len(keys) <= 10 else f"{named} and {plural(len(keys) - 10, 'other')}"
