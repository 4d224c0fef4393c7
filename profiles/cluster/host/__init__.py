"""A host: the processes that lend its devices."""
