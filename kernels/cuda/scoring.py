"""What is done to scores besides scale and masks as the kernels take it: defines, argument and table.

Those of scoring.cuh; a problem without any has none, so that its build stays as it is.
"""

from typing import Any

import numpy as np
from msgspec.structs import replace

from flashscope.kernels.catalogue.workspace import SLOPES
from flashscope.kernels.cuda.program import Struct
from flashscope.kernels.workload.problem import SCORING, Problem
from flashscope.kernels.workload.scoring import alibi_slopes

SINKS = "sinks"  # of the inputs


def scoring_defines(problem: Problem) -> dict[str, int]:
    """A define of each that the problem has."""
    return {feature.upper(): 1 for feature in sorted(problem.features & SCORING)}


def scoring_arguments(problem: Problem) -> tuple[Any, ...]:
    """A struct of what they take; nothing where there is none."""
    fields = scoring_fields(problem)
    return (Struct(fields),) if fields else ()


def scoring_fields(problem: Problem) -> tuple[Any, ...]:
    """What is in that struct."""
    softcap = (
        () if problem.softcap is None else (np.float32(problem.softcap), np.float32(1 / problem.softcap))
    )
    return (*softcap, *((SINKS,) if problem.sinks else ()), *((SLOPES,) if problem.alibi else ()))


def slope_table(problem: Problem) -> dict[str, Any]:
    """ALiBi's slope of each head of all sequences, where there are any."""
    if not problem.alibi:
        return {}
    return {SLOPES: np.tile(np.array(alibi_slopes(problem.heads), np.float32), problem.batch)}


def without_sinks(problem: Problem) -> Problem:
    """The problem as a backward pass takes it, which has all that a sink does in LSE."""
    return replace(problem, sinks=False)
