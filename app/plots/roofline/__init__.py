"""A roofline, drawn."""
