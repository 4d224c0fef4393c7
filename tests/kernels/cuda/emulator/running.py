"""Run a kernel's pass in the emulator: what it writes poisoned, compared with the oracle."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from msgspec import structs

from flashscope.kernels.catalogue.buffers import Buffer
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cuda.program import SHARED_MEMORY_LIMITS, Program, ProgramOf, Target
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.oracle.reference import Scoring, attention_reference
from flashscope.kernels.oracle.verdict import Verdict
from flashscope.kernels.oracle.verify import storage_dtype, verify
from flashscope.kernels.oracle.verify_gradients import gradient_criterion
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients, Inputs, Saved
from tests.kernels.cuda.emulator.build import Edits, EmulatorError, compiler
from tests.kernels.cuda.emulator.launch import Memory, guarded_memory, run

needs_compiler = pytest.mark.skipif(compiler() is None, reason="g++ compiles the sources for the emulator")
MULTIPROCESSORS = 2  # few, so that blocks that stay draw several tiles


class Setting(NamedTuple):
    """How the emulator runs a program.

    Attributes:
        seed: Of the order of threads and copies; even ones put guards behind the arrays, odd ones before.
        arch: What the GPU is.
        grid: Blocks of the main launch, in place of the program's, if they draw tiles: fewer draw more.
        residents: Blocks side by side.
        edits: Of the preprocessed source.
    """

    seed: int = 0
    arch: int = 900
    grid: int | None = None
    residents: int = 2
    edits: Edits = ()

    def run(self, program: Program, buffers: dict[str, Any]) -> None:
        """Run all launches; the main one is that which the source is named after."""
        main = program.source.removesuffix(".cu")
        stages = (
            replace(one, grid=self.grid or one.grid) if one.entry == main else one for one in program.launches
        )
        run(
            replace(program, launches=tuple(stages)),
            buffers,
            seed=self.seed,
            arch=self.arch,
            residents=self.residents,
            edits=self.edits,
        )


USUAL = Setting()


def target(arch: int) -> Target:
    """A GPU of this `__CUDA_ARCH__`."""
    capability = divmod(arch // 10, 10)
    return Target(capability, SHARED_MEMORY_LIMITS[capability], MULTIPROCESSORS)


def drawn(problem: Problem) -> Inputs:
    """Q, K and V in the problem's dtype, laid out as it says."""
    made = make_inputs(structs.replace(problem, dtype="float32"), "cpu")
    return made._replace(
        **{key: getattr(made, key).astype(storage_dtype(problem.dtype)) for key in ("q", "k", "v")}
    )


def given(problem: Problem) -> Saved:
    """Inputs, O and LSE as a right forward pass leaves them, and dO."""
    inputs, dtype = drawn(problem), storage_dtype(problem.dtype)
    output, lse = attention_reference(
        *inputs.qkv,
        causal=problem.causal,
        window=problem.window,
        block_mask=problem.block_mask,
        scale=problem.softmax_scale,
        scoring=Scoring.of(problem, inputs),
    )
    grad_output = np.random.default_rng(problem.seed + 1).standard_normal(problem.o_shape, np.float32)
    return Saved(*inputs.qkv, output.astype(dtype), lse.astype(np.float32), grad_output.astype(dtype))


def backward(
    kernel: str | KernelSpec,
    problem: Problem,
    program_of: ProgramOf,
    setting: Setting = USUAL,
) -> Verdict:
    """One backward pass against the oracle."""
    saved = given(problem)
    found = gradients_of(kernel, problem, saved, program_of, setting)
    return gradient_criterion(problem, drawn(problem), saved.grad_output).judge(found)


def gradients_of(
    kernel: str | KernelSpec,
    problem: Problem,
    saved: Saved,
    program_of: ProgramOf,
    setting: Setting = USUAL,
) -> Gradients:
    """What one backward pass leaves.

    Args:
        kernel: The kernel, whose spec declares the workspace.
        problem: What is computed.
        saved: What it is computed from.
        program_of: Makes the program.
        setting: How it is run.

    Raises:
        EmulatorError: What went wrong before there was an answer.
    """
    program = program_of(problem, target(setting.arch))
    spec = (find_kernel(kernel) if isinstance(kernel, str) else kernel).backward
    assert spec is not None
    declared = spec.workspace(problem, "cuda")
    with guarded_memory(at_end=setting.seed % 2 == 0) as memory:
        buffers = {key: memory.copy(key, array) for key, array in saved._asdict().items()}
        for key, array in zip(Gradients._fields, saved.inputs.qkv, strict=True):
            buffers[key] = memory.empty(key, array.shape, array.dtype)
        buffers |= workspace(memory, declared, program)
        setting.run(program, buffers)
        return Gradients(*(buffers[key].copy() for key in Gradients._fields))


def forward(
    kernel: str | KernelSpec,
    problem: Problem,
    program_of: ProgramOf,
    setting: Setting = USUAL,
    *,
    inputs: Inputs | None = None,
) -> Verdict:
    """One forward pass against the oracle; inputs drawn unless given."""
    inputs = drawn(problem) if inputs is None else inputs
    spec = find_kernel(kernel) if isinstance(kernel, str) else kernel
    output, lse = answer(spec, problem, program_of, setting, inputs)
    rounding = spec.rounding and spec.rounding(problem)
    return verify(problem, inputs, output, lse, rounding=rounding)


def answer(
    spec: KernelSpec, problem: Problem, program_of: ProgramOf, setting: Setting, inputs: Inputs
) -> tuple[npt.NDArray[Any], npt.NDArray[np.float32]]:
    """O and LSE as one forward pass leaves them."""
    program = program_of(problem, target(setting.arch))
    with guarded_memory(at_end=setting.seed % 2 == 0) as memory:
        buffers = {key: memory.copy(key, array) for key, array in inputs.arrays.items()}
        buffers["o"] = memory.empty("o", problem.o_shape, storage_dtype(problem.dtype))
        buffers["lse"] = memory.empty("lse", problem.q_shape[:3], np.float32)
        buffers |= workspace(memory, spec.workspace(problem, "cuda"), program)
        setting.run(program, buffers)
        return buffers["o"].copy(), buffers["lse"].copy()


def workspace(memory: Memory, buffers: tuple[Buffer, ...], program: Program) -> dict[str, Any]:
    """The declared buffers, the program's tables in place."""
    made = {one.name: memory.empty(one.name, one.shape, storage_dtype(one.dtype)) for one in buffers}
    for name, table in program.tables.items():
        made[name][...] = table
    return made


def fails(run: Callable[[], Verdict]) -> bool:
    """Whether a run ends early or with a wrong answer."""
    try:
        return not run().passed
    except EmulatorError as error:
        if "g++" in str(error) or "not once" in str(error):  # no fault of the kernel
            raise
        return True
