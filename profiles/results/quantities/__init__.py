"""Everything that a point has a figure of, each declared once."""
