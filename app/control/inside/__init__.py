"""What the place Inside asks of the engine, one thing at a time, and keeps in the session on show."""
