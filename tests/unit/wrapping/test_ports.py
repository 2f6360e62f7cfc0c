from __future__ import annotations

import socket

import pytest

from mcp_tap.errors import TapError
from mcp_tap.wrapping.entries import PORTS
from mcp_tap.wrapping.ports import NAME, PortBook, is_free

HUB = ("hub", "https://h.example/mcp", "https://h.example")


def free(_):
    return True


def test_a_server_has_the_same_port_every_time(tmp_path):
    first = PortBook(tmp_path, free=free).port(*HUB)
    assert first in PORTS
    assert PortBook(tmp_path, free=free).port(*HUB) == first
    assert PortBook(tmp_path, free=free).port("hub2", *HUB[1:]) != first


def test_what_stood_there_is_remembered_once_it_is_saved(tmp_path):
    folder = tmp_path / "new"
    book = PortBook(folder, free=free)
    port = book.port(*HUB)
    assert book.origin(port) == "https://h.example"
    assert PortBook(folder).origin(port) is None
    book.save()
    assert PortBook(folder).origin(port) == "https://h.example"
    assert (folder / NAME).stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_port_that_is_taken_or_given_out_is_passed_over(tmp_path):
    book = PortBook(tmp_path, free=free)
    wanted = book.port(*HUB)
    other = PortBook(tmp_path, free=lambda port: port != wanted)
    assert other.port(*HUB) == PORTS[(wanted - PORTS[0] + 1) % len(PORTS)]


def test_a_remembered_port_is_given_though_its_tap_listens_there(tmp_path):
    book = PortBook(tmp_path, free=free)
    port = book.port(*HUB)
    book.save()
    assert PortBook(tmp_path, free=lambda _: False).port(*HUB) == port


def test_what_another_command_gave_out_meanwhile_is_kept(tmp_path):
    here, there = PortBook(tmp_path, free=free), PortBook(tmp_path, free=free)
    ports = here.port(*HUB), there.port("hub2", *HUB[1:])
    here.save()
    there.save()
    book = PortBook(tmp_path)
    assert [book.origin(port) for port in ports] == ["https://h.example"] * 2


def test_a_port_that_two_commands_gave_out_at_once_is_not_given_twice(tmp_path):
    here = PortBook(tmp_path, free=free)
    there = PortBook(tmp_path, free=lambda port: port == taken)
    taken = here.port(*HUB)
    here.save()
    assert there.port("hub2", *HUB[1:]) == taken
    with pytest.raises(TapError, match="another command"):
        there.save()
    assert PortBook(tmp_path).port(*HUB) == taken


def test_no_port_at_all_is_an_error(tmp_path):
    with pytest.raises(TapError, match="all ports"):
        PortBook(tmp_path, free=lambda _: False).port(*HUB)


def test_nothing_is_written_where_nothing_is_new(tmp_path):
    PortBook(tmp_path / "no").save()
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"version": 1}',
        b'{"version": 1, "ports": {"x": 1}}',
        b'{"version": 2, "ports": {}}',
    ],
)
def test_a_memory_that_is_broken_is_told_of_and_left(tmp_path, data):
    (tmp_path / NAME).write_bytes(data)
    with pytest.raises(TapError, match="not as mcp-tap wrote it"):
        PortBook(tmp_path)
    assert (tmp_path / NAME).read_bytes() == data


def test_a_memory_that_cannot_be_read_or_written_is_told_of(tmp_path):
    (tmp_path / NAME).mkdir()
    with pytest.raises(TapError, match="cannot be read"):
        PortBook(tmp_path)
    (tmp_path / "file").write_bytes(b"")
    book = PortBook(tmp_path / "other", free=free)
    book.port(*HUB)
    (tmp_path / "other").symlink_to("nowhere")
    with pytest.raises(TapError, match="cannot be written"):
        book.save()


def test_a_port_somebody_listens_on_is_not_free():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert not is_free(port)
    assert is_free(port)
