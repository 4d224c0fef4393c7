"""The CUDA kernels that misbehave on purpose; imported by a worker only."""

from pathlib import Path

import cupy

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cuda import flash2
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.faults import FAULTS, FaultyLaunch, in_turns, spoilt

SOURCE = Path(__file__).with_name("faults.cu")


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    real = flash2.prepare(find_kernel("flash2"), problem, inputs)
    if spec.name in FAULTS:
        return spoilt(spec.name, real)
    name = spec.name.removesuffix("-in-turns")
    kernel = cupy.RawKernel(SOURCE.read_text(encoding="utf-8"), name.replace("-", "_"))

    def fault(launch: FaultyLaunch) -> None:
        kernel((1,), (1,), (launch.output,))

    return FaultyLaunch(real, fault if name == spec.name else in_turns(fault))
