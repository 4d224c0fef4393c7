"""Backward passes with their recording as the compiler makes them: nothing of it in the timed builds."""

import re
from itertools import product
from typing import Any

import pytest

from flashscope.kernels.cuda.compile import read_source
from flashscope.kernels.cuda.design.compiling import SERIALISED
from flashscope.kernels.cuda.program import Program, Struct
from flashscope.kernels.cuda.traced.backward import MAIN_LAUNCHES, backward_cut, timed_backward
from flashscope.kernels.workload.backward_trace import BACKWARD_KERNELS, BackwardKernel, BackwardTraceRequest
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Dtype, Problem
from tests.kernels.cuda.builds import ON_HOPPER
from tests.kernels.cuda.clocked.test_builds import HOPPER
from tests.kernels.cuda.emulator.build import tokens
from tests.kernels.cuda.emulator.running import needs_compiler
from tests.kernels.cuda.nvrtc_apart import compile_apart
from tests.matrix import chosen

MARK = re.compile(r" *\bTRACED\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\n?| *\bTRACE_\w+")
LEAST_MARKS = {"flash1": 3, "flash2": 9, "flash3": 9}
BUILDS = [*product(BACKWARD_KERNELS, (64, 128, 256), (False, True), (False, True))]


def cut(kernel: BackwardKernel, head_dim: int, *, dtype: Dtype = "float16", **options: Any) -> Program:
    problem = Problem(
        seqlen_q=4096, seqlen_k=4096, heads=16, head_dim=head_dim, dtype=dtype, passes="backward", **options
    )
    request = BackwardTraceRequest(problem=problem, backend="cuda", kernel=kernel)
    return backward_cut(request, ON_HOPPER).program


@needs_compiler
@chosen("kernel,head_dim,causal,deterministic", BUILDS, BUILDS[::12])
def test_the_timed_build_is_its_source_without_marks(
    kernel: BackwardKernel, head_dim: int, causal: bool, deterministic: bool
) -> None:
    program = cut(kernel, head_dim, causal=causal, deterministic=deterministic)
    source = read_source(program)
    bare, marks = MARK.subn("", source)
    assert marks >= LEAST_MARKS[kernel]
    assert "TRACE" not in bare
    assert tokens(program, HOPPER, source) == tokens(program, HOPPER, bare)


@chosen("kernel,head_dim,causal,deterministic", BUILDS, [BUILDS[0]])
def test_a_build_with_its_recording_compiles_and_products_stay_asynchronous(
    kernel: BackwardKernel, head_dim: int, causal: bool, deterministic: bool
) -> None:
    program = cut(kernel, head_dim, causal=causal, deterministic=deterministic)
    cubin, log = compile_apart(timed_backward(program, 0), ON_HOPPER)
    assert cubin.startswith(b"\x7fELF")
    assert SERIALISED.search(log) is None, log


@pytest.mark.parametrize("kernel", BACKWARD_KERNELS)
def test_one_launch_records_and_the_grids_are_those_of_the_timed_build(kernel: BackwardKernel) -> None:
    program = cut(kernel, 64, causal=True)
    watched = timed_backward(program, 3)
    assert watched.defines == {**program.defines, "TRACE": 1}
    assert [one.grid for one in watched.launches] == [one.grid for one in program.launches]
    more = [
        len(b.arguments) - len(a.arguments) for a, b in zip(program.launches, watched.launches, strict=True)
    ]
    assert [one.entry in MAIN_LAUNCHES for one in program.launches] == [bool(one) for one in more]
    assert sum(more) == 1


def test_a_launch_that_computes_dq_alone_records_too() -> None:
    watched = timed_backward(cut("flash2", 64, causal=True, deterministic=True), 3)
    recording = [one.entry for one in watched.launches if isinstance(one.arguments[-1], Struct)]
    assert recording == ["flash2_backward_keys", "flash2_backward_queries"]


def test_what_has_no_build_with_a_recording_is_refused_with_the_reason() -> None:
    with pytest.raises(InputError, match="in 16 bits"):
        cut("flash2", 64, dtype="float32")
    with pytest.raises(UnsupportedError, match="under a block mask; that of flash2 is"):
        cut("flash3", 64, block_mask=BlockMask.of([[True] * 32] * 32, 128, 128))
