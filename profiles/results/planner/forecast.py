"""How long an attention that was not measured would take, told from points that were.

A point gives a rate: work over runtime. Work grows with N² (times batch, heads and what the masks keep), as
floating-point operations where the kernel is tiled and as bytes of S and P where it is standard, which waits
for memory. A forecast is work over the rate of the measured point nearest in N. Its error has two parts: the
point's quartiles, and how far the rate drifts a doubling of N around it, times the doublings between: of N,
and of batch x heads. Where it comes to more than half of the forecast there is none. Points are single runs;
back to back, power may slow a GPU down by more than that.
"""

from collections.abc import Sequence
from math import hypot, inf, log, log2
from typing import NamedTuple

import msgspec

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.workload.problem import ITEMSIZE, Problem
from flashscope.profiles.plan.problem_words import layout_words, pass_words, scoring_words
from flashscope.profiles.results.model.curves import Curve, by_curve, counted_noun, mask_words
from flashscope.profiles.results.model.rows import PointRow

MOST_ERROR = 0.5  # of a forecast: beyond it says nothing
TOO_FAR = "the nearest point of {}, at N = {}, is too far: the error would be {:.0f}%"
NEAR = 2.0  # doublings around a point within which others tell how its rate drifts


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """A runtime that was not measured.

    Attributes:
        ms: Of one layer's attention.
        low: The lower end of the error, None where one point says nothing of it.
        high: The upper end.
        seqlen: N of the measured point that it is told from.
        measured: What that point shares with the others, as `d 128, causal`.
        differs: In what its problem differs besides N, which the error does not cover; of more heads and
            sequences it holds but how far the rate drifts.
            A kernel that takes windows skips what they drop, which its rate without one may not tell.
    """

    ms: float
    low: float | None
    high: float | None
    seqlen: int
    measured: str
    differs: tuple[str, ...] = ()


class _Known(NamedTuple):
    problem: Problem
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
    alike = [row for row in alike if scoring_words(row.problem) == scoring_words(problem)]
    if not alike:
        return f"{kernel} was measured with {'other' if scoring_words(problem) else 'no plain'} scores"
    curves = by_curve(alike)
    curve = min(curves, key=lambda one: distance(one, problem))
    known = [_known(row) for row in curves[curve]]
    nearest = min(known, key=lambda one: abs(log2(problem.seqlen / one.seqlen)))
    ms = _work(kernel, problem) / nearest.rate
    error = _error(known, nearest, problem)
    if error is not None and error > MOST_ERROR:
        return TOO_FAR.format(kernel, nearest.seqlen, 100 * error)
    return Forecast(
        ms=ms,
        low=None if error is None else ms / (1 + error),
        high=None if error is None else ms * (1 + error),
        seqlen=nearest.seqlen,
        measured=curve.label,
        differs=_differences(nearest.problem, problem, curve),
    )


def _run(problem: Problem) -> tuple[object, ...]:
    """What is run, of which other points say nothing: the pass, how many query rows, lengths and pages."""
    return pass_words(problem), problem.queries, layout_words(problem)


def _is_timed(row: PointRow) -> bool:
    """Whether its rate can be reckoned with: a file may hold any runtime, and a mask keep no pair."""
    return row.times is not None and 0 < row.times.median < inf and _work(row.kernel, row.problem) > 0


def _known(row: PointRow) -> _Known:
    assert row.times is not None  # noqa: S101 - the caller chose rows that have them
    times, problem = row.times, row.problem
    return _Known(
        problem=problem,
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


def _sharing(problem: Problem) -> int:
    """How many query heads share one of K and V."""
    return problem.heads // problem.key_heads


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
        (curve.heads // curve.kv_heads) != _sharing(problem),
    )


def _differences(measured: Problem, problem: Problem, curve: Curve) -> tuple[str, ...]:
    asked = mask_words(causal=problem.causal, window=problem.window, blocks="") or "no mask"
    here, there = _sharing(measured), _sharing(problem)
    pairs = (
        (measured.dtype, problem.dtype),
        (f"d {measured.head_dim}", f"d {problem.head_dim}"),
        (f"batch {measured.batch}", f"batch {problem.batch}"),
        (curve.mask, asked),
    )
    told = [f"{has} in place of {wanted}" for has, wanted in pairs if has != wanted]
    if measured.heads != problem.heads:
        told.append(f"{measured.heads} in place of {counted_noun(problem.heads, 'head')}")
    if here != there:
        told.append(f"{here} in place of {counted_noun(there, 'query head')} a K/V head")
    return tuple(told)
