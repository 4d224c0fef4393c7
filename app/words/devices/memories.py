"""The memories of a device in words."""

from collections.abc import Sequence

from flashscope.app.words.units import bytes_text, gbs_text, ratio_text
from flashscope.profiles.results.theory.memories import MemoryLevel
from flashscope.profiles.wire.ceilings import COPY, CORE_CACHE, LAST_CACHE
from flashscope.profiles.wire.text import listed

EMPTY = "Run a sweep or open a session: it has the rates of its device's memories."
SIZE_UNKNOWN = "size not known"
WITHIN_CACHES = {CORE_CACHE, LAST_CACHE}  # whose rates are of copies within them, and not of reads


def level_title(level: MemoryLevel) -> str:
    """What stands over its block: its name and what it holds."""
    held = SIZE_UNKNOWN if level.nbytes is None else bytes_text(level.nbytes)
    return f"{_capital(level.name)} · {held}"


def level_rate(level: MemoryLevel) -> str:
    """Its rate with the quartiles, or why there is none."""
    rate = level.rate
    if not rate.value:
        return rate.missing
    if rate.low is None or rate.high is None:
        return gbs_text(rate.value)
    told, low, high = map(gbs_text, (rate.value, rate.low, rate.high))
    unit = told[told.index(" ") :]
    if low.endswith(unit) and high.endswith(unit):
        low, high = low.removesuffix(unit), high.removesuffix(unit)
    return f"{told} ({low} .. {high})"


def level_times(level: MemoryLevel, levels: Sequence[MemoryLevel]) -> str:
    """How many times as fast it is as the last of these that has a rate; empty where it is that."""
    known = _known(levels)
    if not level.rate.value or len(known) < 2 or level == known[-1]:  # noqa: PLR2004 - two make a ratio
        return ""
    return f"{ratio_text(level.rate.value / (known[-1].rate.value or 1))} {known[-1].name}"


def memories_sentence(levels: Sequence[MemoryLevel]) -> str:
    """What the picture says, of all that were measured beside the last of them."""
    *faster, last = _known(levels) or levels
    if not faster or not last.rate.value:
        return "Of these memories no two rates were measured with this session; a new sweep measures all."
    times = [ratio_text((level.rate.value or 0) / (last.rate.value or 1)) for level in faster]
    holds = ""
    if faster[0].nbytes and last.nbytes:
        than = _the(faster[0]) if faster[0].key in WITHIN_CACHES else faster[0].name
        holds = f"; {last.name} holds {last.nbytes / faster[0].nbytes:,.0f}× as much as {than}"
    if faster[0].key in WITHIN_CACHES:
        told = listed([f"in {_the(level)} {ratio}" for level, ratio in zip(faster, times, strict=True)])
        told = told.replace(times[0], f"are {times[0]}", 1)
        return f"Copies {told} as fast as in {_the(last) if last.key in WITHIN_CACHES else last.name}{holds}."
    of_others = [f"{level.name} {ratio}" for level, ratio in zip(faster[1:], times[1:], strict=True)]
    told = listed([f"{_capital(faster[0].name)} is read {times[0]}", *of_others])
    return f"{told} as fast as {last.name} is {'copied' if last.key == COPY else 'read'}{holds}."


def _known(levels: Sequence[MemoryLevel]) -> list[MemoryLevel]:
    return [level for level in levels if level.rate.value]


def _the(level: MemoryLevel) -> str:
    return level.name if level.name.startswith("a ") else f"the {level.name}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
