"""The lines of the sources that tests on a GPU put a sleep at: each stands once in what is compiled."""

import pytest

from flashscope.kernels.cuda.clocked.builds import clocked_build
from flashscope.kernels.cuda.compile import read_source
from flashscope.kernels.workload.problem import Passes, Problem
from flashscope.kernels.workload.timeline import ClockedKernel
from tests.kernels.cuda.builds import ON_HOPPER
from tests.kernels.cuda.clocked import test_recorded, test_recorded_backward

FORWARD = [*test_recorded.SLEEPS.items()]
BACKWARD = [(kernel, line) for (kernel, _stage), line in test_recorded_backward.SLEEPS.items()]


@pytest.mark.parametrize(
    ("passes", "kernel", "line"),
    [
        *(("forward", kernel, line) for kernel, line in FORWARD),
        *(("backward", kernel, line) for kernel, line in BACKWARD),
    ],
)
def test_a_line_that_a_sleep_is_put_at_stands_once_in_the_source(
    passes: Passes, kernel: ClockedKernel, line: str
) -> None:
    problem = Problem(seqlen_q=2048, seqlen_k=2048, heads=16, head_dim=64, dtype="float16", passes=passes)
    source = read_source(clocked_build(kernel, problem, ON_HOPPER).program)
    assert source.count(line) == 1
