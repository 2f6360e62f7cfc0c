"""What people and programs see: text, the console, machine formats.  Views never touch traffic."""
