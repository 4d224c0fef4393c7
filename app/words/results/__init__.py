"""What was measured, and what is being measured, in words."""
