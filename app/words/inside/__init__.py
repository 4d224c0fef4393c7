"""Figures and states of one kernel as text, as the place Inside shows them."""
