"""Attention kernels: what runs. No Qt, no storage, no clock."""
