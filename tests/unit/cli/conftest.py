from __future__ import annotations

import pytest

from mcp_tap.cli import serve


@pytest.fixture
def jobs(monkeypatch, tmp_path):
    """Catch what a command would serve over HTTP."""
    monkeypatch.chdir(tmp_path)
    caught = []
    monkeypatch.setattr(serve, "main", lambda job, out: caught.append(job) or 0)
    return caught
