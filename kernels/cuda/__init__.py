"""The kernels in CUDA C++. Launching them takes CuPy and a GPU; design, sources and SASS take neither."""
