"""The kernels in CUDA C++, compiled with CuPy. Imported only where a GPU is used."""
