"""What a session holds: points as rows and curves, parts, what remains of its plan, trust."""
