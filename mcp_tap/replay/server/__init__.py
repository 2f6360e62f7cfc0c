"""Captures as a server: what was recorded is what clients get, with ids and states of their own."""
