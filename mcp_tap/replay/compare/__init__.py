"""Two runs, or two calls, compared: what was said, never with which ids, states and tokens."""
