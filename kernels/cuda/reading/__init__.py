"""The CUDA sources as one reads them: a step of the ladder without the other steps' branches."""
