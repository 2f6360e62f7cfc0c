"""Captures in other tools' formats, and what of them should not be given away."""
