"""Several devices that speak as one engine."""
