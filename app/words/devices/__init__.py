"""Devices and what they reach, in words."""
