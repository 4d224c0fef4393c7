"""Timed backward passes with their recording compiled in, and how that is read."""
