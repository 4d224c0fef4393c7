"""A roofline: what points reach over how much they compute a byte, under what their device reaches.

Williams, Waterman, Patterson 2009. Each point stands at up to three intensities: by the bytes between memory
and the last cache, by those between that cache and whoever computes a tile, and, under the rate of a GPU's
shared memory, by those that its tiles move there.
"""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from flashscope.kernels.workload.problem import Dtype
from flashscope.profiles.results.model.limits import PRODUCTS
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.theory.bytes_moved import BytesMoved, dram_bytes, l2_bytes, shared_bytes
from flashscope.profiles.results.theory.formulas import arithmetic_intensity
from flashscope.profiles.results.theory.why import TOO_MANY, Why, why
from flashscope.profiles.wire.ceilings import COPY, EXPONENTIALS, LEVELS, SHARED_READS, Ceilings, matmul_key

BESIDE = "median of the copies beside the points"


class Spot(NamedTuple):
    """A point.

    Attributes:
        row: The point.
        tflops: What it reaches.
        dram: The bytes by which its first intensity is, None when unknown or refuted by the runtime.
        l2: Those of the second, likewise.
        shared: Those of the third, likewise.
        why: What binds it.
    """

    row: PointRow
    tflops: float
    dram: BytesMoved | None
    l2: BytesMoved | None
    shared: BytesMoved | None
    why: Why

    @property
    def moved(self) -> tuple[BytesMoved | None, ...]:
        """The bytes of memory, of the cache and of shared memory."""
        return self.dram, self.l2, self.shared

    @property
    def intensities(self) -> tuple[float | None, ...]:
        """FLOP a byte, by each of them."""
        return tuple(map(self._intensity, self.moved))

    @property
    def placed(self) -> bool:
        """Whether it has one of them."""
        return any(one is not None for one in self.intensities)

    def _intensity(self, moved: BytesMoved | None) -> float | None:
        return (
            None
            if moved is None or not moved.nbytes
            else arithmetic_intensity(self.row.problem, moved.nbytes)
        )


class Roof(NamedTuple):
    """A ceiling.

    Attributes:
        key: Of which rate.
        rate: The rate in its own unit.
        tflops: Where it stands, TFLOP/s; of the rate of a memory at 1 FLOP a byte, from where it rises.
        source: What it was measured with.
        dims: Of exponentials: Q's and V's head dim of the problems whose products stand beside them.
    """

    key: str
    rate: float
    tflops: float
    source: str
    dims: tuple[int, int] | None = None


class Roofline(NamedTuple):
    """What is drawn of some points."""

    spots: tuple[Spot, ...]
    roofs: tuple[Roof, ...]

    @property
    def placed(self) -> bool:
        """Whether any point has a place: bytes are known of it."""
        return any(spot.placed for spot in self.spots)


def roofline(rows: Sequence[PointRow], ceilings: Mapping[int, Ceilings]) -> Roofline:
    """The roofline of the points of one curve; the ceilings are those of the newest part among them.

    Args:
        rows: The points, also those that have no runtime.
        ceilings: What the device reached, by part.
    """
    spots = [spot for row in rows if (spot := _spot(row, ceilings.get(row.part or 1)))]
    newest = max((row.part or 1 for row in rows if row.done), default=1)
    return Roofline(tuple(spots), tuple(_roofs(rows, ceilings.get(newest))))


def _spot(row: PointRow, ceilings: Ceilings | None) -> Spot | None:
    reason = why(row, ceilings)
    if reason is None or not row.problem.flops:
        return None
    tflops = row.problem.flops / reason.runtime_ms / 1e9
    refuted = {part.load for part in reason.parts if part.missing == TOO_MANY}
    dram, l2, shared = (
        None if load in refuted else told(row)
        for load, told in (("bytes", dram_bytes), ("cache", l2_bytes), ("shared", shared_bytes))
    )
    roofed = ceilings is not None and SHARED_READS in ceilings.rates
    return Spot(row, tflops, dram, l2, shared if roofed else None, reason)


def _roofs(rows: Sequence[PointRow], ceilings: Ceilings | None) -> list[Roof]:
    if ceilings is None:
        beside = [float(one.value) for row in rows if (one := row.measured(COPY)) and one.value]
        return [Roof(COPY, median(beside), median(beside) / 1e3, BESIDE)] if beside else []
    forward = (row.problem for row in rows if not row.problem.runs_backward)
    dims = {(one.head_dim, one.value_dim) for one in forward}
    in_tflops = {**dict.fromkeys(LEVELS, 1e-3), **dict.fromkeys(map(matmul_key, _dtypes(rows)), 1.0)}
    of_pair = dims.pop() if len(dims) == 1 else None
    if of_pair is not None:  # FLOPs to each exponential; in a backward pass it is another number
        in_tflops[EXPONENTIALS] = 2 * sum(of_pair) / 1e3
    known = (
        (key, ceilings.rates[key].figure, each) for key, each in in_tflops.items() if key in ceilings.rates
    )
    return [
        Roof(key, figure.value, figure.value * each, figure.source, of_pair if key == EXPONENTIALS else None)
        for key, figure, each in known
        if figure.value
    ]


def _dtypes(rows: Sequence[PointRow]) -> list[Dtype]:
    """In what these points multiply, as far as its rate is measured."""
    found = dict.fromkeys(PRODUCTS.get(row.kernel) or row.problem.dtype for row in rows)
    return [dtype for dtype in found if dtype != "float8"]
