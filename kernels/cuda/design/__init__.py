"""Cuts of flash2 and flash3 before they are compiled: what they take of a GPU, and what refuses them."""
