"""Sockets and HTTP/1.1 framing that proxy, replay and probe share."""
