"""Figures and states as text. No Qt: the command line says the same words."""
