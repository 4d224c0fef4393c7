"""Attention on several ranks, measured and judged in a process of its own."""
