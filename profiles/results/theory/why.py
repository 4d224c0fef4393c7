"""Why a point takes as long as it does: what each of its loads alone would take on its device.

The roofline's argument (Williams, Waterman, Patterson 2009) with more loads: a kernel cannot be faster than
its matrix products at their rate, its bytes at the copy rate, those of the cache and of shared memory at
theirs, or its exponentials at theirs, all measured on the same device. The load that would take longest
binds; the closer it comes to the runtime, the more it explains. One that reaches less than half of it
explains nothing.
"""

import math
from collections.abc import Iterator
from typing import Literal

import msgspec
from msgspec import structs

from flashscope.profiles.results.model.limits import KEEPING, PRODUCTS, product_flops, products_of
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.theory.bytes_moved import (
    FORMULA,
    LEAST,
    compulsory,
    dram_bytes,
    l2_bytes,
    shared_bytes,
)
from flashscope.profiles.wire.ceilings import (
    COPY,
    EXPONENTIALS,
    L2_READS,
    LAST_CACHE,
    SHARED_READS,
    Ceiling,
    Ceilings,
    matmul_key,
)
from flashscope.profiles.wire.measurement import Figure
from flashscope.profiles.wire.text import listed

Load = Literal["products", "bytes", "cache", "shared", "exponentials"]
CACHES = {"cuda": L2_READS, "cpu": LAST_CACHE}  # whose rate is that of the bytes between it and the tiles
CACHE_NAMES = {"cuda": "L2", "cpu": "the last cache"}
EXPLAINS = 0.5  # share of the runtime from which on a load explains it
CERTAIN = 0.8  # the same, while another load or its rate is not known
REFUTED = 1.05  # the same, of a load alone: there was less of it, or its rate or the runtime is off
MANY = 100.0  # from which on a share has a power of ten
CLOSE = 0.85  # of the first load's time, at which the second is named, too
UNITS = {
    "products": 1e9,
    "bytes": 1e6,
    "cache": 1e6,
    "shared": 1e6,
    "exponentials": 1e6,
}  # of an amount, in that of its rate times ms
NO_CEILINGS = "no ceilings were measured with it"
NO_BYTES = "no formula knows its bytes"
MORE = "it may move more bytes than the formula's"
TOO_LONG = "{} alone would take {} of its time: their rate or the runtime is off"
TOO_MANY = "the formula counts more bytes than it had time to move (the cache kept some)"
COUNTED = {3: "three", 4: "four", 5: "five"}  # loads that a device has rates of
MOST_LOADS = max(COUNTED)
REST = {
    "cuda": "the rest is latency, launches, occupancy or other work",
    "cpu": "the rest is other work, such as the passes over S, or waiting",
}


class LoadShare(msgspec.Struct, frozen=True, kw_only=True):
    """One load of a point, alone.

    Attributes:
        load: Which.
        name: What it is called on this device.
        amount: Floating-point operations, bytes or exponentials of one run; None when unknown.
        amount_source: Where that comes from, in words.
        rate: What the device reaches of it: TFLOP/s, GB/s or 10^9 exponentials a second; None when unknown.
        rate_source: What that was measured with, and how it was brought to the point's clock.
        ms: What the load alone would take; None when it cannot be told.
        share: That over the runtime.
        missing: Why there is no time, as a clause; empty when there is one.
    """

    load: Load
    name: str
    amount: float | None
    amount_source: str
    rate: float | None = None
    rate_source: str = ""
    ms: float | None = None
    share: float | None = None
    missing: str = ""


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """What explains a point's runtime.

    Attributes:
        runtime_ms: The median.
        parts: Its loads.
        binds: The load that explains it; None: none does, or it cannot be told.
        share: What part of the runtime that load alone would take.
        sentence: All of it in one sentence.
    """

    runtime_ms: float
    parts: tuple[LoadShare, ...]
    binds: Load | None
    share: float | None
    sentence: str


def whys(session: Session) -> list[Why | None]:
    """Why each row of a session takes as long as it does, None for those without a runtime."""
    return [why(row, session.ceilings.get(row.part or 1)) for row in rows(session)]


