"""The commands.  Each lives in a module of its own that is imported only when it runs."""
