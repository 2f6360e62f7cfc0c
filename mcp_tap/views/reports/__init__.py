"""The reports of `check`, a module each format."""
