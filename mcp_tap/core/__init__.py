"""What a capture says and what it means: no clock, no socket, no file in here."""
