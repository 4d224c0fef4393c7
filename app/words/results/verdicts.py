"""What a pair of a comparison says: a glyph, a word and a tone, its interval, and why."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from flashscope.app.words.units import MOST_DIGITS
from flashscope.profiles.results.compare import Difference, Pair
from flashscope.profiles.results.compare.wording import percent

Tone = Literal["good", "bad", "doubt", "quiet", "plain"]
"""Better, worse, not sure, nothing changed, and neither better nor worse."""

GLYPHS = {
    "faster": "▲",
    "slower": "▼",
    "more": "+",
    "less": "−",
    "same": "=",
    "equal": "=",
    "inconclusive": "?",
}
LEAST_PLAIN, DIGITS = 0.1, 5  # of a ratio: from where it has decimals, and how many characters
BROKE, MENDED, NOTHING = "no longer done", "done now", "not compared"


class Spoken(NamedTuple):
    """A verdict as it is shown: never by its colour alone."""

    glyph: str
    word: str
    tone: Tone


def spoken(pair: Pair) -> Spoken:
    """The verdict of a pair; of one that has none, what became of its points."""
    if pair.verdict is None:
        return _state(pair)
    return Spoken(GLYPHS[pair.verdict], pair.verdict, _tone(pair))


def _state(pair: Pair) -> Spoken:
    if pair.broke:
        return Spoken("×", BROKE, "bad")
    return Spoken("✓", MENDED, "good") if pair.better else Spoken("–", NOTHING, "quiet")


def _tone(pair: Pair) -> Tone:
    if pair.better is not None:
        return "good" if pair.better else "bad"
    if pair.verdict == "inconclusive":
        return "doubt"
    return "quiet" if pair.verdict in {"same", "equal"} else "plain"


def ratio_digits(ratio: float) -> str:
    """A ratio with as many digits as tell a change of 1 ‰, however small or large it is."""
    if not LEAST_PLAIN <= ratio < MOST_DIGITS:
        return f"{ratio:.4g}"
    texts = (f"{ratio:,.{decimals}f}" for decimals in (3, 2, 1, 0))
    return next(text for text in texts if len(text) <= DIGITS or "." not in text)


def pair_ratio_text(ratio: float | None) -> str:
    """A ratio, as bare a number as its interval's ends; empty where there is none."""
    return "" if ratio is None else ratio_digits(ratio)


def interval_text(pair: Pair) -> str:
    """The ends of a pair's interval; empty where there is none."""
    if pair.ratio_low is None or pair.ratio_high is None:
        return ""
    return f"{ratio_digits(pair.ratio_low)} – {ratio_digits(pair.ratio_high)}"


def verdict_reason(pair: Pair) -> str:
    """What stands behind a verdict, in a sentence or two."""
    if pair.verdict in {"faster", "slower"} or (pair.verdict in {"more", "less"} and pair.p is not None):
        return _changed(pair)
    if pair.verdict == "equal":
        return "Both figures are exact, and they are equal."
    if pair.verdict in {"more", "less"}:
        return "Both figures are exact, and they differ."
    told = pair.reason or "nothing to judge"
    return f"{told[0].upper()}{told[1:]}."


def _changed(pair: Pair) -> str:
    if pair.cycles is not None and (pair.ratio_low or 0) <= 1 <= (pair.ratio_high or 0):
        return _changed_in_cycles(pair, pair.cycles)
    told = [f"The interval excludes 1 and both sides differ (p = {pair.p or 0:.2g} over all points)."]
    if pair.change is not None and pair.threshold is not None:
        told.append(f"A change of {percent(pair.threshold)} counts here; this is {percent(pair.change)}.")
    if pair.cycles is not None:
        told.append(f"In clock cycles the ratio is {ratio_digits(pair.cycles)}.")
    return " ".join(told)


def _changed_in_cycles(pair: Pair, cycles: float) -> str:
    """Of runs whose clocks differ more than their cycles do, so that these decide."""
    share = percent(max(cycles, 1 / cycles) - 1)
    return (
        f"Clock cycles differ (p = {pair.p or 0:.2g} over all points); the interval of the time holds 1. "
        f"A change of {percent(pair.threshold or 0)} counts here; this is {share}, and in clock cycles "
        f"the ratio is {ratio_digits(cycles)}."
    )


class Bearing(NamedTuple):
    """Whether a circumstance may explain a change: a glyph, words and a role of the stylesheet."""

    glyph: str
    words: str
    role: str


def differing_text(differences: Sequence[Difference], around: str = "them") -> str:
    """How many circumstances differ, and how many of these bear on the verdicts."""
    telling = sum(one.reach != "none" for one in differences)
    told = f"{telling or 'none'} of them may explain a change"
    return f"What differs around {around}: {len(differences)}, {told}"


def bearing(difference: Difference) -> Bearing:
    """How a circumstance that differs bears on the verdicts."""
    if difference.reach == "every":
        return Bearing("▲", "may explain any change", "error")
    if difference.reach == "kernels":
        return Bearing("◆", f"may explain {', '.join(difference.kernels)}", "warn")
    return Bearing("○", "explains no change", "dim")
