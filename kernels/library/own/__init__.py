"""Functions of the user's own: run, checked and told of; in the worker alone."""
