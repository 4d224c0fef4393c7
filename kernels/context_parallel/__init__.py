"""Attention whose sequence lies on several ranks, each with rows and keys of its own; see README.md."""
