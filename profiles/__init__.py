"""Measuring and remembering. No Qt."""
