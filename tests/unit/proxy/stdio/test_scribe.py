"""Chunks become a capture, findings and what a view shows."""

from __future__ import annotations

import pytest

from mcp_tap.capture.reader import open_path
from mcp_tap.core.records import Footer, Gap, Message, Noise
from mcp_tap.errors import CaptureError, UsageError
from mcp_tap.proxy import backlog
from mcp_tap.proxy.stdio import scribe as module
from mcp_tap.proxy.stdio.intake import Chunk
from mcp_tap.proxy.stdio.scribe import Scribe
from mcp_tap.proxy.stdio.settings import StdioSettings
from mcp_tap.proxy.stdio.steps import Seen
from tests.rig import Looker

RPC = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'


class Desk:
    def __init__(self, folder, *, judging: bool = True, sift=None, **settings) -> None:
        self.view = Looker()
        self.path = folder / "run.jsonl"
        self.scribe = Scribe(
            StdioSettings(command=["serve", "a b", "s3cret"], **settings),
            capture=self.path,
            view=self.view,
            judging=judging,
            sift=sift,
            now=lambda: 9.0,
        )

    def take(self, *chunks: Chunk) -> None:
        self.scribe.record(chunks)

    def finish(self, **options) -> list:
        self.scribe.finish("end", **{"patient": True, **options})
        return list(open_path(self.path))


def test_chunks_of_every_kind_become_records(tmp_path):
    desk = Desk(tmp_path)
    desk.take(
        Chunk("client", 1.0, RPC[:9]),
        Chunk("server", 2.0, b"banner\n"),
        Chunk("client", 3.0, RPC[9:]),
        Chunk("client", 4.0, b"", Seen(RPC, "client")),
        Chunk("stderr", 5.0, b"word"),
        Chunk("stderr", 6.0, b""),
        Chunk("server", 7.0, b"", lost=2),
    )
    header, *records, footer = desk.finish()
    assert header == desk.view.header
    assert [type(r).__name__ for r in records] == ["Noise", "Message", "Message", "Stderr", "Gap"]
    assert [r.t for r in records] == [2.0, 3.0, 4.0, 6.0, 7.0]
    assert footer == Footer(seq=7, t=9.0, exchanges=2, lost=2, how="end")
    assert desk.scribe.lost == 2
    assert desk.view.closed


def test_what_is_recorded_is_in_the_file_before_it_is_looked_at(tmp_path):
    desk = Desk(tmp_path, sync=True)
    desk.take(Chunk("client", 1.0, RPC))
    assert desk.path.read_bytes().count(b"\n") == 2
    assert desk.view.exchanges == {}
    desk.take(Chunk("server", 2.0, RPC.replace(b'"method":"ping"', b'"result":{}')))
    assert (desk.view.calls, desk.view.exchanges) == ({}, {})
    desk.scribe.look(1.0)
    assert len(desk.view.calls) + len(desk.view.exchanges) == 1
    desk.finish()


def test_findings_are_told_to_the_view_as_the_sift_has_them(tmp_path):
    desk = Desk(tmp_path, sift=lambda finding, subject: finding)
    desk.take(Chunk("server", 1.0, b"banner\n"))
    desk.scribe.look(1.0)
    assert [f.rule for f in desk.view.findings] == ["STDIO-001"]
    desk.finish()


def test_where_nobody_judges_nothing_is_told_and_all_is_recorded(tmp_path):
    desk = Desk(tmp_path, judging=False)
    desk.take(Chunk("server", 1.0, b"banner\n"), Chunk("client", 1.0, RPC))
    desk.scribe.look(1.0)
    desk.scribe.tick()
    records = desk.finish()
    assert [type(r) for r in records[1:-1]] == [Noise, Message]
    assert (desk.view.findings, desk.view.calls, desk.view.exchanges) == ([], {}, {})


def test_at_the_end_nobody_waits_long_for_judgement_unless_it_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FINISH", 0.0)
    desk = Desk(tmp_path)
    desk.take(*[Chunk("client", 1.0, RPC)] * (backlog.AT_ONCE + 4))
    records = desk.finish(patient=False)
    assert len(records) == backlog.AT_ONCE + 6
    assert desk.scribe.backlog.skipped == 4
    assert not any(isinstance(r, Gap) for r in records)


def test_the_header_tells_the_command_line_as_a_shell_reads_it_and_hides_what_is_masked(tmp_path):
    desk = Desk(tmp_path, redact=["value:s3cret"])
    assert desk.scribe.header.upstream.startswith("serve 'a b' ")
    assert "s3cret" not in desk.scribe.header.upstream
    desk.finish()


def test_what_cannot_be_used_is_refused(tmp_path):
    with pytest.raises(UsageError):
        Desk(tmp_path, redact=["nonsense"])
    (tmp_path / "run.jsonl").touch()
    with pytest.raises(CaptureError):
        Desk(tmp_path)


def test_without_a_capture_it_is_judged_all_the_same(tmp_path):
    view = Looker()
    scribe = Scribe(
        StdioSettings(command=["x"]),
        capture=None,
        view=view,
        judging=True,
        sift=None,
        now=lambda: 0.0,
    )
    scribe.record([Chunk("server", 1.0, b"banner\n")])
    scribe.finish("end", patient=True)
    assert len(view.findings) == 1
    assert scribe.lost == 0
