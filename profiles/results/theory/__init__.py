"""What formulas say of a point: footprint, bytes moved, roofline, and what binds it."""
