"""From arrays to a run: arguments checked, kernels bound to their arrays, passes, traces."""
