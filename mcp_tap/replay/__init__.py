"""Recorded runs brought back: served to clients, sent to servers, and compared with each other."""
