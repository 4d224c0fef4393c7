"""Where the warps of a launch stand: a launch in a process of its own, sampled by Nsight Compute."""
