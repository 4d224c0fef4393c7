"""Where the warps of the kernel on show stand, and why: samples beside its lines and instructions."""
