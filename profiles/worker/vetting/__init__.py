"""What kernels of the user's own are asked beside being right, and seen doing, before they are believed."""
