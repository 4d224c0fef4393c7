"""What models and claims come to as text, as the place Learn shows it."""