def why(row: PointRow, ceilings: Ceilings | None) -> Why | None:
    """Why a point takes as long as it does; None for one that is not done.

    Args:
        row: The point.
        ceilings: What its device reached in its part of the session; None: nobody measured.
    """
    if not row.done or row.times is None or not row.times.median:
        return None
    runtime = row.times.median
    loads = (
        _products(row, ceilings),
        _bytes(row, ceilings),
        *_cache(row, ceilings),
        *_shared(row, ceilings),
        _exponentials(row, ceilings),
    )
    parts = tuple(_timed(part, runtime) for part in loads)
    binding = _binding(parts)
    return Why(
        runtime_ms=runtime,
        parts=parts,
        binds=binding.load if binding else None,
        share=binding.share if binding else None,
        sentence=_sentence(parts, binding, row),
    )


def _binding(parts: tuple[LoadShare, ...]) -> LoadShare | None:
    """The load that would take longest, if that is long enough to be the reason."""
    known = [part for part in parts if part.share is not None]
    longest = max(known, key=lambda part: part.share or 0, default=None)
    enough = CERTAIN if any(map(_unknown, parts)) else EXPLAINS
    return longest if longest is not None and (longest.share or 0) >= enough else None


def _products(row: PointRow, ceilings: Ceilings | None) -> LoadShare:
    problem = row.problem
    amount = product_flops(row.kernel, problem)
    source = f"{_of_a_pair(row)} per kept pair"
    dtype = PRODUCTS.get(row.kernel) or problem.dtype
    if dtype == "float8":
        missing = "it multiplies in 8 bits, of which no rate was measured"
        return LoadShare(
            load="products", name="products", amount=amount, amount_source=source, missing=missing
        )
    rate = _rate(ceilings, matmul_key(dtype), row)
    return _part("products", amount, source, rate)


def _of_a_pair(row: PointRow) -> str:
    """Operations of the products of a kept pair: `4·d`, or `2·d and 2·d of V` where V has its own width."""
    problem, products = row.problem, products_of(row.kernel, row.problem)
    if problem.value_dim == problem.head_dim:
        return f"{2 * products}·d"
    of_values = problem.runs_forward + 2 * problem.runs_backward
    return f"{2 * (products - of_values)}·d and {2 * of_values}·d of V"


def _bytes(row: PointRow, ceilings: Ceilings | None) -> LoadShare:
    moved = dram_bytes(row)
    if moved is None:
        missing = compulsory(row).missing or NO_BYTES
        return LoadShare(load="bytes", name="bytes", amount=None, amount_source="", missing=missing)
    figure = _ceiling(ceilings, COPY).figure
    beside = row.measured(COPY)
    if figure.value is None and beside is not None:
        figure = beside
    return _part("bytes", moved.nbytes, moved.source, figure)


def _cache(row: PointRow, ceilings: Ceilings | None) -> Iterator[LoadShare]:
    """The bytes between the last cache and the tiles, where they and its rate are known."""
    moved, key = l2_bytes(row), CACHES[row.backend]
    if moved is not None and ceilings is not None and key in ceilings.rates:
        name = f"bytes of {CACHE_NAMES[row.backend]}"
        yield _part("cache", moved.nbytes, moved.source, _ceiling(ceilings, key).figure, name)


def _shared(row: PointRow, ceilings: Ceilings | None) -> Iterator[LoadShare]:
    """The bytes of the tile loop in shared memory, where a formula tells them and their rate is known."""
    moved = shared_bytes(row)
    if moved is not None and ceilings is not None and SHARED_READS in ceilings.rates:
        rate = _rate(ceilings, SHARED_READS, row)
        yield _part("shared", moved.nbytes, moved.source, rate, "bytes of shared memory")


def _exponentials(row: PointRow, ceilings: Ceilings | None) -> LoadShare:
    problem = row.problem
    each = problem.runs_forward + (problem.runs_backward and row.kernel not in KEEPING)
    source = {0: "none: P was kept", 1: "one per kept pair", 2: "two per kept pair"}[each]
    return _part("exponentials", float(each * _pairs(row)), source, _rate(ceilings, EXPONENTIALS, row))


def _pairs(row: PointRow) -> int:
    """Query-key pairs that the masks keep, of all heads."""
    return row.problem.all_kept_pairs


def _part(load: Load, amount: float, source: str, rate: Figure, name: str = "") -> LoadShare:
    missing, named = _impossible(load, amount, rate), name or load
    if missing or rate.value is None:
        unknown = missing or NO_CEILINGS
        return LoadShare(load=load, name=named, amount=amount, amount_source=source, missing=unknown)
    return LoadShare(
        load=load,
        name=named,
        amount=amount,
        amount_source=source,
        rate=rate.value,
        rate_source=rate.source,
        ms=amount / UNITS[load] / rate.value,
    )


