"""The user's own kernels and their versions, in words."""
