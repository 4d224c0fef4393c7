"""Plots over time: telemetry, traffic, what ran when."""
