"""Landscapes from a file: every relation between their parts that the program relies on is checked."""

import msgspec

from flashscope.kernels.cuda.design.knobs import KNOBS, inner
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.landscape import MOST_CUTS, MOST_ROUNDS, CutLandscape, CutOutcome
from flashscope.profiles.store.blobs.times import POSITIVE_MS, check_times

MOST_OF_A_NUMBER = 1 << 16  # of those that make a cut
FIELDS = ("groups", "subtiles", "block_k", "stages", "q_stages", "residents", "columns", "queries")


def decode_landscape(blob: bytes) -> CutLandscape:
    """A landscape as it was written, unpacked.

    Raises:
        ValueError: It is none, or its parts do not fit together; the text says which.
    """
    landscape = msgspec.msgpack.decode(blob, type=CutLandscape)
    if not 1 <= len(landscape.cells) <= MOST_CUTS:
        raise ValueError(f"a landscape of {len(landscape.cells)} cuts")
    kernel, backward = landscape.kernel, landscape.shipped.backward
    names = {knob.name for knob in KNOBS[kernel]} - {inner(kernel).name}
    if landscape.rows not in names:
        raise ValueError(f"a landscape of {kernel} with {landscape.rows} for rows")
    if landscape.device.backend != ("cpu" if kernel == "numpy" else "cuda"):
        raise ValueError(f"a landscape of {kernel} on the {landscape.device.backend} backend")
    if landscape.problem.runs_backward != backward or landscape.problem.runs_forward == backward:
        raise ValueError(f"a landscape of {kernel} for a {landscape.problem.passes} pass")
    if len(landscape.by_cut) != len(landscape.cells) or landscape.shipped not in landscape.by_cut:
        raise ValueError("a landscape with a cut twice, or without the shipped one")
    for cell in landscape.cells:
        _check_cell(cell, landscape)
    return landscape


def _check_cell(cell: CutOutcome, landscape: CutLandscape) -> None:
    """Refuse a cut of another kernel, numbers that make none, and times that nobody can have taken."""
    if cell.cut.kernel != landscape.kernel or not _possible(cell.cut):
        raise ValueError(f"a landscape of {landscape.kernel} with a cut that is none of its")
    if bool(cell.refused) == bool(cell.first_ms):
        raise ValueError("a landscape with a cut that has times and a reason against it, or neither")
    if cell.anew_ms and not cell.first_ms:
        raise ValueError("a landscape with a cut that was timed anew before it was timed")
    for count in (cell.registers, cell.spilled):
        if count is not None and not 0 <= count <= MOST_OF_A_NUMBER:
            raise ValueError(f"a landscape with a cut of {count} registers or bytes a thread")
    for times in (cell.first_ms, cell.anew_ms):
        check_times("a landscape", times, MOST_ROUNDS, least=POSITIVE_MS)


def _possible(cut: Cut) -> bool:
    return all(1 <= getattr(cut, name) <= MOST_OF_A_NUMBER for name in FIELDS)
