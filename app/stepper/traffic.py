"""Bytes between HBM and the chip, tile by tile: a model, not a measurement.

The running counter adds up, step by step, to the tile-level IO of `kernels.catalogue.traffic` with the
trace's tiles (FlashAttention, 2022, algorithm 1 and theorem 2; FlashAttention-2, 2023, algorithm 1). Caches
are ignored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from flashscope.app.stepper.snapshots import Snapshot, TraceSteps
from flashscope.app.stepper.walk import Ints, Tiled
from flashscope.kernels.catalogue.traffic import Tiles, standard_io
from flashscope.kernels.workload.problem import LSE_ITEMSIZE

FLOAT32 = 4  # bytes of one element of S, P, m, l and the accumulator on the chip


@dataclass(frozen=True)
class HbmBytes:
    """Bytes read from and written to HBM by one step or up to it."""

    read: int = 0
    written: int = 0

    @property
    def total(self) -> int:
        """Bytes of both directions."""
        return self.read + self.written


@dataclass(frozen=True, eq=False)
class RunningBytes(Sequence[HbmBytes]):
    """Bytes up to each step.

    Attributes:
        read: Those read, int64.
        written: Those written, likewise.
    """

    read: NDArray[np.int64]
    written: NDArray[np.int64]

    @cached_property
    def busiest(self) -> int:
        """The most bytes that one step moves."""
        return int(np.diff(self.read + self.written).max(initial=0))

    def __len__(self) -> int:
        return len(self.read)

    @overload
    def __getitem__(self, at: int) -> HbmBytes: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[HbmBytes]: ...

    def __getitem__(self, at: int | slice) -> HbmBytes | Sequence[HbmBytes]:
        if isinstance(at, slice):
            return RunningBytes(self.read[at], self.written[at])
        return HbmBytes(int(self.read[at]), int(self.written[at]))


def tile_bytes(walk: Tiled) -> tuple[Ints, Ints]:
    """Bytes that each tile reads when it is loaded, and writes when it is done; int64 (T,) each.

    flash1 keeps K and V while the key block stays, and O, m and l in HBM between tiles; flash2 keeps Q, O, m
    and l while the query block stays, and of keys in parts writes these at the end of each, in float32.
    """
    e, d, dv = walk.loaded_itemsize, walk.problem.head_dim, walk.value_dim
    i, j = walk.tile.T.astype(np.int64)
    rows = np.minimum(walk.block_q, walk.seqlen_q - i * walk.block_q)
    keys = np.minimum(walk.block_k, walk.seqlen_k - j * walk.block_k) * (d + dv) * e
    queries, result = rows * d * e, rows * (dv * walk.problem.itemsize + LSE_ITEMSIZE) * walk.last
    if walk.order == "flash1":
        state = rows * (dv + 2) * FLOAT32
        return keys * np.append(True, j[1:] != j[:-1])[: len(j)] + queries + state, result + state
    if walk.splits > 1:
        result = rows * (dv + 2) * FLOAT32 * walk.last
    return keys + queries * (walk.previous < 0), result


def merge_bytes(walk: Tiled, merged: Ints, additions: int) -> tuple[Ints, Ints]:
    """Bytes that each addition reads and writes, int64 (B, A) of B query blocks.

    It reads a part, or adds sums on the chip; the last one writes O and LSE.

    Args:
        walk: The tiles.
        merged: The last tile of each query block that is merged.
        additions: A, those of each.
    """
    rows = np.minimum(walk.block_q, walk.seqlen_q - walk.tile[merged, 0].astype(np.int64) * walk.block_q)
    each, dv = np.arange(additions), walk.value_dim
    state, result = rows * (dv + 2) * FLOAT32, rows * (dv * walk.problem.itemsize + LSE_ITEMSIZE)
    return np.outer(state, each < walk.splits), np.outer(result, each == additions - 1)


def running_traffic(walk: Tiled, steps: TraceSteps) -> RunningBytes:
    """Bytes moved from the start up to each step."""
    loads, writes = tile_bytes(walk)
    reads, writings = merge_bytes(walk, steps.merged, steps.additions)
    merges, count = slice(steps.before_merges, None), len(steps)
    first, last = rounding_bytes(walk), blank_bytes(walk)
    read = ((0, first.read), (steps.loads, loads), (merges, reads.ravel()), (-1, last.read))
    written = ((0, first.written), (steps.ends, writes), (merges, writings.ravel()), (-1, last.written))
    return RunningBytes(running_sum(count, *read), running_sum(count, *written))


def running_sum(steps: int, *parts: tuple[Any, Any]) -> NDArray[np.int64]:
    """The sum up to each step of what happens at some of them."""
    moved = np.zeros(steps, dtype=np.int64)
    for places, nbytes in parts:
        moved[places] += nbytes
    return np.cumsum(moved)


def rounding_bytes(walk: Tiled) -> HbmBytes:
    """What a first launch moves that rounds Q, K and V to 8 bits, without their scales; else nothing."""
    d, dv = walk.problem.head_dim, walk.value_dim
    elements = walk.seqlen_q * d + walk.seqlen_k * (d + dv) if walk.in_8_bits else 0
    return HbmBytes(elements * walk.problem.itemsize, elements)


def blank_bytes(walk: Tiled) -> HbmBytes:
    """Rows that see no key have O = 0 and LSE written when all else is done; flash2 has their Q read, too."""
    problem, rows = walk.problem, walk.blank_rows
    asked = rows * problem.head_dim * walk.loaded_itemsize if walk.order == "flash2" else 0
    return HbmBytes(asked, rows * (walk.value_dim * problem.itemsize + LSE_ITEMSIZE))


def standard_bytes(walk: Tiled) -> int:
    """Bytes that standard attention moves for the whole problem, with GEMM tiles of the same size."""
    return standard_io(walk.problem, Tiles(walk.block_q, walk.block_k))


@dataclass(frozen=True)
class Resident:
    """One array held on the chip: its label and its bytes."""

    label: str
    nbytes: int


def on_chip(walk: Tiled, step: Snapshot) -> tuple[Resident, ...]:
    """The arrays that a tile holds on the chip at a step, in the order of loading; P takes the place of S."""
    if step.tile < 0:
        return ()
    if step.merges:
        state = walk.rows(step.i) * (walk.value_dim + 2) * FLOAT32
        return Resident("m ℓ O", state), Resident("m ℓ O of a part", state)
    problem = walk.problem
    e, d, dv = walk.loaded_itemsize, problem.head_dim, walk.value_dim
    rows, columns = walk.rows(step.i), walk.columns(step.j)
    held = [
        Resident(f"Q<sub>{step.i}</sub>", rows * d * e),
        Resident(f"K<sub>{step.j}</sub>", columns * d * e),
        Resident(f"V<sub>{step.j}</sub>", columns * dv * e),
        Resident("m ℓ O", rows * (dv + 2) * FLOAT32),
    ]
    if step.reached("scores") and not step.reached("output"):
        label = "P" if step.reached("weights") else "S"
        held.append(Resident(f"{label}<sub>{step.i},{step.j}</sub>", rows * columns * FLOAT32))
    return tuple(held)
