"""Ranks on GPUs, timed by events. Imports CuPy: child processes only.

All GPUs are held until everything is enqueued, so that no rank waits for the host that serves the others.
Events of one GPU are compared with one another alone: each rank's time runs from when its own GPU is let go.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import cupy
from cupy.cuda import runtime

from flashscope.kernels.context_parallel.gpu import (
    CudaPlace,
    PeerChannel,
    StreamChannel,
    draw_owned,
    places_on,
)
from flashscope.kernels.context_parallel.nccl import NcclChannel
from flashscope.kernels.context_parallel.running import Ranks
from flashscope.kernels.context_parallel.schemes import Partition
from flashscope.profiles.wire.ranks import LinkKind, StepTime
from flashscope.profiles.worker.instruments.gate import Gate
from flashscope.profiles.worker.ranks.spans import TimedRun


class GpusBench:
    """CUDA events on each rank's GPU; see `RanksBench`.

    Raises:
        InputError: There are not so many GPUs, or ranks share one and NCCL is asked for.
        DeviceUnavailableError: There is no GPU, or no NCCL.
    """

    timer = "CUDA events, the slowest rank"

    def __init__(self, devices: Sequence[int], transport: LinkKind) -> None:
        self._places = places_on(devices)
        self._channel: StreamChannel = NcclChannel(self._places) if transport == "nccl" else PeerChannel()
        self._gates: dict[int, Gate] = {}
        for place in self._places:
            place.recording = True
            with place.here():
                self._gates.setdefault(place.index, Gate())
        self.device, self.devices = self._places[0].device, tuple(devices)

    def ranks(self, partition: Partition) -> Ranks:
        """See `RanksBench`."""
        owned = [draw_owned(partition, index, place) for index, place in enumerate(self._places)]
        return Ranks(partition, self._places, owned, self._channel)

    def here(self) -> AbstractContextManager[Any]:
        """See `RanksBench`."""
        return self._places[0].here()

    def free_bytes(self) -> int:
        """See `RanksBench`."""
        with self.here():
            cupy.get_default_memory_pool().free_all_blocks()
            return int(runtime.memGetInfo()[0])

    def time(self, ranks: Ranks, run: Callable[[], None]) -> TimedRun:
        """See `RanksBench`."""
        self._wait()
        with ExitStack() as held:
            held.enter_context(_nothing_collected())
            first = self._first_on_each()
            for place in first:
                with place.here():
                    held.enter_context(self._gates[place.index].closed())
            starts = self._marks()
            run()
            ends = self._marks()
            gated = (start for place, start in zip(self._places, starts, strict=True) if place in first)
            in_time = not any(start.done for start in gated)  # ranks that share a GPU wait for the first one
        self._wait()
        pairs = list(zip(starts, ends, strict=True))
        steps = tuple(
            tuple(
                StepTime(
                    lane=one.lane,
                    step=one.step,
                    begin_ms=_elapsed_ms(start, one.begin),
                    end_ms=_elapsed_ms(start, one.end),
                )
                for one in rank.spans
            )
            for rank, start in zip(ranks.members, starts, strict=True)
        )
        return TimedRun(max(_elapsed_ms(*pair) for pair in pairs), steps, in_time)

    def time_alone(self, run: Callable[[], None]) -> float:
        """See `RanksBench`."""
        self._wait()
        place = self._places[0]
        with place.here():
            with self._gates[place.index].closed():
                start = place.mark(place.product)
                run()
                end = place.mark(place.product)
            end.synchronize()
        return _elapsed_ms(start, end)

    def _first_on_each(self) -> list[CudaPlace]:
        return list({place.index: place for place in reversed(self._places)}.values())

    def _marks(self) -> list[Any]:
        return [place.mark(place.product) for place in self._places]

    def _wait(self) -> None:
        for place in self._first_on_each():
            with place.here():
                runtime.deviceSynchronize()


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """No garbage is collected meanwhile: what it gives back to a GPU may wait for a run there to end."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _elapsed_ms(start: Any, end: Any) -> float:
    return float(cupy.cuda.get_elapsed_time(start, end))
