"""Models of Hugging Face Transformers: our kernels in them, and what their own attention asks for."""
