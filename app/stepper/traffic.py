"""Bytes between HBM and the chip, tile by tile: a model, not a measurement.

The running counter adds up, step by step, to the tile-level IO of `kernels.catalogue.traffic` with the
trace's tiles (FlashAttention, 2022, algorithm 1 and theorem 2; FlashAttention-2, 2023, algorithm 1). Caches
are ignored.
"""

from dataclasses import dataclass

from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.snapshots import Snapshot
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

    def __add__(self, other: "HbmBytes") -> "HbmBytes":
        return HbmBytes(self.read + other.read, self.written + other.written)


def moved_by(recording: Recording, step: Snapshot, previous_j: int | None) -> HbmBytes:
    """Bytes that one step moves.

    Args:
        recording: The trace.
        step: The step.
        previous_j: Key block of the tile before, None for the first: flash1 keeps K and V while j stays.
    """
    problem = recording.trace.request.problem
    e, d, dv = problem.itemsize, problem.head_dim, recording.value_dim
    rows, columns = recording.rows(step.i), recording.columns(step.j)
    state = rows * (dv + 2) * FLOAT32  # O, m and l, which flash1 keeps in HBM between tiles
    if step.phase == "load" and recording.order == "flash1":
        new_keys = columns * (d + dv) * e if previous_j != step.j else 0
        return HbmBytes(read=new_keys + rows * d * e + state)
    if step.phase == "load":
        return HbmBytes(read=columns * (d + dv) * e + (rows * d * e if step.first else 0))
    if step.phase != "write":
        return HbmBytes()
    result = rows * (dv * e + LSE_ITEMSIZE) if step.last else 0
    return HbmBytes(written=result + (state if recording.order == "flash1" else 0))


def running_traffic(recording: Recording, steps: tuple[Snapshot, ...]) -> tuple[HbmBytes, ...]:
    """Bytes moved from the start up to each step."""
    totals: list[HbmBytes] = []
    total, j = HbmBytes(), None
    for step in steps:
        total += moved_by(recording, step, j)
        totals.append(total)
        j = step.j if step.tile >= 0 else None
    return tuple(totals)


def standard_bytes(recording: Recording) -> int:
    """Bytes that standard attention moves for the whole problem, with GEMM tiles of the same size."""
    return standard_io(recording.trace.request.problem, Tiles(recording.block_q, recording.block_k))


@dataclass(frozen=True)
class Resident:
    """One array held on the chip: its label and its bytes."""

    label: str
    nbytes: int


def on_chip(recording: Recording, step: Snapshot) -> tuple[Resident, ...]:
    """The arrays that a tile holds on the chip at a step, in the order of loading; P takes the place of S."""
    if step.tile < 0:
        return ()
    problem = recording.trace.request.problem
    e, d, dv = problem.itemsize, problem.head_dim, recording.value_dim
    rows, columns = recording.rows(step.i), recording.columns(step.j)
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
