"""What `mcp-tap redact` does, once it is known what is asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from mcp_tap.capture.reader import CaptureReader, open_capture
from mcp_tap.cli.checking import display
from mcp_tap.cli.output import Output
from mcp_tap.cli.target import STDOUT, write_new
from mcp_tap.core.records import AnyRecord, Gap, Header, encode
from mcp_tap.core.redact import Redactor
from mcp_tap.core.redact_records import RecordRedactor
from mcp_tap.core.text import plural, pointer_words, safe
from mcp_tap.errors import InconclusiveCapture
from mcp_tap.exporting.suspects import Suspect, suspects
from mcp_tap.proxy.beginning import masking_key


class Masking:
    """One capture on its way to another file."""

    def __init__(
        self, capture: str | None, specs: Sequence[str], *, default: bool, key: str | None
    ) -> None:
        """Open the capture; nothing is written yet.

        Args:
            capture: as a person names it.
            specs: what is masked beside the default.
            default: credentials are masked, too.
            key: file that holds the masking key; None: a random one.

        Raises:
            TapError: a specification, the key or the capture cannot be used.
        """
        redactor = Redactor(masking_key(key), default=default, specs=specs)
        self._redactor = RecordRedactor(redactor, specs, default=default)
        self._reader = open_capture(capture)
        self._read = 0

    def run(self, target: str, out: Output) -> int:
        """Write the masked records, and say what was masked; always 0.

        Raises:
            CaptureError: the capture cannot be read to its end, or the file not be written.
        """
        write_new(target, self._lines())
        self._say(target, out)
        return 0

    def _lines(self) -> Iterator[bytes]:
        last: AnyRecord = self._reader.header
        for last in self._reader:
            self._read += 1
            yield self._line(last)
        if self._reader.torn is not None:  # or nobody could tell from the new file
            gap = Gap(seq=last.seq + 1, t=last.t, lost=1, why="the line was torn")
            yield self._line(gap)

    def _line(self, record: AnyRecord) -> bytes:
        if isinstance(record, Header) and self._reader.from_start:
            # What comes before a part that is gone is missing in the new file as well.
            record = msgspec.structs.replace(record, part=1, seq=0, t=0.0)
        return encode(self._redactor.masked_record(record)) + b"\n"

    def _say(self, target: str, out: Output) -> None:
        done, reader = self._redactor, self._reader
        if reader.torn is not None:
            out.say(
                f"warning[capture-torn]: {reader.torn.name} stops in the middle of line"
                f" {reader.torn.line}; a gap stands in its place"
            )
        elif reader.lost:
            out.say(f"warning[records-lost]: {plural(reader.lost, 'record')} of it are missing")
        where = "standard output" if target == STDOUT else target
        what = "nothing was found to mask"
        if done.masked:
            what = f"{plural(done.masked, 'value')} masked in {plural(done.records, 'record')}"
        out.say(f"{what} of {self._read}, {reader.name}, written to {where}")


class Scan:
    """Looks for secrets in one capture."""

    def __init__(self, capture: str | None, out: Output) -> None:
        """Open the capture.

        Raises:
            CaptureError: it cannot be read.
        """
        self._reader: CaptureReader = open_capture(capture)
        self._out = out

    def run(self) -> int:
        """List what looks like a secret; 1 if something does.

        Raises:
            InconclusiveCapture: nothing does, but not all of the capture could be read.
        """
        count = 0
        rows: list[dict[str, Any]] = []
        for record in self._reader:
            for found in suspects(record):
                count += 1
                file, line = self._reader.where(record.seq)
                if self._out.json:
                    rows.append(_document(found, display(file), line))
                else:
                    self._out.write(_words(found, display(file) or "-", line))
        if self._out.json:
            document = {"version": 1, "suspects": rows}
            self._out.document(msgspec.json.format(msgspec.json.encode(document)))
        sys.stdout.flush()
        reader = self._reader
        if count:
            self._out.say(f"{plural(count, 'place')} in {reader.name} to look at")
            return 1
        if reader.torn is not None or reader.lost:
            raise InconclusiveCapture(
                "capture-torn" if reader.torn is not None else "records-lost",
                f"{reader.name} is not whole",
                why="nothing in it looks like a secret, but there may have been more",
            )
        self._out.say(f"nothing in {reader.name} looks like a secret")
        return 0


def _words(found: Suspect, name: str, line: int) -> str:
    named = f" in {safe(found.key[:60])}" if found.key else ""
    return f"{name}:{line}: {found.kind}{named}, at {pointer_words(found.at)}"


def _document(found: Suspect, path: str | None, line: int) -> dict[str, Any]:
    return {
        "path": path,
        "line": line,
        "seq": found.seq,
        "pointer": found.at,
        "key": found.key,
        "kind": found.kind,
    }
