"""The least time that a device needs for a point: nobody multiplies or reads faster than it was seen to.

The roofline's argument (Williams, Waterman, Patterson 2009) turned round: a run that ends before its products
could, at the fastest rate of products that was measured with it, or before its inputs could be read from
memory, did not compute what it was asked. Exponentials are no such limit, for a kernel may compute them on
other units. Where the clocks of both are known a rate of products is brought to the point's highest.

What was measured is not the last word on a device: of the points of the bundled recordings the fastest is 3%
ahead of it (a copy writes as well, and cuBLAS does not reach the peak). So as much again is left to every
point, and half where a clock was not read and may have been any.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.workload.problem import PRODUCTS as PRODUCTS_OF
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.results.statistics.stats import quartiles_of
from flashscope.profiles.wire.ceilings import COPY, Ceiling, Ceilings
from flashscope.profiles.wire.measurement import Measurement

PRODUCTS = {spec.name: spec.products for spec in KERNELS}
KEEPING = frozenset(spec.name for spec in KERNELS if spec.backward and not spec.backward.recomputes)
"""Kernels whose backward pass takes P as the forward pass left it."""
ALLOWED = 1.1  # times the rate that was measured
ALLOWED_AT_ANY_CLOCK = 1.5  # the same where the clock of the point or of the rate is not known
TOO_FAST = "it took {}, and {} alone would take {} even beyond the rate measured here"


class Limit(NamedTuple):
    """What one load takes at the least.

    Attributes:
        ms: How long, what is allowed beyond the measured rate taken off.
        load: Which, in words.
    """

    ms: float
    load: str


def product_flops(kernel: str, problem: Problem) -> float:
    """Floating-point operations of a kernel's matrix products: one product less where it keeps P."""
    left_out = PRODUCTS_OF[problem.passes] - products_of(kernel, problem)  # S again, of Q's head dim
    return problem.flops - 2.0 * left_out * problem.head_dim * problem.all_kept_pairs


def products_of(kernel: str, problem: Problem) -> int:
    """How many products each kept pair takes part in."""
    return PRODUCTS_OF[problem.passes] - (problem.runs_backward and kernel in KEEPING)


def why_impossible(
    kernel: str, problem: Problem, backend: Backend, measurement: Measurement, ceilings: Ceilings | None
) -> str:
    """Why nobody can compute this in the time that it took, as a clause; empty where somebody can.

    A quarter of the samples may be as slow as they like; those of a point that is impossible are too fast.
    """
    limit = None if ceilings is None else limit_of(kernel, problem, backend, measurement, ceilings)
    accepted = [sample.ms for sample in measurement.samples if sample.rejected is None]
    if limit is None or not accepted or min(accepted) >= limit.ms:  # as almost every point
        return ""
    times = quartiles_of(accepted)
    if times is None or not times.q3 < limit.ms < math.inf:
        return ""
    return TOO_FAST.format(f"{times.median:.3g} ms", limit.load, f"{limit.ms:.3g} ms")


def limit_of(
    kernel: str, problem: Problem, backend: Backend, measurement: Measurement, ceilings: Ceilings
) -> Limit | None:
    """What takes longest of what a point cannot do without; None where nothing was measured that tells."""
    read = (one.sm_clock_mhz for one in measurement.samples if one.rejected is None)
    clock = max((mhz for mhz in read if mhz is not None), default=None)
    limits = [*_of_products(kernel, problem, ceilings, clock)]
    if backend == "cuda" and measurement.cold:
        limits += _of_inputs(problem, ceilings)
    return max(limits, default=None)


def _of_products(kernel: str, problem: Problem, ceilings: Ceilings, clock: float | None) -> Iterator[Limit]:
    """By the fastest products that were measured in any dtype; those in 8 bits are twice as fast at most."""
    known = [one for key, one in ceilings.rates.items() if key.startswith("matmul_")]
    fastest = max((_highest(one) * _beyond(one, clock) for one in known), default=0.0)
    factor = 2.0 if PRODUCTS.get(kernel) == "float8" else 1.0
    yield from _limit(product_flops(kernel, problem) / 1e9, fastest * factor, "its products")


def _of_inputs(problem: Problem, ceilings: Ceilings) -> Iterator[Limit]:
    """By the rate of a copy, where all inputs must be read; the cache may hold as much of them as it can."""
    masked = problem.window is not None or problem.block_mask is not None
    copy = ceilings.rates.get(COPY)
    if copy is None or masked or not problem.even or problem.seqlen_q > problem.seqlen_k:
        return
    beyond_cache = problem.drawn_bytes - (ceilings.cache_bytes or 0)
    yield from _limit(beyond_cache / 1e6, _highest(copy) * ALLOWED, "reading its inputs")


def _limit(amount: float, rate: float, load: str) -> Sequence[Limit]:
    return [Limit(amount / rate, load)] if amount > 0 and rate > 0 else []


def _highest(ceiling: Ceiling) -> float:
    """The upper quartile of a rate; 0 where there is none, or it is no number."""
    figure = ceiling.figure
    value = figure.value if figure.high is None else figure.high
    return value if value is not None and 0 < value < math.inf else 0.0


def _beyond(ceiling: Ceiling, clock: float | None) -> float:
    """By how much products may be faster than they were measured: the clock's part and the allowance."""
    there = ceiling.sm_clock_mhz
    if clock is None or there is None or not (0 < there < math.inf and 0 < clock < math.inf):
        return ALLOWED_AT_ANY_CLOCK
    return ALLOWED * clock / there
