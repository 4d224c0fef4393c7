"""Ranks on GPUs, in CuPy: one thread enqueues for all; each rank has a stream of products, one of transfers.

Whatever is posted at a meeting begins when the products before it have ended, on both sides, and runs beside
the product behind it: that is double buffering, held by events alone. Several ranks may share a GPU: they
prove what is computed there, and measure nothing.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import cupy
from cupy.cuda import runtime

from flashscope.kernels.context_parallel.host import Delivery, deliveries
from flashscope.kernels.context_parallel.place import RankLane
from flashscope.kernels.context_parallel.rank import Owned, RankSpan, SequenceRank
from flashscope.kernels.context_parallel.schemes import Partition
from flashscope.kernels.context_parallel.sums_program import ADD, MERGE, RowParts, program
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.cuda.launch import BoundLaunch, bind_launches, load_kernels
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.arrays import in_bits
from flashscope.kernels.workload.errors import InputError

ALREADY_ENABLED = 704  # cudaErrorPeerAccessAlreadyEnabled
MOST_RANKS = 1 << 12  # that seeds are kept apart for


class CudaPlace:
    """A rank's part of a GPU.

    Attributes:
        device: The GPU.
        index: Its CUDA index.
        product: The stream of products.
        transfer: The stream in which arrays arrive.
        recording: Whether stamps are events; else there are none.
    """

    def __init__(self, index: int) -> None:
        self.device, self.index = describe(index), index
        self.recording = False
        with cupy.cuda.Device(index):
            self.product = cupy.cuda.Stream(non_blocking=True)
            self.transfer = cupy.cuda.Stream(non_blocking=True)
        self._kernels: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self._bound: dict[tuple[Any, ...], BoundLaunch] = {}

    @contextmanager
    def here(self) -> Iterator[None]:
        """See `RankPlace`."""
        with cupy.cuda.Device(self.index), self.product:
            yield

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """See `RankPlace`."""
        return cupy.empty(shape, dtype)

    def address(self, array: Any) -> int:
        """See `RankPlace`."""
        return int(array.data.ptr)

    def to_host(self, array: Any) -> Any:
        """See `RankPlace`."""
        return in_bits(array).get().view(array.dtype)

    def from_host(self, array: Any) -> Any:
        """See `RankPlace`."""
        return cupy.asarray(in_bits(array)).view(array.dtype)

    def put(self, target: Any, source: Any) -> None:
        """See `RankPlace`."""
        found = source if source.dtype == target.dtype else source.astype(target.dtype)
        in_bits(target)[...] = in_bits(found)

    def add(self, sums: Any, first: int, part: Any) -> None:
        """See `RankPlace`."""
        self._run(ADD, first, {"part": part, "sums": sums})

    def merge(self, output: Any, lse: Any, first: int, part: Any, part_lse: Any) -> None:
        """See `RankPlace`."""
        self._run(MERGE, first, {"part": part, "part_lse": part_lse, "output": output, "lse": lse})

    def stamp(self, lane: RankLane) -> Any:
        """An event in the lane's stream."""
        return self.mark(getattr(self, lane)) if self.recording else None

    def mark(self, stream: Any) -> Any:
        """An event that is recorded in one of its streams."""
        with cupy.cuda.Device(self.index):
            event = cupy.cuda.Event(disable_timing=not self.recording)
            event.record(stream)
        return event

    def _run(self, entry: str, first: int, arrays: dict[str, Any]) -> None:
        part = arrays["part"]
        whole = arrays["sums"] if entry == ADD else arrays["output"]
        key = (entry, first, part.shape, whole.shape, *map(self.address, arrays.values()))
        if key not in self._bound:
            made = program(entry, RowParts(part.shape, first, whole.shape[2], part.dtype.name))
            build = (entry, part.dtype.name, part.shape[3])
            if build not in self._kernels:
                self._kernels[build] = load_kernels(made)
            (self._bound[key],) = bind_launches(made, self._kernels[build], arrays)
        self._bound[key]()


def gpu_count() -> int:
    """How many GPUs CuPy sees.

    Raises:
        DeviceUnavailableError: None, or there is no CuPy.
    """
    describe()
    return int(runtime.getDeviceCount())


def places_on(indices: Sequence[int]) -> list[CudaPlace]:
    """A place for each rank on these GPUs, which may copy to one another where they can.

    Raises:
        InputError: There is no such GPU.
    """
    there = gpu_count()
    for index in indices:
        if not 0 <= index < there:
            raise InputError(f"There is no GPU {index}: GPUs are numbered from 0 to {there - 1} here.")
    for one in set(indices):
        with cupy.cuda.Device(one):
            for other in set(indices) - {one}:
                _enable_peer_access(one, other)
    return [CudaPlace(index) for index in indices]


