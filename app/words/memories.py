"""The memories of a device in words."""

from collections.abc import Sequence

from flashscope.app.words.units import bytes_text, digits, gbs_text
from flashscope.profiles.results.theory.memories import MemoryLevel, times_faster

EMPTY = "Run a sweep or open a session: it has the rates of its device's memories."


def level_title(level: MemoryLevel) -> str:
    """What stands over its bar: its name and what it holds."""
    name = _capital(level.name)
    return name if level.nbytes is None else f"{name} · {bytes_text(level.nbytes)}"


def level_text(level: MemoryLevel, slowest: float | None) -> str:
    """What stands beside its bar: its rate, over that of the slowest; or why there is none."""
    rate = level.rate.value
    if not rate:
        return level.rate.missing
    times = f" · {digits(rate / slowest)}×" if slowest and rate > slowest else ""
    return f"{gbs_text(rate)}{times}"


def memories_sentence(levels: Sequence[MemoryLevel]) -> str:
    """What the picture says, from the fastest and the slowest that were measured."""
    known = [level for level in levels if level.rate.value]
    ratio = times_faster(levels)
    if ratio is None:
        return "Of these memories no two rates were measured here; a new sweep measures all."
    first, last = known[0], known[-1]
    holds = ""
    if first.nbytes and last.nbytes:
        holds = f", and {last.name} holds {last.nbytes / first.nbytes:,.0f} times as much"
    return f"{_capital(first.name)} is read {digits(ratio)} times as fast as {last.name} is copied{holds}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
