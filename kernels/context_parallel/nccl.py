"""Transfers by NCCL, through `cupy.cuda.nccl`: sends and receives of one meeting in one group.

They are kernels and take multiprocessors from products beside them. A rank's transfer lasts from when it
is ready until all of it is there, so waiting for a neighbour that is not ready counts. NVLink multicast
(NVLS), which sends and receives do not use, stays off: some hosts refuse it.
"""

import os
from collections.abc import Sequence
from typing import Any

import cupy

from flashscope.kernels.context_parallel.gpu import CudaPlace, StreamChannel, place_of
from flashscope.kernels.context_parallel.host import Delivery
from flashscope.kernels.workload.errors import DeviceUnavailableError, InputError


class NcclChannel(StreamChannel):
    """Sends and receives of NCCL.

    Raises:
        InputError: Ranks share a GPU.
        DeviceUnavailableError: CuPy finds no NCCL.
    """

    def __init__(self, places: Sequence[CudaPlace]) -> None:
        super().__init__()
        devices = [place.index for place in places]
        if len(set(devices)) < len(devices):
            raise InputError("NCCL takes one rank a GPU; choose peer copies for ranks that share one.")
        os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
        self._nccl = _nccl()
        self._communicators = self._nccl.NcclCommunicator.initAll(devices)

    def _move(self, due: list[Delivery]) -> None:
        bytes_of = self._nccl.NCCL_UINT8
        self._nccl.groupStart()
        for one in due:
            source, target = place_of(one.source), place_of(one.target)
            with cupy.cuda.Device(source.index):
                self._communicators[one.source.index].send(
                    one.given.data.ptr, one.given.nbytes, bytes_of, one.target.index, source.transfer.ptr
                )
            with cupy.cuda.Device(target.index):
                self._communicators[one.target.index].recv(
                    one.taken.data.ptr, one.taken.nbytes, bytes_of, one.source.index, target.transfer.ptr
                )
        self._nccl.groupEnd()


def _nccl() -> Any:
    try:
        from cupy.cuda import nccl  # noqa: PLC0415 - CuPy may have been built without it
    except ImportError as error:
        raise DeviceUnavailableError(
            f"CuPy finds no NCCL ({error}); install nvidia-nccl, or choose peer copies."
        ) from error
    if not nccl.available:
        raise DeviceUnavailableError("CuPy finds no NCCL; install nvidia-nccl, or choose peer copies.")
    return nccl
