"""What a recorded client sent, sent to a server again, and compared with what came of it then."""
