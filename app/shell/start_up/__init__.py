"""From the first splash to a window that stays until it is closed."""
