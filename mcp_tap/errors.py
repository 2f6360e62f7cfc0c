"""The exceptions meant for a person: what happened, where, why, and one thing to do.

Trouble a *peer* makes on the wire is never an exception; it is recorded.  These are for the user
of the command line and of the library.  None of the texts may hold a secret or a `requestState`.
"""

from __future__ import annotations


class TapError(Exception):
    """Base of all errors that a command prints and turns into exit code 2 (or `exit_code`)."""

    exit_code = 2

    def __init__(
        self, code: str, what: str, *, where: str = "", why: str = "", help: str = ""
    ) -> None:
        """Keep the five parts of the message.

        Args:
            code: stable short name, printed as `error[code]` and as `code` in JSON.
            what: what happened, one line, no final point.
            where: the file, line, option or call it concerns.
            why: the reason, as far as it is known.
            help: one thing to do, ready to paste where that is possible.
        """
        super().__init__(what)
        self.code = code
        self.what = what
        self.where = where
        self.why = why
        self.help = help

    def __str__(self) -> str:
        """Render the message as the command line prints it, without colour."""
        lines = [f"error[{self.code}]: {self.what}"]
        lines += [
            f"  {label + ':':<5} {text}"
            for label, text in (("where", self.where), ("why", self.why), ("help", self.help))
            if text
        ]
        return "\n".join(lines)


class UsageError(TapError):
    """The command line cannot be carried out as written."""


class ConfigError(TapError):
    """A configuration file or variable says something that cannot be used."""


class UpstreamError(TapError):
    """The server that the tap was to start does not serve."""


class ScriptError(TapError):
    """An answer script cannot be used as written, or has no answer that can be sent."""


class CaptureError(TapError):
    """A capture cannot be read, or cannot be written where it was asked for."""


class InconclusiveCapture(CaptureError):
    """A capture that can be read but cannot answer the question (torn, records lost, empty)."""

    exit_code = 4
