"""Kernels of libraries, as peers of our ladder. The one room that imports torch."""
