"""What rules look at: messages in their context, and what a client's side of a run has shown."""
