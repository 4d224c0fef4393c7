"""The Stepper without Qt: a recorded trace, its steps, a cursor over them, and what is shown at one step."""
