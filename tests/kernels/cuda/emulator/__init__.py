"""Runs the CUDA sources of the kernels on a CPU, to show without a GPU what they compute.

README.md in this folder says how it works, what it models and what it does not.
"""
