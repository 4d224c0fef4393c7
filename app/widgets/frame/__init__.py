"""What frames every place of the window: bars, rail, the lines below, sheets over it, and where keys go."""
