"""standard, flash1 and flash2 side by side over one problem: what each has moved and holds, step by step.

Bytes are a model: the sums over all steps are `standard_io`, `flash1_io` and `flash2_io` of
`kernels.catalogue.traffic` with the trace's tiles. The lanes go in step by work: while a tile of flash1 or
flash2 takes its six steps, standard takes as many in three tiles, of S, of P or of O, which it walks one
matrix after another; each reads in one step and writes in the next.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashscope.app.stepper.snapshots import IN_EVERY_TILE, STEP_PHASES, Snapshot
from flashscope.app.stepper.traffic import (
    FLOAT32,
    HbmBytes,
    Resident,
    blank_bytes,
    on_chip,
    running_sum,
    tile_bytes,
)
from flashscope.app.stepper.walk import Tiled
from flashscope.kernels.workload.problem import LSE_ITEMSIZE

LaneKey = Literal["standard", "flash1", "flash2"]
Ints64 = NDArray[np.int64]
IN_A_TILE = len(IN_EVERY_TILE) + 1  # steps of a tile of flash1 and flash2: the last one writes
PASSES = ("scores", "softmax", "output")  # of standard over all tiles
IN_A_PASS = IN_A_TILE // len(PASSES)  # steps of a tile of standard


class Stored(NamedTuple):
    """An array in memory, outside the chip.

    Attributes:
        label: Its name.
        nbytes: What all of it takes.
        filled: Bytes of it that hold something already.
    """

    label: str
    nbytes: int
    filled: int


class LaneSpot(NamedTuple):
    """Where a lane is.

    Attributes:
        tile: How many tiles it has begun before in this pass; -1 before the first.
        i: The query block.
        j: The key block.
        phase: A phase of `Snapshot` for flash1 and flash2, one of PASSES or `start` for standard.
        writes: Of standard: whether it is the step that writes.
    """

    tile: int
    i: int
    j: int
    phase: str
    writes: bool = False


@dataclass(frozen=True, eq=False)
class KernelLane:
    """One kernel on the way through the tiles; a step is counted from 0, the state before the first tile.

    Attributes:
        walk: Its tiles in its order.
        read: Bytes read up to each step, int64 (6 T + 1,).
        written: Bytes written up to each step, likewise.
        filling: Bytes up to each step of what it writes, by the names of arrays, likewise.
    """

    walk: Tiled
    read: Ints64
    written: Ints64
    filling: Mapping[str, Ints64]

    @property
    def key(self) -> LaneKey:
        """Whose it is."""
        raise NotImplementedError

    def place(self, at: int) -> LaneSpot:
        """Where it is at a step."""
        raise NotImplementedError

    def on_chip(self, at: int) -> tuple[Resident, ...]:
        """What it holds on the chip at a step."""
        raise NotImplementedError

    def moved(self, at: int) -> HbmBytes:
        """Bytes moved up to a step."""
        return HbmBytes(int(self.read[at]), int(self.written[at]))

    def moving(self, at: int) -> HbmBytes:
        """Bytes that a step moves."""
        before = self.moved(at - 1) if at else HbmBytes()
        now = self.moved(at)
        return HbmBytes(now.read - before.read, now.written - before.written)

    @property
    def total(self) -> int:
        """Bytes of all steps."""
        return self.moved(-1).total

    @cached_property
    def busiest(self) -> int:
        """The most bytes that one step reads, or writes."""
        return max(int(np.diff(moved, prepend=0).max()) for moved in (self.read, self.written))

    @cached_property
    def _sizes(self) -> Mapping[str, int]:
        """Bytes of the arrays in memory, the inputs first, by their names."""
        walk, e, d = self.walk, self.walk.problem.itemsize, self.walk.problem.head_dim
        rows, keys, dv = walk.seqlen_q, walk.seqlen_k, walk.value_dim
        inputs = {"Q": rows * d * e, "K": keys * d * e, "V": keys * dv * e}
        passed = {"standard": {"S": rows * keys * e, "P": rows * keys * e}}
        passed["flash1"] = {"m ℓ O": rows * (dv + 2) * FLOAT32}
        return inputs | passed.get(self.key, {}) | {"O": rows * dv * e}

    def stored(self, at: int) -> tuple[Stored, ...]:
        """The arrays in memory at a step: inputs, what is passed on, the result."""
        return tuple(
            Stored(name, nbytes, int(self.filling[name][at]) if name in self.filling else nbytes)
            for name, nbytes in self._sizes.items()
        )


class TiledLane(KernelLane):
    """flash1 or flash2."""

    @property
    def key(self) -> LaneKey:
        """By the loop order."""
        return "flash1" if self.walk.order == "flash1" else "flash2"

    @classmethod
    def of(cls, walk: Tiled) -> "TiledLane":
        """The lane of this walk."""
        steps, dv = 1 + IN_A_TILE * walk.tiles, walk.value_dim
        loads, writes = tile_bytes(walk)
        last, rows = 1 + np.arange(walk.tiles) * IN_A_TILE + IN_A_TILE - 1, _rows(walk)
        filling = {"O": running_sum(steps, (last, rows * walk.last * dv * walk.problem.itemsize))}
        if walk.order == "flash1":
            filling["m ℓ O"] = running_sum(steps, (last, rows * (walk.previous < 0) * (dv + 2) * FLOAT32))
        read = running_sum(steps, (last - IN_A_TILE + 1, loads))
        written = running_sum(steps, (last, writes))
        lane = cls(walk, read, written, filling)
        lane._end(blank_bytes(walk), walk.blank_rows * dv * walk.problem.itemsize)
        return lane

    def _end(self, blank: HbmBytes, output: int) -> None:
        """Count the rows that see no key in the last step."""
        for moved, more in (
            (self.read, blank.read),
            (self.written, blank.written),
            (self.filling["O"], output),
        ):
            moved[-1] += more

    def place(self, at: int) -> LaneSpot:
        """The tile and the phase of a step."""
        if not at:
            return LaneSpot(-1, 0, 0, "start")
        t, phase = divmod(at - 1, IN_A_TILE)
        return LaneSpot(t, *self.walk.at(t), STEP_PHASES[1 + phase])

    def snapshot(self, at: int) -> Snapshot:
        """A step as the other modes have it."""
        t, i, j, phase, _ = self.place(at)
        if t < 0:
            return Snapshot(-1, i, j, "start")
        first, last = bool(self.walk.previous[t] < 0), bool(self.walk.last[t])
        return Snapshot(t, i, j, next(one for one in STEP_PHASES if one == phase), first, last)

    def on_chip(self, at: int) -> tuple[Resident, ...]:
        """Q, K, V, the state, and S or P of one tile."""
        return on_chip(self.walk, self.snapshot(at))


class StandardLane(KernelLane):
    """standard: S of all tiles, then P of all, then O; of each tile the masks keep a pair."""

    @property
    def key(self) -> LaneKey:
        """Its name."""
        return "standard"

    @classmethod
    def of(cls, walk: Tiled) -> "StandardLane":
        """The lane of the tiles of a walk, query block by query block."""
        tiles, steps, dv, e = walk.tiles, 1 + IN_A_TILE * walk.tiles, walk.value_dim, walk.problem.itemsize
        rows, keys = _rows(walk), _keys(walk)
        matrix, d = rows * keys * e, walk.problem.head_dim
        read = ((rows + keys) * d * e, _pairs(walk) * e, matrix + keys * dv * e)
        sums, output = walk.last * rows * LSE_ITEMSIZE, walk.last * rows * dv * e
        wrote = (matrix, matrix + sums, output)
        reads = 1 + IN_A_PASS * np.arange(3 * tiles).reshape(3, tiles)
        writes = reads + 1
        filling = {
            name: running_sum(steps, (writes[at], filled))
            for at, (name, filled) in enumerate((("S", matrix), ("P", matrix), ("O", output)))
        }
        moved = [
            running_sum(steps, *zip(places, of, strict=True))
            for places, of in ((reads, read), (writes, wrote))
        ]
        lane = cls(walk, moved[0], moved[1], filling)
        blank = walk.blank_rows
        lane.written[-1] += blank * (dv * e + LSE_ITEMSIZE)
        lane.filling["O"][-1] += blank * dv * e
        return lane

    def place(self, at: int) -> LaneSpot:
        """The tile of a pass, and whether it reads or writes."""
        if not at:
            return LaneSpot(-1, 0, 0, "start")
        work, half = divmod(at - 1, IN_A_PASS)
        done, t = divmod(work, self.walk.tiles)
        return LaneSpot(t, *self.walk.at(t), PASSES[done], writes=bool(half))

    def on_chip(self, at: int) -> tuple[Resident, ...]:
        """A tile of a product; in the softmax a row of the query block, as every row is taken on its own."""
        t, i, j, phase, writes = self.place(at)
        if t < 0:
            return ()
        walk, e = self.walk, self.walk.problem.itemsize
        rows, keys, d, dv = walk.rows(i), walk.columns(j), walk.problem.head_dim, walk.value_dim
        if phase == "scores":
            inputs = Resident(f"Q<sub>{i}</sub>", rows * d * e), Resident(f"K<sub>{j}</sub>", keys * d * e)
            return (*inputs, Resident(f"S<sub>{i},{j}</sub>", rows * keys * FLOAT32))
        if phase == "softmax":
            row = int(self._keys_of[i]) * FLOAT32
            return Resident("P row" if writes else "S row", row), Resident("m ℓ", 2 * FLOAT32)
        held = Resident(f"P<sub>{i},{j}</sub>", rows * keys * e), Resident(f"V<sub>{j}</sub>", keys * dv * e)
        return (*held, Resident(f"O<sub>{i}</sub>", rows * dv * FLOAT32))

    @cached_property
    def _keys_of(self) -> Ints64:
        """Keys of the key blocks that each query block has."""
        there = (self.walk.order_of_tile >= 0).astype(np.int64)
        found: Ints64 = there @ np.array([self.walk.columns(j) for j in range(self.walk.blocks_k)])
        return found


def _rows(walk: Tiled) -> Ints64:
    """Rows of each tile."""
    found: Ints64 = np.minimum(walk.block_q, walk.seqlen_q - walk.tile[:, 0].astype(np.int64) * walk.block_q)
    return found


def _keys(walk: Tiled) -> Ints64:
    """Keys of each tile."""
    found: Ints64 = np.minimum(walk.block_k, walk.seqlen_k - walk.tile[:, 1].astype(np.int64) * walk.block_k)
    return found


def _pairs(walk: Tiled) -> Ints64:
    """Pairs that the masks keep of each tile."""
    mask, (bq, bk) = walk.problem.mask, (walk.block_q, walk.block_k)
    ends = (walk.seqlen_q, walk.seqlen_k)
    if mask.kept_pairs() == walk.seqlen_q * walk.seqlen_k:
        return _rows(walk) * _keys(walk)
    return np.array(
        [
            mask.pairs(slice(i * bq, min((i + 1) * bq, ends[0])), slice(j * bk, min((j + 1) * bk, ends[1])))
            for i, j in walk.tile.tolist()
        ],
        dtype=np.int64,
    )
