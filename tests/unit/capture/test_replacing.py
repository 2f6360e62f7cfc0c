from __future__ import annotations

import stat

import pytest

from mcp_tap.capture.replacing import replacing


def test_a_file_takes_the_place_of_another_when_it_is_whole(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError("no room"), KeyboardInterrupt()])
def test_what_cannot_be_written_leaves_nothing_behind_and_the_old_file_as_it_was(tmp_path, error):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"old")

    def write():
        with replacing(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(type(error)):
        write()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_where_no_file_can_be_is_an_error_and_nothing_is_left(tmp_path):
    folder = tmp_path / "folder"
    (folder / "below").mkdir(parents=True)
    with pytest.raises(OSError), replacing(folder) as file:  # noqa: PT011 - one of several kinds
        file.write(b"x")
    assert list(tmp_path.iterdir()) == [folder]
