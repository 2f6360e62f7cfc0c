from __future__ import annotations

import fcntl
import os
import stat

import pytest

from mcp_tap.capture import file as module
from mcp_tap.capture.file import CaptureFile, being_written, make_private_folder
from mcp_tap.errors import CaptureError
from tests.captures import header, lines_of, message


@pytest.fixture(params=[0o000, 0o022, 0o777])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_are_private_and_new_folders_too_whatever_the_umask(tmp_path, umask):
    path = tmp_path / "a" / "b" / "run.jsonl"
    make_private_folder(path.parent)
    file = CaptureFile(path, header())
    file.next_part()
    file.close()
    assert [mode(part) for part in file.parts] == [0o600, 0o600]
    assert [mode(folder) for folder in (path.parent, path.parent.parent)] == [0o700, 0o700]


def test_a_folder_that_exists_keeps_its_mode(tmp_path):
    tmp_path.chmod(0o755)
    make_private_folder(tmp_path)
    assert mode(tmp_path) == 0o755


def test_no_folder_is_made_for_a_file_with_a_mistyped_name(tmp_path):
    with pytest.raises(CaptureError) as caught:
        CaptureFile(tmp_path / "no such" / "run.jsonl", header())
    assert caught.value.code == "capture-unwritable"
    assert caught.value.help == f"mkdir -p '{tmp_path}/no such'"
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_never_taken_and_a_free_name_is_offered(tmp_path):
    path = tmp_path / "my run.jsonl"
    path.write_text("mine")
    (tmp_path / "my run-2.jsonl").touch()
    with pytest.raises(CaptureError) as caught:
        CaptureFile(path, header())
    assert caught.value.code == "capture-exists"
    assert caught.value.help == f"--write '{tmp_path}/my run-3.jsonl'"
    assert path.read_text() == "mine"


def test_a_folder_is_refused_with_a_name_inside_it(tmp_path):
    with pytest.raises(CaptureError) as caught:
        CaptureFile(tmp_path, header())
    assert caught.value.code == "capture-exists"
    assert "is a folder" in caught.value.what


def test_a_place_that_cannot_be_written_to_is_said_before_anything_starts(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CaptureError) as caught:
        CaptureFile(tmp_path / "file" / "run.jsonl", header())
    assert caught.value.code == "capture-unwritable"
    assert caught.value.why


def test_a_foreign_file_with_the_name_of_the_next_part_is_passed_over(tmp_path):
    (tmp_path / "run.jsonl.001").write_text("mine")
    file = CaptureFile(tmp_path / "run.jsonl", header())
    file.append(lines_of(message(1)))
    file.next_part()
    file.close()
    assert [part.name for part in file.parts] == ["run.jsonl", "run.jsonl.002"]
    assert (tmp_path / "run.jsonl.001").read_text() == "mine"


def test_the_lock_tells_that_a_part_is_being_written(tmp_path):
    path = tmp_path / "run.jsonl"
    file = CaptureFile(path, header())
    assert being_written(path)
    file.next_part()
    assert not being_written(path)
    assert being_written(file.current)
    file.close()
    assert not being_written(file.current)
    assert not being_written(tmp_path / "absent.jsonl")


def test_a_line_nested_deeper_than_a_parser_goes_is_a_line_all_the_same(tmp_path):
    file = CaptureFile(tmp_path / "run.jsonl", header())
    deep = b'{"kind":"message","seq":7,"t":1.5,"sender":"client","body":' + b"[" * 3000
    assert file.append(deep + b"]" * 3000 + b"}\n", 1)[1] is None
    file.next_part()
    file.close()
    again = file.parts[1].read_bytes()
    assert b'"seq":7,"t":1.5' in again


def test_whoever_asks_for_the_lock_while_a_file_is_made_does_not_keep_it(tmp_path, monkeypatch):
    asking, path = [], tmp_path / "run.jsonl"
    real = os.fchmod

    def ask(fd, mode):
        real(fd, mode)
        asking.append(os.open(path, os.O_RDONLY))
        fcntl.flock(asking[0], fcntl.LOCK_SH)

    monkeypatch.setattr(module.os, "fchmod", ask)
    monkeypatch.setattr(module, "sleep", lambda _: os.close(asking.pop()))
    file = CaptureFile(path, header())
    assert asking == []
    assert being_written(path)
    file.close()
