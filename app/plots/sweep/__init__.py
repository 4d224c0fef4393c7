"""Plots over sequence length: curves, their names, the rail of what has no value."""
