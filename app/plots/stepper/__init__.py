"""The Stepper's panels: each paints one moment, remembers nothing, and says in words what it shows."""
