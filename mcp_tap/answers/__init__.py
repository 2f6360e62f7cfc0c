"""Answering what servers ask, by a script.  PURE: no clock, no files, no environment of its own."""
