"""The window and the command line. Never imports cupy or torch."""
