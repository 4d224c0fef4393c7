"""Kernels of the user's own, as far as this run of the window knows them."""
