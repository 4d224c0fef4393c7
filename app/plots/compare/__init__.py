"""Plots of a comparison: the ratio and the curves over N, a heat map of many points, samples as strips."""
