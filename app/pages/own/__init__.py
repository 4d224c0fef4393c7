"""How a kernel of the user's own comes into the window: chosen or dropped, asked about, and put in a list."""
