"""`mcp-tap` and `python -m mcp_tap`: the entry, in place before anything slow loads."""

from __future__ import annotations

import os

INTERRUPTED = 130

try:
    import signal
except KeyboardInterrupt:  # it takes longest of what comes before the handler
    os._exit(INTERRUPTED)


def main() -> None:
    """Run `mcp-tap`; an interrupt ends it without a traceback, whenever it comes."""
    before = signal.getsignal(signal.SIGINT)
    ignored = before is signal.SIG_IGN  # a shell started it in the background: so it stays
    if not ignored:
        signal.signal(signal.SIGINT, _leave)
    from mcp_tap.cli.main import main as run  # noqa: PLC0415 - takes time

    try:
        if not ignored:
            signal.signal(signal.SIGINT, before)
        run()
    except KeyboardInterrupt:
        _leave()
    finally:
        if not ignored:
            signal.signal(signal.SIGINT, _leave)  # while Python puts itself away


def _leave(*_: object) -> None:
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
