"""The kernels in NumPy, written to be read beside the CUDA ones."""
