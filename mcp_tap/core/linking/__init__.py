"""Linking: from records to exchanges, rounds and calls, by evidence."""
