"""Tests of the window in which a story is written."""
