"""What dropping half the blocks of a block mask saves: pytest -m benchmark -s dropped_blocks_bench.py.

Half the blocks should take little more than half the time; the softmax of the standard kernels gains less, as
it keeps its threads a row. Prints medians in turns; gates on nothing. A GPU is needed.
"""

from collections.abc import Callable
from statistics import median
from typing import Any

import pytest

from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cuda.running import each_sparse_kernel, judged, prepared

SAMPLES = 15

pytestmark = [pytest.mark.benchmark, pytest.mark.gpu]


@each_sparse_kernel
def test_half_the_blocks(name: str) -> None:
    import cupy as cp  # noqa: PLC0415 - absent without a GPU

    runs = [checked_run(name, sparse_problem(share)) for share in (1.0, 0.5)]
    times = [[milliseconds(cp, run) for run in runs] for _ in range(SAMPLES)]
    whole, half = (median(of_one) for of_one in zip(*times, strict=True))
    print(f"{name:<16} all {whole:7.3f} ms, half {half:7.3f} ms: {half / whole:.3f}")  # noqa: T201 - the table


def sparse_problem(kept_share: float) -> Problem:
    mask = BlockMask.random(8192, 8192, block_q=128, block_k=64, kept_share=kept_share)
    return Problem(heads=16, seqlen_q=8192, seqlen_k=8192, head_dim=128, dtype="bfloat16", block_mask=mask)


def checked_run(name: str, problem: Problem) -> Callable[[], None]:
    """A launch of the kernel that has agreed with the oracle."""
    inputs = make_inputs(problem, "cuda")
    launch = prepared(name, problem, inputs)
    launch.run()
    assert judged(name, problem, inputs, launch.output, launch.lse, max_rows=16).passed
    return launch.run


def milliseconds(cp: Any, run: Callable[[], None]) -> float:
    """What one run takes on the GPU."""
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    run()
    stop.record()
    stop.synchronize()
    return float(cp.cuda.get_elapsed_time(start, stop))
