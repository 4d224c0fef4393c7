"""Landscapes of cuts as JSON and CSV have them: every cut with its times or its reasons, and what follows."""

from collections.abc import Iterator, Sequence

import msgspec

from flashscope.kernels.cuda.design.knobs import KNOBS
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.landscape import CutLandscape, CutOutcome
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.model.fresh_rounds import FreshRounds

LineCell = str | int | float | None
NUMBERS = ("groups", "subtiles", "block_k", "stages", "q_stages", "residents", "columns", "queries")
COLUMNS = (
    *("kernel", "block_q", *NUMBERS, "tile_keys", "shipped", "runs", "why_not"),
    *("registers", "spilled_bytes", "round", "ms", "anew"),
)


class CutDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A cut in JSON: its tile, its numbers, and its times or why it has none."""

    tile_queries: int
    tile_keys: int
    cut: Cut
    refused: tuple[str, ...]
    registers: int | None
    spilled_bytes: int | None
    first_ms: tuple[float, ...]
    anew_ms: tuple[float, ...]


class LandscapeDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A landscape in JSON; `distance` is the shipped cut's time over the fastest's, on fresh rounds."""

    kernel: str
    problem: Problem
    rows: str
    device: Device
    timer: str
    source_digest: str
    shipped: Cut
    fastest: Cut | None
    fastest_ms: float | None
    shipped_ms: float | None
    distance: float | None
    distance_low: float | None
    distance_high: float | None
    cuts: tuple[CutDocument, ...]


def landscape_document(landscape: CutLandscape) -> LandscapeDocument:
    """A landscape with what follows from it."""
    fresh = FreshRounds.of_landscape(landscape)
    low, high = fresh.interval or (None, None)
    return LandscapeDocument(
        kernel=landscape.kernel,
        problem=landscape.problem,
        rows=landscape.rows,
        device=landscape.device,
        timer=landscape.timer,
        source_digest=landscape.build,
        shipped=landscape.shipped,
        fastest=fresh.best,
        fastest_ms=fresh.ranked[0][1] if fresh.ranked else None,
        shipped_ms=dict(fresh.ranked).get(landscape.shipped),
        distance=fresh.distance,
        distance_low=low,
        distance_high=high,
        cuts=tuple(map(_cut_document, landscape.cells)),
    )


def landscape_lines(landscape: CutLandscape) -> Iterator[Sequence[LineCell]]:
    """A line for each run under `COLUMNS`, and one for a cut without any."""
    for cell in landscape.cells:
        yield from cut_lines(cell, shipped=cell.cut == landscape.shipped)


def cut_lines(cell: CutOutcome, *, shipped: bool) -> Iterator[Sequence[LineCell]]:
    """The same of one cut."""
    cut = cell.cut
    known = (
        *(cut.kernel, cut.block_q, *numbers_of(cut), cut.keys, int(shipped)),
        *(int(not cell.refused), " ".join(cell.refused), cell.registers, cell.spilled),
    )
    runs = [
        (*known, number, ms, anew)
        for anew, times in enumerate((cell.first_ms, cell.anew_ms))
        for number, ms in enumerate(times)
    ]
    yield from runs or [(*known, None, None, None)]


def numbers_of(cut: Cut) -> tuple[int | None, ...]:
    """The numbers of a cut under `NUMBERS`; None where the kernel has no use for one."""
    used = {knob.name for knob in KNOBS[cut.kernel]}
    return tuple(getattr(cut, name) if name in used else None for name in NUMBERS)


def _cut_document(cell: CutOutcome) -> CutDocument:
    return CutDocument(
        tile_queries=cell.cut.block_q,
        tile_keys=cell.cut.keys,
        cut=cell.cut,
        refused=cell.refused,
        registers=cell.registers,
        spilled_bytes=cell.spilled,
        first_ms=cell.first_ms,
        anew_ms=cell.anew_ms,
    )
