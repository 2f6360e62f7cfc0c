"""Answering in a live run: its options, and what is said of it at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import click

from mcp_tap.cli.common import DURATION, FILE, Output, option, several, typed
from mcp_tap.core.text import brief, plural
from mcp_tap.errors import UsageError

if TYPE_CHECKING:
    from mcp_tap.answers.book import Book
    from mcp_tap.cli.asking import TerminalAsker
    from mcp_tap.cli.asking_terminal import Terminal
    from mcp_tap.proxy.answering.answering import Answering
    from mcp_tap.proxy.stdio.steps import LineAnswerer
    from mcp_tap.views.base import View

Hold: TypeAlias = Callable[[], AbstractContextManager[object]]
_F = TypeVar("_F", bound=Callable[..., Any])
HOWS: Final = ("fail", "ask", "pass", "decline", "cancel")
MAX_ROUNDS: Final = 10
ANSWER_TIMEOUT: Final = "10m"


class _How(click.Choice):  # type: ignore[type-arg]  # generic since 8.2
    """What can become of a round where the terminal is the client's."""

    def __init__(self) -> None:
        super().__init__([how for how in HOWS if how != "ask"])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Say of a person where one can be asked."""
        if value == "ask":
            raise _no_terminal()
        return super().convert(value, param, ctx)


def answer_options(panel: str, *, person: bool = True) -> Callable[[_F], _F]:
    """Add the options that say who answers what the server asks; a `person` at the terminal may."""
    who = "; ask: a person at the terminal answers it" if person else ""

    return several(
        option(
            "-a",
            "--answers",
            multiple=True,
            type=FILE,
            metavar="FILE",
            panel=panel,
            help="Answer what the server asks by this script, in the client's place;"
            " repeatable, the first match wins.",
        ),
        option(
            "--unmatched",
            type=click.Choice(HOWS) if person else _How(),
            panel=panel,
            help=f"What becomes of a round that no script answers{who}."
            "  [default: the script's, else pass, in CI fail]",
        ),
        option(
            "--advertise",
            metavar="NAMES",
            panel=panel,
            help="Declare these to the server where the client does not, with commas"
            " between; '' none.  [default: what the scripts can answer]",
        ),
        option(
            "--max-rounds",
            type=click.IntRange(min=1),
            metavar="N",
            default=MAX_ROUNDS,
            show_default=True,
            panel=panel,
            help="Answer at most so many rounds of one call.",
        ),
        option(
            "--answer-timeout",
            type=DURATION,
            metavar="TIME",
            default=ANSWER_TIMEOUT,
            show_default=True,
            panel=panel,
            help="How long a call may take from its first ask on"
            + ("; a person's time is not in it." if person else "."),
        ),
        option(
            "--strict-answers",
            is_flag=True,
            panel=panel,
            help="Exit with 1 if an entry of a script was never used.",
        ),
    )


class LiveAnswers:
    """Who answers in a run, and how that went."""

    def __init__(self, book: Book | None, *, max_rounds: int, longest: float, strict: bool) -> None:
        """Answer from a book; None: everything passes as it is.

        Args:
            book: the scripts.
            max_rounds: rounds to answer in one call.
            longest: seconds a call may take from its first ask on.
            strict: an entry that was never used is an error.
        """
        self._book = book
        self._limits: dict[str, Any] = {"max_rounds": max_rounds, "longest": longest}
        self._strict = strict
        self._answering: Answering | None = None
        self._terminal: Terminal | None = None
        self._asker: TerminalAsker | None = None
        self._holds: list[Hold] = []

    @property
    def asks(self) -> bool:
        """A person is asked."""
        return self._book is not None and self._book.unmatched == "ask"

    def prepare(self, out: Output) -> None:
        """See that a person can be asked, where one shall be.

        Raises:
            UsageError: there is no terminal.
        """
        if self.asks:
            from mcp_tap.cli.asking import find_terminal

            self._terminal = find_terminal(color=out.colored(_TERMINAL))

    def quiet(self, hold: Hold) -> None:
        """Enter this while a person is asked: it keeps others from writing to the terminal."""
        self._holds.append(hold)

    def begin(self, view: View, upstream: str, out: Output) -> Answering | None:
        """Be ready to answer for clients of a run; None where everything passes."""
        if self._book is None:
            return None
        from mcp_tap.proxy.answering.answering import Answering

        if self._terminal is not None:
            from mcp_tap.cli.asking import TerminalAsker
            from mcp_tap.views.look import ASCII, LINES

            self._asker = TerminalAsker(
                self._terminal,
                upstream=upstream,
                glyphs=ASCII if out.ascii else LINES,
                hold=self._held,
            )
            self.quiet(getattr(view, "held", nullcontext))
        person = None if self._asker is None else self._asker.decide
        self._answering = Answering(self._book, person=person, **self._limits)
        return self._answering

    def on_lines(self, label: str | None, host: str) -> LineAnswerer | None:
        """Be ready to answer for the client of a run over stdio; None where everything passes.

        Args:
            label: what the user calls the server.
            host: what it is called as long as it has no other name.

        Raises:
            UsageError: a person is to be asked.
        """
        if self._book is None:
            return None
        if self.asks:
            raise _no_terminal()
        from secrets import token_hex

        from mcp_tap.proxy.answering.answering import Answering
        from mcp_tap.proxy.stdio.answering.lines import Lines

        self._answering = answering = Answering(self._book, mark=token_hex(3), **self._limits)
        answering.label, answering.host = label, host
        return Lines(answering)

    @contextmanager
    def _held(self) -> Iterator[None]:
        with ExitStack() as stack:
            for hold in self._holds:
                stack.enter_context(hold())
            yield

    def close(self) -> None:
        """Ask no more."""
        if self._asker is not None:
            self._asker.close()

    def code(self, out: Output, *, tell: bool = True) -> int:
        """Say how it went, and give the exit code that asks for: 1 where something is wrong.

        Args:
            out: where to say it.
            tell: also where nothing is wrong.
        """
        answering, book = self._answering, self._book
        if answering is None or book is None:
            return 0
        failed, limited, unused = answering.failed, answering.limited, book.unused()
        code = 1 if failed or (unused and self._strict) else 0
        if not (tell or code):
            return 0
        wanting = failed - limited
        parts = [f"{plural(answering.answered, 'round')} answered"]
        parts += [f"{plural(wanting, 'call')} FAILED for want of an answer"] if wanting else []
        parts += [f"{plural(limited, 'call')} FAILED at a limit"] if limited else []
        out.say(f"mcp-tap  {', '.join(parts)}")
        for name in unused:
            words = f"answer {brief(name)} was never used"
            if self._strict:
                out.say(f"error[answer-unused]: {words}")
            else:
                out.warn(words)
        return code


def nobody() -> LiveAnswers:
    """Answer nothing: the answers come from elsewhere."""
    return LiveAnswers(None, max_rounds=0, longest=0.0, strict=False)


def live_answers(ctx: click.Context, options: dict[str, Any]) -> LiveAnswers:
    """Read the scripts that the options name.

    What a file or a variable says of answers counts where there are some.

    Raises:
        ScriptError: one cannot be read, or not be meant.
        CaptureError: a capture that one fills from cannot be read.
        UsageError: `--advertise` names what is no capability, nothing is to be answered, or there
            is no time for it.
    """
    paths, unmatched = options["answers"], options["unmatched"]
    advertise = options["advertise"]
    book = None
    if paths or unmatched is not None:
        from mcp_tap.cli.scripting import open_book

        names = None if advertise is None else [n.strip() for n in advertise.split(",")]
        wanted = None if names is None else [name for name in names if name]
        book = open_book(paths, unmatched=unmatched, advertise=wanted)
    else:
        for name in ("strict_answers", "advertise"):
            if options[name] and typed(ctx, name):
                words = f"--{name.replace('_', '-')} without --answers"
                raise UsageError("usage", words, help="--answers FILE")
    longest = options["answer_timeout"]
    if longest <= 0:
        words = "--answer-timeout must be more than 0"
        raise UsageError("usage", words, help=f"--answer-timeout {ANSWER_TIMEOUT}")
    return LiveAnswers(
        book, max_rounds=options["max_rounds"], longest=longest, strict=options["strict_answers"]
    )


def _no_terminal() -> UsageError:
    return UsageError(
        "usage",
        "unmatched = ask wants a terminal, and this one is the client's",
        help="--unmatched fail; or over HTTP: mcp-tap http --stdio 'COMMAND...' --unmatched ask",
    )


class _Terminal:
    """Stands for a terminal that is not open yet, where only that counts."""

    def isatty(self) -> bool:
        return True


_TERMINAL: Any = _Terminal()
