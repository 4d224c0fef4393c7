"""Run one kernel of the CPU backend on given inputs."""

import numpy as np
import pytest

from flashscope.kernels.catalogue.ladder import LADDER
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import Launch, prepare
from flashscope.kernels.oracle.verdict import Verdict
from flashscope.kernels.oracle.verify import verify
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

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
