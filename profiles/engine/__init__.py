"""Runs plans: children under supervision, or a recorded session."""
