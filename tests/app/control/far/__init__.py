"""Devices of other machines, as the window uses them."""
