"""Backward passes with clocks between their stages, run in the emulator."""

from typing import Any, NamedTuple

import numpy as np

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda.clocked.build import ClockedBuild
from flashscope.kernels.cuda.clocked.builds import clocked_build
from flashscope.kernels.cuda.clocks import WarpBars
from flashscope.kernels.cuda.program import Program
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients
from flashscope.kernels.workload.timeline import ClockedKernel
from tests.kernels.cuda.emulator.build import Edits
from tests.kernels.cuda.emulator.launch import guarded_memory
from tests.kernels.cuda.emulator.running import Setting, given, target, workspace

Recorded = dict[str, tuple[tuple[int, ...], Any]]
HOPPER, SMS = 900, 4


class Run(NamedTuple):
    """A build and what its buffers hold after a run."""

    build: ClockedBuild
    found: dict[str, Any]

    @property
    def bars(self) -> WarpBars:
        return self.build.bars(self.found, SMS)


def held(
    kernel: ClockedKernel,
    problem: Problem,
    program: Program,
    recorded: Recorded | None = None,
    edits: Edits = (),
) -> dict[str, Any]:
    """What the buffers hold after a run of a program of a backward pass."""
    backward = find_kernel(kernel).backward
    assert backward is not None
    with guarded_memory() as memory:
        saved = given(problem)
        buffers = {key: memory.copy(key, array) for key, array in saved._asdict().items()}
        for key, array in zip(Gradients._fields, saved.inputs.qkv, strict=True):
            buffers[key] = memory.empty(key, array.shape, array.dtype)
        buffers |= workspace(memory, backward.workspace(problem, "cuda"), program)
        for name, (sizes, dtype) in (recorded or {}).items():
            buffers[name] = memory.copy(name, np.zeros(sizes, dtype))
        Setting(seed=1, arch=HOPPER, edits=edits).run(program, buffers)
        return {name: array.copy() for name, array in buffers.items()}


def watched_run(kernel: ClockedKernel, problem: Problem, edits: Edits) -> Run:
    """A run of the build with clocks."""
    build = clocked_build(kernel, problem, target(HOPPER))
    return Run(build, held(kernel, problem, build.program, build.recorded, edits))


def assert_same_gradients(found: dict[str, Any], plain: dict[str, Any], problem: Problem) -> None:
    """The bits of the timed kernel's gradients; of sums that are added in any order almost them."""
    for name in ("dk", "dv", *(("dq",) if problem.deterministic else ())):
        assert found[name].tobytes() == plain[name].tobytes(), name
    np.testing.assert_allclose(found["dq"], plain["dq"], atol=2e-2)
