"""What is exported of plots, as pictures and as numbers."""
