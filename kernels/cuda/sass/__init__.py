"""The machine code (SASS) of a kernel beside the lines of its source, made without a GPU."""
