"""Launches that may begin while the one before them ends, which CuPy cannot ask for.

CUDA Driver API, cuLaunchKernelEx; CUDA C++ Programming Guide, Programmatic Dependent Launch and
Synchronization. The kernel itself waits for what it reads: include/launch_order.cuh.
"""

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from flashscope.kernels.cuda.driver import cause_of, driver
from flashscope.kernels.cuda.program import KernelLaunch
from flashscope.kernels.workload.errors import KernelError

PROGRAMMATIC_STREAM_SERIALIZATION = 6  # CUlaunchAttributeID


class Attribute(ctypes.Structure):
    """CUlaunchAttribute: what is asked for, and 64 bytes of which this one takes an int."""

    _fields_ = (
        ("name", ctypes.c_int),
        ("gap", ctypes.c_char * 4),
        ("value", ctypes.c_int),
        ("rest", ctypes.c_char * 60),
    )


class Config(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(Attribute)),
        ("attribute_count", ctypes.c_uint),
    )


class PdlLaunch:
    """A launch with its arguments, made ready once: call it to enqueue it on the current stream.

    The launch before it must be the last thing that the stream was given. Not for two threads at once, as all
    that shares outputs and workspace.
    """

    def __init__(self, launch: KernelLaunch, function: int, arguments: tuple[Any, ...]) -> None:
        """Bind the driver's CUfunction at an address to CuPy arrays and NumPy scalars of its exact types."""
        import cupy  # noqa: PLC0415 - a program can be described and compiled without it

        self._entry, self._stream = launch.entry, cupy.cuda.get_current_stream
        self._arguments = arguments  # kept alive, as are their images
        self._images = tuple(map(_image, arguments))
        parameters = (ctypes.c_void_p * len(arguments))(*(image.ctypes.data for image in self._images))
        attribute = Attribute(name=PROGRAMMATIC_STREAM_SERIALIZATION, value=1)
        self._config = Config(
            grid=(launch.grid, 1, 1),
            block=(launch.threads, 1, 1),
            shared_bytes=launch.shared_bytes,
            attributes=ctypes.pointer(attribute),
            attribute_count=1,
        )
        self._launch = driver().cuLaunchKernelEx
        self._called = (ctypes.byref(self._config), ctypes.c_void_p(function), parameters, None)

    def __call__(self) -> None:
        """Enqueue it.

        Raises:
            KernelError: The driver refuses; the text says why.
        """
        self._config.stream = self._stream().ptr
        status = self._launch(*self._called)
        if status:
            raise KernelError(f"The driver refused to launch {self._entry}: {cause_of(status)}.")


def _image(argument: Any) -> npt.NDArray[Any]:
    """A parameter's bytes: a scalar's own, or an array's address."""
    return np.array(argument) if isinstance(argument, np.generic) else np.array(argument.data.ptr, np.uintp)
