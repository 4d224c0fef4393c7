"""Experiments: code that runs, by what it needs."""
