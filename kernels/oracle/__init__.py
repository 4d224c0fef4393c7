"""Whether what was computed is right: float64 references, the bounds of errors, and verdicts."""
