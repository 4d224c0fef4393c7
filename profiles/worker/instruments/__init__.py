"""What measuring reads: clocks, counters, energy, the state of the GPU, on either backend."""
