"""The tap around a local server process: its standard streams, recorded line by line.

Nothing in here imports more than the standard library at the top, but for what `recording` needs:
the server is started first, and what is slow to load comes after.
"""