def _impossible(load: Load, amount: float, rate: Figure) -> str:
    """Why a load has no time; empty where it has one."""
    if rate.value is None:
        return rate.missing or NO_CEILINGS
    if not 0 < rate.value < math.inf:
        return f"the rate of {load} is given as {rate.value:.3g}"
    if not 0 <= amount / UNITS[load] / rate.value < math.inf:
        return f"{load} are given as {amount:.3g} at a rate of {rate.value:.3g}"
    return ""


def _timed(part: LoadShare, runtime_ms: float) -> LoadShare:
    """The part with its share; one that would take longer than the run is refuted by it."""
    if part.ms is None:
        return part
    share = part.ms / runtime_ms
    if share <= REFUTED:
        return structs.replace(part, share=share)
    by_formula = part.amount_source in {FORMULA, LEAST}
    missing = TOO_MANY if by_formula else TOO_LONG.format(part.name, _percent(share))
    return structs.replace(part, ms=None, missing=missing)


def _unknown(part: LoadShare) -> str:
    """What is not known of a load, as a clause; empty where all is."""
    return part.missing or (MORE if part.amount_source == LEAST else "")


def _ceiling(ceilings: Ceilings | None, key: str) -> Ceiling:
    """The ceiling of that key, or one that says why there is none."""
    known = ceilings.rates.get(key) if ceilings else None
    return known or Ceiling(figure=Figure(missing=NO_CEILINGS if ceilings is None else "it was not measured"))


def _rate(ceilings: Ceilings | None, key: str, row: PointRow) -> Figure:
    """A rate of the multiprocessors at the point's clock: what they do in a cycle is the same at any."""
    ceiling = _ceiling(ceilings, key)
    here, there, figure = row.clocks, ceiling.sm_clock_mhz, ceiling.figure
    if here is None or not there or figure.value is None:
        return figure
    source = f"{figure.source}, from {there:.4g} to the point's {here.median:.4g} MHz"
    return Figure(value=figure.value * here.median / there, source=source)


def _sentence(parts: tuple[LoadShare, ...], binding: LoadShare | None, row: PointRow) -> str:
    if binding is not None:
        return f"Bound by {_said(binding, row)}{_close(parts, binding)}."
    known = [part for part in parts if part.share is not None]
    told = listed([f"{part.name} {_percent(part.share)}" for part in known])
    alone = f"alone, {told.replace(' ', ' would take ', 1)} of its time; " if told else ""
    unknown = dict.fromkeys(filter(None, map(_unknown, parts)))
    if unknown:
        return f"What binds it is not known: {alone}{'; '.join(unknown)}."
    return f"None of the {COUNTED[len(parts)]} explains it: {alone}{REST[row.backend]}."


def _said(part: LoadShare, row: PointRow) -> str:
    """The load that binds, how much of it there is, and what is reached of its rate."""
    share, amount = _percent(part.share), decimal(part.amount or 0)
    match part.load:
        case "bytes":
            moved = f"{amount}B ({part.amount_source})"
            return f"{row.memory}: it moves {moved} and reaches {share} of the copy rate"
        case "cache":
            moved = f"{amount}B between it and the tiles ({part.amount_source})"
            return f"{CACHE_NAMES[row.backend]}: it moves {moved} and reaches {share} of the cache's rate"
        case "shared":
            moved = f"{amount}B there ({part.amount_source})"
            return f"shared memory: its tiles move {moved} and reach {share} of its rate"
        case "products":
            return f"products: it does {amount}FLOP and reaches {share} of the matmul rate"
        case "exponentials":
            return f"exponentials: it takes {amount.rstrip()} of them and reaches {share} of their rate"


def _close(parts: tuple[LoadShare, ...], binding: LoadShare) -> str:
    """The loads that come close to the one that binds."""
    least = CLOSE * (binding.share or 0)
    near = [part for part in parts if part is not binding and (part.share or 0) >= least]
    return "".join(f"; {part.name} come close ({_percent(part.share)})" for part in near)


def decimal(value: float) -> str:
    """A number in two or three digits with its decimal prefix and room for a unit: `8.8 G`."""
    for size, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            text = f"{value / size:.0f}" if 10 * size <= value < 1e3 * size else f"{value / size:.2g}"
            return f"{text} {prefix}"
    return f"{value:.3g} "


def _percent(share: float | None) -> str:
    text = f"{100 * (share or 0):.0f}" if (share or 0) < MANY else f"{100 * (share or 0):.2g}"
    return f"{text}%" if (share or 0) >= 0.01 else "under 1%"  # noqa: PLR2004 - a percent
