"""Dialogs that ask: for a line, a note, an answer, a file to write."""
