"""Run one CUDA kernel on a GPU: bound to its inputs, its outputs poisoned, compared with the oracle.

A barrier of flash3 that never completes would hang the GPU, so its steps run in the build that traps instead
(MAX_POLLS), with the same code between its waits; test_flash3.py repeats the timed build.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from flashscope.kernels.catalogue.flash3_share import Share
from flashscope.kernels.catalogue.ladder import FLASH3, FLASH3_FP8, LADDER, STEPS
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.catalogue.workspace import SLOPES, flash3_shared
from flashscope.kernels.cuda import flash3, flash3_backward, flash3_fp8
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.cuda.launch import bind
from flashscope.kernels.cuda.program import Program, Target
from flashscope.kernels.launching.launch import Launch, make_inputs, prepare
from flashscope.kernels.oracle.verdict import Verdict
from flashscope.kernels.oracle.verify import verify
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.cases import Case
from tests.kernels.report import note

ON_HOPPER = [spec.name for spec in (*STEPS, FLASH3, FLASH3_FP8)]
CUDA_KERNELS = tuple(spec for spec in LADDER if "cuda" in spec.implementation)
TAKE_BLOCK_MASKS = [spec for spec in CUDA_KERNELS if "block_mask" in spec.features["cuda"]]
E4M3_NAN = 0x7F
MAX_POLLS = 20_000_000  # seconds; what a wait takes is microseconds


def by_name(specs: Iterable[KernelSpec]) -> pytest.MarkDecorator:
    """A test for each of these kernels."""
    return pytest.mark.parametrize("name", [spec.name for spec in specs])


def by_name_and_dtype(specs: Iterable[KernelSpec]) -> pytest.MarkDecorator:
    """A test for each of these kernels in each dtype it takes."""
    pairs = [(spec.name, dtype) for spec in specs for dtype in spec.dtypes["cuda"]]
    return pytest.mark.parametrize(("name", "dtype"), pairs)


each_kernel, each_sparse_kernel = by_name(CUDA_KERNELS), by_name(TAKE_BLOCK_MASKS)
each_kernel_and_dtype = by_name_and_dtype(CUDA_KERNELS)
each_sparse_kernel_and_dtype = by_name_and_dtype(TAKE_BLOCK_MASKS)
both_masks = pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])


def head_dims(name: str) -> tuple[int, ...]:
    """One head dim of each way in which a kernel is cut."""
    return (64, 128, 256) if name in ON_HOPPER else (64, 128)


def skip_unsupported(name: str, problem: Problem) -> None:
    """End the test where this GPU cannot run the kernel."""
    reason = find_kernel(name).unsupported(problem, describe())
    if reason is not None:
        pytest.skip(reason)


def prepared(name: str, problem: Problem, inputs: Inputs) -> Launch:
    """The kernel bound to the inputs, its outputs and workspace poisoned; skips what this GPU cannot run."""
    skip_unsupported(name, problem)
    spec = find_kernel(name)
    if name in ON_HOPPER:
        launch: Launch = bind(spec, problem, inputs, partial(guarded, step=name))
    else:
        launch = prepare(spec, problem, inputs, "cuda")
    poison(launch)
    return launch


def guarded(problem: Problem, target: Target, step: str) -> Program:
    """The program of flash3-fp8, or of a step to flash3, that traps instead of waiting for ever."""
    if step == FLASH3_FP8.name:
        program = flash3_fp8.program(problem, target)
    else:
        program = flash3.program(problem, target, step)
    return trapping(program)


def guarded_backward(problem: Problem, target: Target) -> Program:
    """The same of flash3's backward pass."""
    return trapping(flash3_backward.program(problem, target))


def trapping(program: Program) -> Program:
    """The program that traps instead of waiting for ever."""
    return replace(program, defines={**program.defines, "MAX_POLLS": MAX_POLLS})


def shared(problem: Problem, inputs: Inputs, chosen: Share) -> Any:
    """flash3 bound to the inputs with a share of the caller's, its outputs and workspace poisoned."""
    spec = replace(FLASH3, workspace=lambda problem, _: flash3_shared(problem, chosen))
    launch = bind(spec, problem, inputs, partial(_guarded_share, chosen=chosen))
    poison(launch)
    return launch


def _guarded_share(problem: Problem, target: Target, chosen: Share) -> Program:
    return trapping(flash3.program(problem, target, "flash3", chosen))


def taken(name: str, problems: Iterable[Problem]) -> list[Problem]:
    """Those that this GPU runs the kernel on; of `fused` those whose rows fit."""
    return [one for one in problems if find_kernel(name).unsupported(one, describe()) is None]


def poison(launch: Any) -> None:
    """Fill with NaN what a run is to write."""
    written = {name: array for name, array in launch.workspace.items() if name != SLOPES}
    for array in (launch.output, launch.lse, *written.values()):
        if array.dtype.kind == "i":
            continue  # a table is read, not written, and a run leaves the tile counter at zero
        array.fill(E4M3_NAN if array.dtype == np.uint8 else float("nan"))


def run(name: str, problem: Problem, inputs: Inputs | None = None) -> Verdict:
    """One run against the oracle, on inputs drawn for the problem unless they are given."""
    inputs = make_inputs(problem, "cuda") if inputs is None else inputs
    launch = prepared(name, problem, inputs)
    launch.run()
    return judged(name, problem, inputs, launch.output, launch.lse)


def judged(
    name: str, problem: Problem, inputs: Inputs, output: Any, lse: Any, *, max_rows: int = 256
) -> Verdict:
    """What a kernel returned against the oracle, by the kernel's own criterion; noted for the report."""
    rounding = find_kernel(name).rounding
    verdict = verify(problem, inputs, output, lse, rounding=rounding and rounding(problem), max_rows=max_rows)
    return note(name, verdict)


def differing_bits(cp: Any, launch: Any, runs: int) -> int:
    """How many bytes of O and LSE ever differ from the first run's."""
    launch.run()
    first, first_lse = launch.output.copy(), launch.lse.copy()
    differing = cp.zeros((), cp.int64)
    for _ in range(runs):
        poison(launch)
        launch.run()
        differing += (launch.output.view(cp.uint8) != first.view(cp.uint8)).sum()
        differing += (launch.lse.view(cp.uint8) != first_lse.view(cp.uint8)).sum()
    return int(differing)


def widened(case: Case, head_dim: int) -> Case:
    """The same scores with wider heads: the columns beyond are zero in Q, K and V."""
    room = ((0, 0), (0, 0), (0, 0), (0, head_dim - case.problem.head_dim))
    return Case(
        structs.replace(case.problem, head_dim=head_dim, scale=case.problem.softmax_scale),
        Inputs(*(np.pad(array, room) for array in case.inputs.qkv)),
    )
