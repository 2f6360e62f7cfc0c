from __future__ import annotations

import asyncio
import json
import os
import socket
from pathlib import Path

import pytest

from mcp_tap.cli import serve
from mcp_tap.cli.common import Output
from mcp_tap.errors import UsageError
from mcp_tap.proxy.settings import TapSettings


def test_ready_file_is_one_line_and_appears_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "ready.json"
    path.write_text("an older one")
    serve._write_ready(path, "http://127.0.0.1:1/mcp", Path("run.jsonl"))
    assert path.read_text().count("\n") == 1
    assert json.loads(path.read_text()) == {
        "url": "http://127.0.0.1:1/mcp",
        "web": None,
        "capture": str(tmp_path / "run.jsonl"),
        "pid": os.getpid(),
    }
    assert [p.name for p in tmp_path.iterdir()] == ["ready.json"]


def test_ready_file_can_name_a_capture_whose_name_is_no_utf_8(tmp_path):
    serve._write_ready(tmp_path / "ready.json", "u", Path("run-\udcff.jsonl"))
    capture = json.loads((tmp_path / "ready.json").read_text(encoding="utf-8"))["capture"]
    assert capture.endswith("run-\ufffd.jsonl")


def test_ready_file_that_cannot_be_replaced_leaves_nothing_behind(tmp_path):
    (tmp_path / "ready.json").mkdir()
    with pytest.raises(UsageError) as error:
        serve._write_ready(tmp_path / "ready.json", "u", Path("c"))
    assert error.value.code == "ready-file"
    assert [p.name for p in tmp_path.iterdir()] == ["ready.json"]


@pytest.mark.parametrize(
    ("host", "listen"), [("127.0.0.1", ""), ("0.0.0.0", "0.0.0.0:"), ("::1", "[::1]:")]
)
def test_taken_port_names_the_next_free_one(host, listen):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    settings = TapSettings(upstream="http://x/a?b", host=host, port=40000)
    taken = UsageError("port-taken", "taken")
    error = serve._port_taken(taken, settings, "http 'http://x/a?b'")
    command, _, free = error.help.rpartition(" ")
    assert command == "mcp-tap http 'http://x/a?b' --listen"
    assert free.startswith(listen)
    port = int(free.removeprefix(listen))
    assert port > 40000 or port == 0
    with socket.socket(family) as probe:
        probe.bind((host, port))


def test_open_doors_are_warned_of():
    open_ = TapSettings(upstream="u", host="0.0.0.0", allow_host=["*"], allow_origin=["*"])
    far, page = serve.warnings(open_)
    assert far.startswith("listening on 0.0.0.0: other machines")
    assert page.startswith("any web page in your browser")
    assert list(serve.warnings(TapSettings(upstream="u", host="localhost"))) == []


class Gone:
    gone = True


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (None, "the view's reader is gone"),
        (BrokenPipeError(32, "Broken pipe"), "the view's reader is gone"),
        (OSError(28, "No space left on device"), "cannot write to standard output: No space left"),
    ],
)
async def test_view_that_nobody_can_see_is_told_once(monkeypatch, capsys, failure, words):
    monkeypatch.setattr(serve.streams, "failure", lambda: failure)
    serve.Onlooker(Gone(), Output())
    serve.Onlooker(Gone(), Output()).end()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    err = capsys.readouterr().err
    assert err.startswith(f"mcp-tap: {words}")
    assert err.endswith("; still recording\n")
    assert err.count("\n") == 1
