"""How long an attention that was not measured would take, told from points that were.

A point gives a rate: work over runtime. Work grows with N² (times batch, heads and what the masks keep), as
floating-point operations where the kernel is tiled and as bytes of S and P where it is standard, which waits
for memory. A forecast is work over the rate of the measured point nearest in N. Its error has two parts: the
point's quartiles, and how far the rate drifts a doubling of N around it, times the doublings between: of N,
and of batch x heads. Points are single runs; back to back, power may slow a GPU down by more than that.
"""

from collections.abc import Sequence
from math import hypot, inf, log, log2
from typing import NamedTuple

import msgspec

from kernels.problem import ITEMSIZE, Problem
from kernels.registry import find_kernel
from profiles.results.curves import Curve, by_curve, mask_words
from profiles.results.rows import PointRow

NEAR = 2.0  # doublings around a point within which others tell how its rate drifts


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """A runtime that was not measured.

    Attributes:
        ms: Of one layer's attention.
        low: The lower end of the error, None where one point says nothing of it.
        high: The upper end.
        seqlen: N of the measured point that it is told from.
        measured: What that point shares with the others, as `d 128, causal`.
        differs: In what its problem differs besides N, batch and heads, which the error does not cover.
            A kernel that takes windows skips what they drop, which its rate without one may not tell.
    """

    ms: float
    low: float | None
    high: float | None
    seqlen: int
    measured: str
    differs: tuple[str, ...] = ()


class _Known(NamedTuple):
    seqlen: int
    rate: float  # work a millisecond
    spread: float  # half the distance of the quartiles over the median
    heads: int  # of all sequences together


def forecast(rows: Sequence[PointRow], kernel: str, problem: Problem) -> Forecast | str:
    """The runtime of a kernel on a problem, or why these rows say nothing of it."""
    done = [row for row in rows if row.kernel == kernel and row.done and _is_timed(row)]
    if not done:
        return f"no measured point of {kernel}"
    alike = [row for row in done if _run(row.problem) == _run(problem)]
    if not alike:
        return f"{kernel} was measured with another pass, or other query rows, lengths or pages"
    curves = by_curve(alike)
    curve = min(curves, key=lambda one: distance(one, problem))
    known = [_known(row) for row in curves[curve]]
    nearest = min(known, key=lambda one: abs(log2(problem.seqlen / one.seqlen)))
    ms = _work(kernel, problem) / nearest.rate
    error = _error(known, nearest, problem)
    return Forecast(
        ms=ms,
        low=None if error is None else ms / (1 + error),
        high=None if error is None else ms * (1 + error),
        seqlen=nearest.seqlen,
        measured=curve.label,
        differs=_differences(curve, problem),
    )


def _run(problem: Problem) -> tuple[object, ...]:
    """What is run, of which other points say nothing: the pass, how many query rows, lengths and pages."""
    return problem.pass_words, problem.queries, problem.layout


def _is_timed(row: PointRow) -> bool:
    """Whether its runtime can be reckoned with: a file from elsewhere may hold anything."""
    return row.times is not None and 0 < row.times.median < inf


def _known(row: PointRow) -> _Known:
    assert row.times is not None  # noqa: S101 - the caller chose rows that have them
    times, problem = row.times, row.problem
    return _Known(
        seqlen=row.seqlen,
        rate=_work(row.kernel, problem) / times.median,
        spread=(times.q3 - times.q1) / 2 / times.median,
        heads=problem.batch * problem.heads,
    )


def _work(kernel: str, problem: Problem) -> int:
    if find_kernel(kernel).family != "standard":
        return problem.flops
    return problem.all_kept_pairs * problem.itemsize


def _error(known: Sequence[_Known], nearest: _Known, problem: Problem) -> float | None:
    """The relative error, None where no other point tells how the rate drifts."""
    drifts = [
        abs(log(one.rate) - log(nearest.rate)) / away
        for one in known
        if 0 < (away := abs(log2(one.seqlen / nearest.seqlen))) <= NEAR
    ]
    away = abs(log2(problem.seqlen / nearest.seqlen))
    away += abs(log2(problem.batch * problem.heads / nearest.heads))
    if away and not drifts:
        return None
    return hypot(nearest.spread, max(drifts, default=0.0) * away)


def distance(curve: Curve, problem: Problem) -> tuple[float, ...]:
    """How far the points of a curve are from a problem, what matters most first."""
    return (
        bool(curve.block_mask),
        curve.dtype != problem.dtype and ITEMSIZE[curve.dtype] != problem.itemsize,
        abs(log2(curve.head_dim / problem.head_dim)),
        (curve.window is not None) != (problem.window is not None),
        curve.causal != problem.causal,
        curve.dtype != problem.dtype,
        abs(log2(curve.heads / problem.heads)),
    )


def _differences(curve: Curve, problem: Problem) -> tuple[str, ...]:
    asked = mask_words(causal=problem.causal, window=problem.window, blocks="") or "no mask"
    pairs = (
        (curve.dtype, problem.dtype),
        (f"d {curve.head_dim}", f"d {problem.head_dim}"),
        (curve.mask, asked),
    )
    return tuple(f"{has} in place of {wanted}" for has, wanted in pairs if has != wanted)
