"""What each command takes and says of itself; the command's own module is imported when it runs."""
