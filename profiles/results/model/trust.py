"""How far the figures of a point can be trusted, in a word with its reasons, by a rule that is written down.

Solid: nothing below holds. Fair: the figures stand, and the reason is worth knowing. Doubtful: measure again.
Impossible: in less time than its device can need for it (profiles.results.model.limits); it counts nowhere.
The word is that of the gravest reason.

| looked at | fair | doubtful |
|---|---|---|
| samples that count | fewer than 5 | fewer than 3 |
| samples rejected | a tenth or more | half or more |
| spread, the quartiles' distance over the median | above 5% | above 20% |
| drift, the later half of the samples beside the earlier | 3% or more, by chance in under 1% | 10% or more |
| two groups of samples, 5% apart with nothing between | yes | the smaller has 40% or more |
| outliers, further from the median than a fifth of it | more than a tenth of the samples | |
| SM clock, from least to most over the median | above 10% | above 25% |
| temperature | 85 °C or more, or a rise of 15 °C | |
| slowed down (heat, hardware, power brake), by NVML | any sample | half or more |
| held back (power cap, clocks that were set), by NVML | half of the samples or more | |
| other processes on the GPU | any | |
| energy, half its uncertainty over its value | above 5%, or no energy at all | |
| turns of the kernels of a problem, where they were wanted | | broken off: sampled apart in time |
| the comparison with float64 | not made | failed |
| a kernel of one's own, beside that | | remembers inputs, or is wrong at another size |

What was not read counts neither for nor against a point. One outlier of ten harms no median, and no word.
"""

import math
from collections import Counter
from collections.abc import Callable
from statistics import median
from typing import Literal, NamedTuple

from flashscope.profiles.results.statistics.steadiness import drift, outliers, relative_spread, two_clusters
from flashscope.profiles.wire.measurement import SUSPECTED, TURNS_BROKEN_OFF, Figure, Measurement, Sample

Word = Literal["solid", "fair", "doubtful", "impossible"]
WORDS: tuple[Word, ...] = ("solid", "fair", "doubtful", "impossible")


class Trust(NamedTuple):
    """How far a point can be trusted.

    Attributes:
        word: Solid, fair, doubtful or impossible.
        reasons: Why it is not solid, a clause each, the gravest first.
    """

    word: Word
    reasons: tuple[str, ...]


class Doubt(NamedTuple):
    """One reason against a point, and what it makes of it."""

    word: Word
    reason: str


Samples = tuple[Sample, ...]
Rule = Callable[[Measurement, Samples], Doubt | None]


def trust_of(measurement: Measurement, refuted: str = "") -> Trust | None:
    """The word for what a point yielded; None where it has no samples, and no comparison that failed.

    Args:
        measurement: What it yielded.
        refuted: Why it is impossible, as a clause; empty where it is not.
    """
    accepted = tuple(sample for sample in measurement.samples if sample.rejected is None)
    judged = [rule(measurement, accepted) for rule in (RULES if measurement.samples else (_checked,))]
    findings = [finding for finding in judged if finding is not None]
    findings += [Doubt("impossible", refuted)] if refuted else []
    if not measurement.samples and not any(finding.word == "doubtful" for finding in findings):
        return None
    findings.sort(key=lambda finding: WORDS.index(finding.word), reverse=True)
    word: Word = findings[0].word if findings else "solid"
    return Trust(word, tuple(finding.reason for finding in findings))


def _graded(value: float, fair: float, doubtful: float, reason: str) -> Doubt | None:
    """Fair from the one bound on, doubtful from the other."""
    if value < fair:
        return None
    return Doubt("doubtful" if value >= doubtful else "fair", reason)


def _enough(_: Measurement, accepted: Samples) -> Doubt | None:
    count = len(accepted)
    told = f"{count} sample{'' if count == 1 else 's'}"
    return _graded(-count, -4, -2, f"only {told}" if count else "no sample counts")


def _rejected(measurement: Measurement, _: Samples) -> Doubt | None:
    reasons = Counter(sample.rejected for sample in measurement.samples if sample.rejected is not None)
    share = reasons.total() / len(measurement.samples)
    told = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common())
    return _graded(share, 0.1, 0.5, f"{_percent(share)} of the samples rejected: {told}")


def _spread(_: Measurement, accepted: Samples) -> Doubt | None:
    share = relative_spread(_times(accepted))
    return _graded(share, _above(0.05), _above(0.2), f"spread of {_percent(share)} between the quartiles")


def _drift(_: Measurement, accepted: Samples) -> Doubt | None:
    share = drift(_times(accepted))
    if share is None:
        return None
    way = "longer" if share > 0 else "shorter"
    return _graded(abs(share), 0.0, 0.1, f"drift: later samples are {_percent(abs(share))} {way}")


