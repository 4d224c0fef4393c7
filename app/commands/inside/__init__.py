"""The commands that look inside a kernel: source, steps, stages, stalls, gradients and cuts."""
