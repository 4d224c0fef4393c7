"""The Stepper without a window: a trace, its snapshots, a cursor over them, and the numbers of one moment."""
