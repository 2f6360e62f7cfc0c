"""Bytes forwarded as they are, and the records made of them."""
