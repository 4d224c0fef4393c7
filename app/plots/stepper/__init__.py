"""The Stepper's panels: each paints one step, and can say in words what it shows."""
