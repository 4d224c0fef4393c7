"""Which kernels there are: what each takes, needs and holds, without importing the code that runs it."""
