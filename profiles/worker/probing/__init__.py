"""What this machine has to run kernels on, and what it lacks."""
