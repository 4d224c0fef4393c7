"""Runs plans in child processes under supervision; what an engine is, and the one of this machine."""
