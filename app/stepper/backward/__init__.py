"""Backward passes in the Stepper: their traces as arrays, their steps, and what leads to them."""
