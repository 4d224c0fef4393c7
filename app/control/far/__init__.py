"""Devices of other machines, and several of this one, as the window uses them."""
