"""The CUDA kernels that misbehave on purpose; imported by a worker only."""

from pathlib import Path

import cupy

from kernels.cuda import flash2
from kernels.launch import Inputs, Launch
from kernels.problem import Problem
from kernels.registry import find_kernel
from kernels.spec import KernelSpec
from tests.faults import FAULTS, FaultyLaunch, in_turns

SOURCE = Path(__file__).with_name("faults.cu")


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    real = flash2.prepare(find_kernel("flash2"), problem, inputs)
    if spec.name in FAULTS:
        return FaultyLaunch(real, FAULTS[spec.name])
    name = spec.name.removesuffix("-in-turns")
    kernel = cupy.RawKernel(SOURCE.read_text(encoding="utf-8"), name.replace("-", "_"))

    def fault(launch: FaultyLaunch) -> None:
        kernel((1,), (1,), (launch.output,))

    return FaultyLaunch(real, fault if name == spec.name else in_turns(fault))