def _clusters(_: Measurement, accepted: Samples) -> Doubt | None:
    found = two_clusters(_times(accepted))
    if found is None:
        return None
    each = f"{found.lower_ms:.4g} ms ({found.lower}) and {found.upper_ms:.4g} ms ({found.upper})"
    smaller = min(found.lower, found.upper) / len(accepted)
    return _graded(smaller, 0.0, 0.4, f"two groups of samples: {each}")


def _outliers(_: Measurement, accepted: Samples) -> Doubt | None:
    count = outliers(_times(accepted)) if accepted else 0
    if count <= 0.1 * len(accepted):
        return None
    return Doubt("fair", f"{count} of {len(accepted)} samples are more than 20% off the median")


def _clock(_: Measurement, accepted: Samples) -> Doubt | None:
    read = (sample.sm_clock_mhz for sample in accepted)
    clocks = [mhz for mhz in read if mhz is not None and 0 < mhz < math.inf]
    if not clocks:
        return None
    least, most = min(clocks), max(clocks)
    told = f"the SM clock ran from {least:.4g} to {most:.4g} MHz"
    return _graded((most - least) / median(clocks), _above(0.1), _above(0.25), told)


def _heat(measurement: Measurement, _: Samples) -> Doubt | None:
    known = _known(measurement, "temperature_c")
    if known is None or known.low is None or known.high is None:
        return None
    if known.high >= 85:  # noqa: PLR2004 - the docstring's table
        return Doubt("fair", f"the GPU was at {known.high:.4g} °C")
    if known.high - known.low >= 15:  # noqa: PLR2004 - the docstring's table
        return Doubt("fair", f"the GPU went from {known.low:.4g} to {known.high:.4g} °C")
    return None


def _slowed(measurement: Measurement, _: Samples) -> Doubt | None:
    known = _known(measurement, "slowed")
    if known is None or not known.value:
        return None
    return _graded(known.value, 0.0, 0.5, f"slowed down: {_told(known)}")


def _capped(measurement: Measurement, _: Samples) -> Doubt | None:
    known = _known(measurement, "capped")
    if known is None or known.value is None:
        return None
    return _graded(known.value, 0.5, 2.0, f"clocks held back: {_told(known)}")


def _others(measurement: Measurement, _: Samples) -> Doubt | None:
    known = _known(measurement, "other_processes")
    count = (known.value or 0) if known else 0
    return Doubt("fair", f"{count:.4g} other process{'es' * (count > 1)} on the GPU") if count > 0 else None


def _energy(measurement: Measurement, _: Samples) -> Doubt | None:
    known = _known(measurement, "energy_mj")
    if known is None or known.value is None or known.low is None or known.high is None:
        return None
    if known.value <= 0:
        return Doubt("fair", f"the energy of a run is given as {known.value:.3g} mJ, which none takes")
    share = abs(known.high - known.low) / 2 / known.value
    return _graded(share, _above(0.05), 9.0, f"the energy counter's steps leave it to {_percent(share)}")


def _checked(measurement: Measurement, _: Samples) -> Doubt | None:
    if measurement.correctness is None:
        return Doubt("fair", "its output was not compared with float64")
    if not measurement.correctness.passed:
        return Doubt("doubtful", "its output failed the comparison with float64")
    return None


def _suspected(measurement: Measurement, _: Samples) -> Doubt | None:
    """What a kernel of the user's own was seen to do."""
    known = _known(measurement, SUSPECTED)
    return Doubt("doubtful", known.source) if known is not None and known.value else None


def _turns(measurement: Measurement, _: Samples) -> Doubt | None:
    """The ratio to kernels that were sampled at another time is one of clocks and loads, too."""
    apart = TURNS_BROKEN_OFF in measurement.note.casefold()
    return Doubt("doubtful", TURNS_BROKEN_OFF) if apart else None


RULES: tuple[Rule, ...] = (
    _checked,
    _suspected,
    _turns,
    _enough,
    _rejected,
    _spread,
    _drift,
    _clusters,
    _outliers,
    _clock,
    _heat,
    _slowed,
    _capped,
    _others,
    _energy,
)


def _known(measurement: Measurement, key: str) -> Figure | None:
    """A figure that was read, None where it holds what is no number: nothing was read then."""
    known = measurement.figures.get(key)
    numbers = () if known is None else (known.value, known.low, known.high)
    return known if all(one is None or math.isfinite(one) for one in numbers) else None


def _times(accepted: Samples) -> list[float]:
    return [sample.ms for sample in accepted]


def _above(share: float) -> float:
    """The bound as such is still good."""
    return share * (1 + 1e-9)


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


def _told(figure: Figure) -> str:
    """What NVML named, without who says so."""
    return figure.source.partition(": ")[2] or f"{_percent(figure.value or 0)} of the samples"
