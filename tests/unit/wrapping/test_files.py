from __future__ import annotations

import pytest

from mcp_tap.wrapping import files
from mcp_tap.wrapping.files import FileError


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "mcp.json"
    path.write_bytes(b"old\r\n")
    path.chmod(0o640)
    return path


def test_a_file_is_replaced_with_its_mode_kept_and_nothing_left_over(path):
    files.replace(files.read(path), b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in path.parent.iterdir()] == ["mcp.json"]


def test_a_link_stays_a_link_and_its_target_is_replaced(path, tmp_path):
    link = tmp_path / "home" / "link.json"
    link.parent.mkdir()
    link.symlink_to("../mcp.json")
    file = files.read(link)
    files.replace(file, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert files.keep_copy(file).parent == path.parent


def test_copies_are_never_written_over_and_equal_ones_are_not_made_twice(path):
    first = files.keep_copy(files.read(path))
    assert first.name == "mcp.json.mcp-tap-backup"
    assert files.keep_copy(files.read(path)) == first
    path.write_bytes(b"other")
    second = files.keep_copy(files.read(path))
    assert second.name == "mcp.json.mcp-tap-backup.1"
    assert (first.read_bytes(), second.read_bytes()) == (b"old\r\n", b"other")
    assert second.stat().st_mode & 0o777 == 0o640


def test_a_copy_that_more_people_can_read_than_the_file_does_not_serve(path):
    first = files.keep_copy(files.read(path))
    path.chmod(0o600)
    second = files.keep_copy(files.read(path))
    assert second != first
    assert second.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    assert files.keep_copy(files.read(path)) == first


def test_a_copy_there_is_no_room_for_is_told_of_and_no_half_of_it_stays(path):
    resource = pytest.importorskip("resource")
    file, before = files.read(path), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2, before[1]))
    try:
        with pytest.raises(FileError, match="no copy of"):
            files.keep_copy(file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [one.name for one in path.parent.iterdir()] == ["mcp.json"]


def test_a_file_that_another_program_has_changed_is_left_as_that_has_it(path):
    file = files.read(path)
    path.write_bytes(b"theirs")
    with pytest.raises(FileError, match="changed by another program"):
        files.replace(file, b"ours")
    assert path.read_bytes() == b"theirs"
    assert [one.name for one in path.parent.iterdir()] == ["mcp.json"]


def test_a_read_only_file_is_refused_even_where_its_folder_could_be_written(path):
    path.chmod(0o440)
    with pytest.raises(FileError, match="read-only") as refused:
        files.check_writable(files.read(path))
    assert refused.value.help == f"chmod u+w {path}"


def test_what_cannot_be_read_is_told_with_the_reason(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(FileError) as loop:
        files.read(tmp_path / "a")
    assert "symbolic links" in loop.value.why
    with pytest.raises(FileError) as missing:
        files.read(tmp_path / "none")
    assert missing.value.why == "no such file or directory"
    with pytest.raises(FileError, match="no regular file"):
        files.read(tmp_path)


def test_a_folder_that_takes_no_file_is_told_of_and_nothing_is_lost(path):
    file = files.read(path)
    gone = files.ConfigFile(path, path.parent / "none" / "mcp.json", file.data, file.mode)
    with pytest.raises(FileError, match="no copy"):
        files.keep_copy(gone)
    with pytest.raises(FileError, match="cannot be written"):
        files.replace(gone, b"new")


def test_a_failure_on_the_way_leaves_no_file_behind(path):
    def fail(_):
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        files.put(path, b"new", fail)
    assert path.read_bytes() == b"old\r\n"
    assert [one.name for one in path.parent.iterdir()] == ["mcp.json"]
