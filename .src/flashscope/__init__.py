"""Flashscope: runs attention kernels on the local GPU and shows why tiling wins.

Everything is imported by this name, as `flashscope.kernels`. In a checkout the folders beside this file are
links to those at its top.
"""
