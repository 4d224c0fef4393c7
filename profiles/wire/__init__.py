"""What crosses a process: events and messages, typed, msgspec alone."""
