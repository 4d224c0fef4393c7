"""The window around the pages, and what it offers."""
