"""A roofline in words."""

from collections.abc import Iterator, Sequence

from flashscope.app.words.devices.ceilings import ceiling_name, rate_text
from flashscope.app.words.units import digits, ms_text, tflops_text, thousands
from flashscope.profiles.results.theory.bytes_moved import FORMULA, LEAST, BytesMoved
from flashscope.profiles.results.theory.roofline import Roof, Roofline, Spot
from flashscope.profiles.results.theory.why import LoadShare, decimal
from flashscope.profiles.wire.ceilings import (
    COPY,
    CORE_CACHE,
    EXPONENTIALS,
    L2_READS,
    LAST_CACHE,
    SHARED_READS,
    matmul_key,
)

EMPTY = "Run a sweep or open a session: its points stand here under what the device reaches."
NOTHING_DONE = "No point of these problems has a runtime yet."
NO_BYTES = (
    "No point is drawn, as nothing tells its bytes:\n"
    "formulas tell those of a forward pass alone, and counters were not read."
)
NO_ROOF = "No ceilings were measured with these points"
ONLY_COPY = f"{NO_ROOF}: the slope is their copy rate"
SLOPES = {SHARED_READS: "shared", L2_READS: "L2", CORE_CACHE: "core's cache", LAST_CACHE: "last cache"}
TIERS = ("By DRAM bytes", "By L2 bytes", "By bytes of shared memory")
CPU_TIERS = ("By DRAM bytes", "By bytes of the caches", "")
MARKS = ("filled: DRAM bytes", "hollow: L2 (tile) bytes", "small: bytes of shared memory")
CPU_MARKS = ("filled: DRAM bytes", "hollow: bytes of the caches (tiles)", "")
STAGED_MARKS = ("filled DRAM", "hollow L2", "small shared memory")
CPU_STAGED_MARKS = ("filled DRAM", "hollow caches", "")
AMOUNTS = {"products": "FLOP", "bytes": "B", "cache": "B", "shared": "B", "exponentials": "exp"}
RATES = {
    "products": matmul_key("float32"),
    "bytes": COPY,
    "cache": COPY,
    "shared": COPY,
    "exponentials": EXPONENTIALS,
}  # for their units


def nothing_text(found: Roofline) -> str:
    """Why no point is drawn."""
    return NO_BYTES if found.spots else NOTHING_DONE


def roof_label(roof: Roof) -> str:
    """What stands at the end of its line."""
    name = SLOPES.get(roof.key) or ceiling_name(roof.key)
    if roof.dims is not None:
        name = f"{name} (d {'/'.join(map(str, dict.fromkeys(roof.dims)))})"
    return f"{name} {rate_text(roof.key, roof.rate)}"


def tier_text(spots: Sequence[Spot]) -> str:
    """Where the bytes are from."""
    told = [f"{name} {source}" for name, source in _marks(spots, MARKS, CPU_MARKS)]
    unplaced = dict.fromkeys(s.row.kernel for s in spots if not s.placed)
    left_out = f"not drawn, as nothing tells their bytes: {', '.join(unplaced)}" if unplaced else ""
    return " · ".join(filter(None, (*told, left_out)))


def staged_tier_text(spots: Sequence[Spot]) -> str:
    """The same in few words, by what told the bytes."""
    by_source: dict[str, list[str]] = {}
    for name, source in _marks(spots, STAGED_MARKS, CPU_STAGED_MARKS):
        by_source.setdefault(source, []).append(name)
    told = " · ".join(f"{source}: {', '.join(names)}" for source, names in by_source.items())
    return told and f"bytes {told}"


def _marks(spots: Sequence[Spot], on_gpu: Sequence[str], on_cpu: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What is drawn of points, by what it is called on either device, and what told its bytes."""
    names = on_cpu if any(spot.row.backend == "cpu" for spot in spots) else on_gpu
    tiers = zip(*(spot.moved for spot in spots), strict=True)
    for name, moved in zip(names, tiers, strict=True) if spots else ():
        if any(moved):
            yield name, _sources(moved)


def _sources(moved: Sequence[BytesMoved | None]) -> str:
    known = (FORMULA if one.source == LEAST else one.source for one in moved if one is not None)
    return " or ".join(dict.fromkeys(known))


def missing_roofs(found: Roofline, *, measured: bool, recorded: str = "") -> str:
    """Why ceilings are missing, and where there are some; empty when they were measured.

    Args:
        found: What is drawn.
        measured: Whether the session has ceilings.
        recorded: A recording of a GPU that has; empty: none is at hand.
    """
    if measured or not found.spots:
        return ""
    of_gpu = any(spot.row.backend == "cuda" for spot in found.spots)
    where = f"the recording {recorded}" if recorded and of_gpu else "a sweep made now"
    return f"{ONLY_COPY if found.roofs else NO_ROOF}; {where} has them."


def spot_title(spot: Spot) -> str:
    """Which point a spot is."""
    return f"{spot.row.kernel} · N = {thousands(spot.row.seqlen)}"


def spot_lines(spot: Spot) -> list[str]:
    """What it reaches, and at which intensities."""
    lines = [f"{tflops_text(spot.tflops)} in {ms_text(spot.why.runtime_ms)}"]
    tiers = CPU_TIERS if spot.row.backend == "cpu" else TIERS
    pairs = zip(tiers, spot.moved, spot.intensities, strict=True)
    for name, moved, intensity in pairs:
        if moved is not None and intensity is not None:
            lines.append(f"{name}: {digits(intensity)} FLOP/B, {decimal(moved.nbytes)}B {moved.source}")
    return lines


def part_heading(part: LoadShare) -> str:
    """A load alone: its name, its time, and what part of the runtime that is."""
    if part.ms is None or part.share is None:
        return f"{part.name} alone: not known"
    share = f"{100 * part.share:.0f}%" if part.share >= 0.01 else "under 1%"  # noqa: PLR2004 - a percent
    return f"{part.name} alone: {ms_text(part.ms)}, {share}"


def part_lines(part: LoadShare) -> list[str]:
    """What is behind it: how much there is, at which rate, and how that was measured."""
    lines = []
    if part.amount is not None:
        lines.append(f"{decimal(part.amount)}{AMOUNTS[part.load]}, {part.amount_source}")
    if part.rate is not None:
        lines.append(f"at {rate_text(RATES[part.load], part.rate)}: {part.rate_source}")
    return [*lines, f"{part.missing[:1].upper()}{part.missing[1:]}."] if part.missing else lines
