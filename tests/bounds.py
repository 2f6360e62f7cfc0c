"""How long tests wait for what must come.

Only a test that fails waits so long, so that there is room for a machine that is busy with other
things: there an interpreter alone needs seconds to start.
"""

BOUND = 60.0
"""Seconds any single wait may take, be it for a thread, a socket or another process."""
TEST = 240.0
"""Seconds a test may take in all; the runner's own limit (pyproject.toml) lies above it."""