def _enable_peer_access(one: int, other: int) -> None:
    """Without it copies go through host memory."""
    if not runtime.deviceCanAccessPeer(one, other):
        return
    try:
        runtime.deviceEnablePeerAccess(other)
    except runtime.CUDARuntimeError as error:
        if error.status != ALREADY_ENABLED:
            raise


def draw_owned(partition: Partition, index: int, place: CudaPlace) -> Owned:
    """A rank's rows and keys, standard-normal, rounded to the problem's dtype, drawn where they lie."""
    problem, held = partition.problem, partition.holdings[index]
    rows, keys = held.row_count, held.key_count
    with place.here():
        draw = cupy.random.default_rng(problem.seed * MOST_RANKS + index).standard_normal

        def drawn(heads: int, length: int, dim: int) -> Any:
            shape = (problem.batch, heads, length, dim)
            return draw(shape, dtype=cupy.float32).astype(storage_dtype(problem.dtype), copy=False)

        return Owned(
            drawn(problem.heads, rows, problem.head_dim),
            drawn(problem.key_heads, keys, problem.head_dim),
            drawn(problem.key_heads, keys, problem.value_dim),
            drawn(problem.heads, rows, problem.value_dim) if problem.runs_backward else None,
        )


class StreamChannel:
    """What channels between GPUs share: who waits for whom, and when transfers ran."""

    def __init__(self) -> None:
        self._ends: dict[int, list[Any]] = {}  # of what a rank sends and receives, by its index

    def exchange(self, ranks: list[SequenceRank]) -> None:
        """See `Channel`."""
        if self._ends:
            raise RuntimeError(f"rank {min(self._ends)} meets again without waiting")
        due = deliveries(ranks)
        self._begin(due)
        for target in {one.target.index: one.target for one in due}.values():
            self._end(target, [one for one in due if one.target is target])

    def settle(self, rank: SequenceRank) -> None:
        """See `Channel`."""
        for end in self._ends.pop(rank.index, []):
            place_of(rank).product.wait_event(end)

    def _begin(self, due: list[Delivery]) -> None:
        """Have all that takes part wait for one another, and enqueue the transfers."""
        parties = {one.index: one for of in due for one in (of.source, of.target)}
        ready = {
            index: (place_of(one).mark(place_of(one).product), place_of(one).mark(place_of(one).transfer))
            for index, one in parties.items()
        }
        for one in due:
            for event in (*ready[one.target.index][:1], *ready[one.source.index]):
                place_of(one.target).transfer.wait_event(event)
        self._stamps = {one.target.index: place_of(one.target).stamp("transfer") for one in due}
        self._move(due)

    def _end(self, target: SequenceRank, due: list[Delivery]) -> None:
        """Keep when the transfers to a rank ended; what sent them goes on behind that."""
        place = place_of(target)
        end = place.mark(place.transfer)
        target.spans.append(RankSpan("transfer", target.step, self._stamps[target.index], end))
        self._ends.setdefault(target.index, []).append(end)
        for source in {one.source.index: one.source for one in due}.values():
            place_of(source).transfer.wait_event(end)
            self._ends.setdefault(source.index, []).append(end)

    def _move(self, due: list[Delivery]) -> None:
        """Enqueue the transfers, each in the stream of transfers of who takes it."""
        raise NotImplementedError


class PeerChannel(StreamChannel):
    """Copies by the copy engines, each fetched by the rank that takes it."""

    def _move(self, due: list[Delivery]) -> None:
        for one in due:
            source, target = place_of(one.source), place_of(one.target)
            to, given, stream = one.taken.data.ptr, one.given, target.transfer.ptr
            with cupy.cuda.Device(target.index):
                if source.index == target.index:
                    runtime.memcpyAsync(
                        to, given.data.ptr, given.nbytes, runtime.memcpyDeviceToDevice, stream
                    )
                else:
                    runtime.memcpyPeerAsync(
                        to, target.index, given.data.ptr, source.index, given.nbytes, stream
                    )


def place_of(rank: SequenceRank) -> CudaPlace:
    """A rank's place on a GPU."""
    place = rank.place
    assert isinstance(place, CudaPlace)  # noqa: S101 - channels of GPUs are given ranks on GPUs
    return place
