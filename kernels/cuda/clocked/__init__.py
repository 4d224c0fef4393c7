"""Builds of timed kernels with clocks between their stages, and what their clocks come to."""
