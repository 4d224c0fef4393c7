"""A point in two sessions as the cells of a line: for a terminal and for a page."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from flashscope.app.words.figures import NOTHING
from flashscope.app.words.kinds import words_of
from flashscope.app.words.results.sessions import device_of, minute_of, side_called
from flashscope.app.words.results.verdicts import ratio_digits
from flashscope.app.words.units import seqlen_text
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.compare import Contrast, Lone, Pair
from flashscope.profiles.results.model.curves import Curve, curve_by_problem
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.wire.measurement import Figure

HEADINGS = ("kernel", "problem", "N", "baseline", "here", "ratio", "95% interval", "verdict")
KEYS = 3  # the columns that say which point a line is about


def side_titled(runs: Sequence[Session], files: Sequence[Path]) -> str:
    """A side of a comparison, with the device and minute of its first run."""
    return f"{side_called(runs, files)} ({device_of(runs[0])}, {minute_of(runs[0])})"


def contrast_curves(contrast: Contrast) -> Mapping[Problem, Curve]:
    """The curve of each problem among all that the two sessions have."""
    lone = (*contrast.base_only, *contrast.other_only)
    return curve_by_problem([*(pair.base for pair in contrast.pairs), *(one.row for one in lone)])


def pair_texts(quantity: Quantity, pair: Pair, label: str) -> tuple[str, ...]:
    """What stands under HEADINGS; `label`: the pair's problem in words."""
    figures = (_value(quantity, figure) for figure in (pair.base_figure, pair.other_figure))
    ratio = NOTHING if pair.ratio is None else ratio_digits(pair.ratio)
    ends = [ratio_digits(one) for one in (pair.ratio_low, pair.ratio_high) if one is not None]
    place = pair.kernel, label, seqlen_text(pair.base.seqlen)
    return (
        *place,
        *figures,
        ratio,
        " .. ".join(ends) or NOTHING,
        pair.verdict or f"{pair.base.status}, {pair.other.status}",
    )


def _value(quantity: Quantity, figure: Figure | None) -> str:
    known = None if figure is None else figure.value
    return NOTHING if known is None else words_of(quantity).text(known)


def pair_remark(pair: Pair) -> str:
    """What a line leaves open; empty where it says all."""
    return pair.reason if pair.reason and pair.verdict != "same" else ""


def lone_text(lone: Lone) -> str:
    """Why a point has no partner."""
    return f"nearest has {lone.reason}" if lone.nearest else lone.reason
