"""Kernels of the user's own: from a file to what it declares, and from that to a KernelSpec."""
