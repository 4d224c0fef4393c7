"""Plots of attention on several ranks: curves of schemes over N, and what each rank did when."""
