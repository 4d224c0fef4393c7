"""What a fault does to an input, in sentences made of the numbers of both traces."""

import numpy as np

from flashscope.app.stepper.comparison import FaultComparison, WrongTile
from flashscope.app.stepper.numbers import number
from flashscope.app.stepper.rescales import Rescales
from flashscope.app.stepper.row_history import FLOAT32_EXP_LIMIT
from flashscope.app.stepper.truth import told
from flashscope.app.words.inside.faults import WORDS
from flashscope.profiles.results.model.curves import counted_noun

EXP_UNDERFLOW = -87.3  # exp of less has fewer bits than a float32 has else


def at_the_end(pair: FaultComparison) -> str:
    """How far the faulty answer is off, and what the project's own check says of it."""
    recording = pair.broken.recording
    error = f"max |O − exact| = {number(recording.max_error)} over {_rows(recording.seqlen_q)}"
    if pair.verdict.passed:
        return f"{error}: the check of kernels passes it."
    worst = told(pair.verdict)
    off = _much(worst.output, worst.error, worst.bound)
    return f"{error}: the check of kernels refuses it ({off})."


def of_row(pair: FaultComparison, row: int) -> str:
    """Where one row leaves the truth, or that it does not."""
    compared = pair.row(row)
    wrong = compared.first_wrong
    if not len(compared.tiles):
        return f"Row {row} meets no tile: all its keys are masked, and O = 0 is right."
    if wrong is None:
        why = _why_right(pair, row)
        where = f"each of its {count} tiles" if (count := len(compared.tiles)) > 1 else "its only tile"
        return f"Row {row} stays right at {where}{why}."
    place = int(np.searchsorted(compared.tiles, wrong.t)) + 1
    return f"Row {row} leaves the truth at tile {place} of {len(compared.tiles)} {_off(pair, wrong)}."


def of_all(pair: FaultComparison) -> str:
    """How many rows are refused in the end, and which leaves the truth first."""
    count, rows = len(pair.refused), pair.broken.recording.seqlen_q
    wrong = pair.first_wrong
    if not count or wrong is None:
        return hidden(pair) if pair.verdict.passed else ""
    if rows == 1:
        return ""
    return f"{count} of {_rows(rows)} end wrong; the first is row {wrong.row} {_off(pair, wrong)}."


def hidden(pair: FaultComparison) -> str:
    """Why a fault does not show on this input."""
    reason = _reason(pair)
    return f"This input does not show the fault: {reason}"


def rescaled(counted: Rescales, whose: str) -> str:
    """How often old sums are multiplied, by three rules."""
    if not counted.always:
        return f"{whose}: no tile meets an older one, so nothing is rescaled."
    return (
        f"{whose}: old sums are multiplied {counted.always:,}× if at every tile, {counted.raised:,}× if only "
        f"where m rises, {counted.lazy:,}× with flash3’s headroom of 8 ln 2."
    )


def _reason(pair: FaultComparison) -> str:
    fault = pair.broken.recording.fault
    why = {
        "no-rescale": _of_maxima,
        "no-maximum": _of_exponents,
        "diagonal-masked": _of_edge,
        "key-beyond-diagonal": _of_edge,
        "softmax-per-tile": _of_joining,
        "stale-keys": _of_joining,
    }.get(fault)
    told = why(pair) if why is not None else ""
    if told:
        return told
    if pair.identical:
        return f"both answers are the same to the bit. {WORDS[fault].note}".rstrip()
    return "what it changes is less than rounding in float32 may change."


def _of_maxima(pair: FaultComparison) -> str:
    if pair.rescales.raised:
        return ""
    return "no tile raises a maximum that was there before, so that every α is 1."


def _of_exponents(pair: FaultComparison) -> str:
    scores = pair.right.recording.s
    finite = scores[np.isfinite(scores)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    if high >= FLOAT32_EXP_LIMIT or low <= EXP_UNDERFLOW:
        return ""
    return f"scores lie between {number(low, 1)} and {number(high, 1)}, whose exponentials float32 has."


def _of_edge(pair: FaultComparison) -> str:
    if pair.right.recording.trace.request.shown.causal:
        return ""
    return "the problem is not causal, so that it has no such edge."


def _of_joining(pair: FaultComparison) -> str:
    return "" if pair.rescales.always else "no row meets more than one tile."


def _why_right(pair: FaultComparison, row: int) -> str:
    """Why forgetting alpha costs a row nothing."""
    if pair.broken.recording.fault == "no-rescale" and not pair.rescales_of(row).raised:
        return ": no tile raises its maximum"
    return ""


def _off(pair: FaultComparison, wrong: WrongTile) -> str:
    i, j = pair.right.recording.at(wrong.t)
    judged = wrong.judged
    if judged.error <= judged.bound:
        return f"(i = {i}, j = {j}): its LSE is beyond the bound"
    return f"(i = {i}, j = {j}): {_much('O', judged.error, judged.bound)}"


def _much(what: str, error: float, bound: float) -> str:
    if np.isnan(error):
        return f"{what} holds NaN"
    return f"{what} is off by {number(error)} where {number(bound)} passes"


def _rows(count: int) -> str:
    return counted_noun(count, "row")
