"""Running plans: one driver over any engine, and the recording of what that says."""
