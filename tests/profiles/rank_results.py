"""Results of ranks to keep and to show."""

from typing import Any

from msgspec.structs import replace

from flashscope.kernels.context_parallel.schemes import Scheme
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.ranks import (
    PassMeasured,
    RankMeasured,
    RanksEnded,
    RanksError,
    RanksResult,
    RanksToMeasure,
    StepTime,
)

PROBLEM = Problem(seqlen_q=1 << 16, seqlen_k=1 << 16, heads=16, head_dim=128, dtype="bfloat16", causal=True)
STEPS = (
    StepTime(lane="product", step=0, begin_ms=0.0, end_ms=55.0),
    StepTime(lane="transfer", step=0, begin_ms=0.1, end_ms=1.1),
)


def measured(**other: Any) -> PassMeasured:
    """Two ranks that take 60 ms each for what one GPU takes 110 ms for; a transfer of 1 ms, hidden."""
    of_a_rank = {"sent_bytes": 300_000_000, "held_bytes": 1 << 30, "product_ms": 55.0, "transfer_ms": 1.0}
    return PassMeasured(
        **{
            "passes": "forward",
            "backend": "cuda",
            "devices": (0, 1),
            "ms": (60.0, 59.0, 61.0),
            "alone_ms": (110.0, 111.0, 109.0),
            "alone_missing": "",
            "flops": PROBLEM.flops,
            "limit": 1.0,
            "ranks": tuple(
                RankMeasured(rank=rank, exposed_ms=0.0, steps=STEPS, **of_a_rank)  # type: ignore[arg-type]
                for rank in range(2)
            ),
            "errors": (RanksError(output="O", error=0.001, bound=0.004),),
            "passed": True,
            **other,
        }
    )


def on_four(**other: Any) -> PassMeasured:
    """The same on four ranks, of which each has half as much to do."""
    ranks = tuple(replace(measured().ranks[0], rank=rank) for rank in range(4))
    return measured(**{"devices": (0, 1, 2, 3), "ms": (32.0,), "ranks": ranks} | other)


def result(*passes: PassMeasured, scheme: Scheme = "zigzag", **problem: Any) -> RanksResult:
    """What came of a request: these passes; left out: one."""
    asked = RanksToMeasure(
        scheme=scheme, problem=replace(PROBLEM, **problem), backend=passes[0].backend if passes else "cuda"
    )
    ended = RanksEnded(device="NVIDIA H100", kernel="flash3", timer="CUDA events")
    return RanksResult(asked, passes or (measured(),), ended)
