"""What reading a source can fail with."""

from flashscope.kernels.workload.errors import KernelError


class SourceError(KernelError):
    """A source has something that this reader does not understand; the text says where and what."""
