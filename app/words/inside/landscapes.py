"""Landscapes in words: what they are of, which cut is fastest, and how far the shipped one is from it."""

from collections.abc import Mapping, Sequence
from functools import cache

from flashscope.app.words.inside.cuts import problem_line, tile_words
from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.app.words.units import digits, ms_text, seqlen_text
from flashscope.kernels.catalogue.sources import source_digest
from flashscope.kernels.cuda.design.knobs import KNOBS
from flashscope.kernels.workload.cut import Cut, CutKernel
from flashscope.kernels.workload.landscape import CutLandscape
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.results.model.fresh_rounds import FreshRounds
from flashscope.profiles.results.statistics.bootstrap import Interval
from flashscope.profiles.wire.cuts import CutsToTime

IN_PERCENT = 1.1  # below it
MOST_OF_CARD = 22  # characters of a card's name in a box
NAMES: dict[CutKernel, str] = {"numpy": "flash2 in NumPy"}


def fresh_words(fresh: FreshRounds, shipped: Cut, told: Mapping[Cut, str]) -> str:
    """Which cut is fastest on fresh rounds, and how far the shipped one is from it.

    Args:
        fresh: The fresh rounds.
        shipped: The cut that the kernel takes.
        told: How long each cut took, in words.

    Returns:
        A sentence; empty where none was timed anew.
    """
    best = fresh.best
    if best is None:
        return ""
    first = f"Fastest on fresh rounds: {tile_words(best)}, {told[best]}"
    if best == shipped or fresh.distance is None:
        return f"{first}{', the shipped one' if best == shipped else ''}."
    standard, took = f"the shipped {tile_words(shipped)}", told[shipped]
    if fresh.interval is None:
        return f"{first}; {standard} took {took}, in too few rounds to tell."
    longer = _longer(fresh.distance, fresh.interval)
    if not fresh.beaten:
        return f"{first}; too little to tell it from {standard}, {took}: {longer}."
    return f"{first}; {standard} takes {longer}, {took}."


def landscape_sentence(landscape: CutLandscape) -> str:
    """The same of a landscape, with how many cuts were timed."""
    fresh = FreshRounds.of_landscape(landscape)
    told = {cut: ms_text(ms) for cut, ms in fresh.ranked}
    return " ".join(filter(None, (_counted(landscape), fresh_words(fresh, landscape.shipped, told))))


def landscape_title(landscape: CutLandscape) -> str:
    """What it is of: `flash3: 16 heads of 128, N = 4,096, causal, bfloat16`."""
    return _title(landscape.kernel, landscape.problem)


def maker_title(asked: CutsToTime) -> str:
    """The same of one that is still to be timed."""
    return _title(asked.shipped.kernel, asked.problem)


def _title(kernel: CutKernel, problem: Problem) -> str:
    return f"{kernel_title(kernel)}: {problem_line(problem)}"


def landscape_names(landscapes: Sequence[CutLandscape]) -> list[str]:
    """A name for each in a box to choose from, a number behind those that are alike."""
    names = [_name(one) for one in landscapes]
    return [
        f"{name} ({names[: place + 1].count(name)})" if names.count(name) > 1 else name
        for place, name in enumerate(names)
    ]


def _name(landscape: CutLandscape) -> str:
    problem = landscape.problem
    card = cut_short(landscape.device.name.removeprefix("NVIDIA "), MOST_OF_CARD)
    mask = "causal" if problem.causal else "no mask"
    lengths = f"d = {problem.head_dim}, N = {seqlen_text(problem.seqlen_q)}, {mask}"
    rows = next(knob.words for knob in KNOBS[landscape.kernel] if knob.name == landscape.rows)
    return f"{kernel_title(landscape.kernel)}, {lengths}, by {rows} · {card}"


def source_words(landscape: CutLandscape) -> str:
    """On what and of which source its cuts were timed: `NVIDIA H100 · source 0123456789ab`."""
    other = "" if is_this_source(landscape) else ", another version"
    card, build, timer = (
        cut_short(text, MOST_OF_NAME)
        for text in (landscape.device.name, landscape.build or "not told", landscape.timer)
    )
    return f"{card} · source {build}{other} · {timer}"


def badge_words(landscape: CutLandscape) -> str:
    """The same in short, for the badge, which names the device: `cuts of flash3, source 0123456789ab`."""
    other = "" if is_this_source(landscape) else ", another version"
    return f"cuts of {kernel_title(landscape.kernel)}, source {landscape.build or 'not told'}{other}"


def is_this_source(landscape: CutLandscape) -> bool:
    """Whether its cuts are of the source that is here, as far as that is told."""
    return landscape.build in {"", _digest_here(landscape.device.backend, landscape.shipped.source)}


@cache
def _digest_here(backend: Backend, key: str) -> str | None:
    return source_digest(backend, key)


def kernel_title(kernel: CutKernel) -> str:
    """What a kernel whose cuts are looked at is called."""
    return NAMES.get(kernel, kernel)


def _longer(ratio: float, interval: Interval) -> str:
    """By how many percent, or from a tenth on how many times as long."""
    if ratio >= IN_PERCENT:
        low, high = map(digits, interval)
        return f"{digits(ratio)}× as long ({low} to {high})"
    low, high = (f"{100 * (end - 1):.1f}" for end in interval)
    return f"{100 * (ratio - 1):.1f}% longer ({low} to {high}%)"


def _counted(landscape: CutLandscape) -> str:
    refused = len(landscape.cells) - landscape.timed
    return f"{landscape.timed:,} of {len(landscape.cells):,} cuts timed, {refused:,} refused."
