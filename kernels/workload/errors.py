"""What can go wrong when attention is asked for, compiled or launched."""


class KernelError(Exception):
    """Base of every error this package raises; its text is one sentence for a user."""


class InputError(KernelError, ValueError):
    """The arrays or options given are not what the kernel accepts."""


class UnsupportedError(KernelError):
    """The kernel cannot run this problem on this device; the text says why."""


class DeviceUnavailableError(KernelError):
    """The backend asked for is not usable on this machine; the text names the remedy."""


class CompileError(KernelError):
    """The CUDA compiler refused a kernel.

    Attributes:
        log: The compiler's full output.
    """

    def __init__(self, message: str, log: str) -> None:
        super().__init__(message)
        self.log = log
