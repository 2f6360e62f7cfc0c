from __future__ import annotations

import gzip
import io
import stat
import sys

import pytest

from mcp_tap.cli.target import write_new
from mcp_tap.errors import CaptureError


def test_a_new_file_is_for_its_owner_and_packed_by_its_name(tmp_path):
    for name, read in (("a.har", bytes), ("a.har.gz", gzip.decompress)):
        write_new(str(tmp_path / name), [b"one", b"two"])
        assert read((tmp_path / name).read_bytes()) == b"onetwo"
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_equal_documents_are_equal_packed_files(tmp_path):
    for name in ("a.gz", "b.gz"):
        write_new(str(tmp_path / name), [b"same"])
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_what_cannot_be_had_to_its_end_leaves_no_file(tmp_path):
    def blocks():
        yield b"half"
        raise CaptureError("capture-damaged", "no more")

    with pytest.raises(CaptureError, match="no more"):
        write_new(str(tmp_path / "x"), blocks())
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(("name", "code"), [("there", "exists"), ("no/way", "unwritable")])
def test_a_file_that_cannot_be_made_is_an_error_with_a_way_out(tmp_path, name, code):
    (tmp_path / "there").write_bytes(b"evidence")
    with pytest.raises(CaptureError) as error:
        write_new(str(tmp_path / name), [b"x"])
    assert error.value.code == f"output-{code}"
    assert error.value.help
    assert (tmp_path / "there").read_bytes() == b"evidence"


def test_a_dash_is_standard_output(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", out)
    write_new("-", [b"\xff", b"\n"])
    assert out.buffer.getvalue() == b"\xff\n"
