"""The rules: what is a fault of a peer, one file a topic of the specification."""
