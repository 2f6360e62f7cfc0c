"""Clients' configuration files: where they are, what they say of servers, and the tap in them.

`jsonc`, `toml` and `entries` are pure: they find spans in bytes and make edits.  `clients`, `files`
and `ports` touch the machine.
"""
