"""A window in which a story is written."""
