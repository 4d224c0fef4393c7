"""Run one kernel of the CPU backend on given inputs."""

import numpy as np
import pytest

from kernels.ladder import LADDER
from kernels.launch import Inputs, Launch, prepare
from kernels.problem import Problem
from kernels.spec import KernelSpec
from kernels.verdict import Verdict
from kernels.verify import verify

CPU_KERNELS = tuple(spec for spec in LADDER if "cpu" in spec.implementation)
each_kernel = pytest.mark.parametrize("spec", CPU_KERNELS, ids=lambda spec: spec.name)


def run(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Prepare, poison the outputs with NaN, run; floating-point accidents other than underflow raise."""
    launch = prepare(spec, problem, inputs, "cpu")
    launch.output.fill(np.nan)
    launch.lse.fill(np.nan)
    with np.errstate(all="raise", under="ignore"):
        launch.run()
    return launch


def judge(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Verdict:
    """Run and compare with the oracle."""
    launch = run(spec, problem, inputs)
    assert launch.output.dtype == launch.lse.dtype == np.float32
    return verify(problem, inputs, launch.output, launch.lse)
