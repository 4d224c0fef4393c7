"""What runs in a child process: checks, samples, telemetry. CuPy and NVML are imported here alone."""
