"""The machine code of the kernel on show, beside the lines of its source."""
