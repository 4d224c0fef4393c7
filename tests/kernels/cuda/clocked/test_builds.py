"""Builds with clocks as the compiler makes them: nothing of them in the timed builds, and the same work."""

import re
from collections import Counter
from itertools import product

import pytest
from msgspec.structs import replace

from flashscope.kernels.cuda import flash1_backward, flash2, flash2_backward, flash3, flash3_backward
from flashscope.kernels.cuda.clocked.builds import clocked_build
from flashscope.kernels.cuda.compile import read_source
from flashscope.kernels.cuda.program import Program
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.kernels.workload.timeline import ClockedKernel
from tests.kernels.cuda.builds import ON_HOPPER
from tests.kernels.cuda.compiled import check, cubin_of
from tests.kernels.cuda.cubin import disassembled
from tests.kernels.cuda.emulator.build import tokens
from tests.kernels.cuda.emulator.running import needs_compiler
from tests.kernels.cuda.machine_code import difference
from tests.kernels.cuda.nvrtc_apart import compile_apart
from tests.matrix import chosen

HOPPER = 900  # its __CUDA_ARCH__
MARK = re.compile(r"^ *CLOCK\w*(\(.*\))?\n|^#if CLOCKS\n[\s\S]*?^#endif\n", re.MULTILINE)
LEAST_MARKS = {"flash2": 8, "flash3": 20}
LEAST_BACKWARD_MARKS = {"flash1": 5, "flash2": 10, "flash3": 25}
OF_THE_WORK = ("HGMMA", "MUFU", "F2FP", "FMNMX", "UTMALDG")
CASES: list[tuple[int, int, int, bool, Dtype]] = [
    (seqlen, heads, head_dim, causal, dtype)
    for seqlen, heads in ((1024, 4), (2048, 16), (3000, 16), (4096, 16), (8192, 64))
    for head_dim in (64, 128)
    for causal in (False, True)
    for dtype in ("float16", "bfloat16")
]
FEW = [
    (1024, 4, 128, True, "float16"),
    (4096, 16, 64, True, "bfloat16"),
    (4096, 16, 128, False, "float16"),
    (8192, 64, 128, True, "bfloat16"),
]


def asked(seqlen: int, heads: int, head_dim: int, causal: bool, dtype: Dtype) -> Problem:
    return Problem(
        batch=1, heads=heads, seqlen_q=seqlen, seqlen_k=seqlen, head_dim=head_dim, causal=causal, dtype=dtype
    )


def timed(kernel: str, problem: Problem) -> Program:
    if kernel == "flash2":
        return flash2.program(problem, ON_HOPPER)
    return flash3.program(problem, ON_HOPPER)


@chosen("seqlen,heads,head_dim,causal,dtype", CASES, ())
def test_a_build_of_flash3_with_clocks_spills_no_register_and_products_stay_asynchronous(
    seqlen: int, heads: int, head_dim: int, causal: bool, dtype: Dtype
) -> None:
    check(
        clocked_build("flash3", asked(seqlen, heads, head_dim, causal, dtype), ON_HOPPER).program, ON_HOPPER
    )


@needs_compiler
@chosen("kernel", ["flash2", "flash3"], {"flash2"})
@chosen("head_dim", (64, 128), {64})
def test_the_timed_build_is_its_source_without_marks(kernel: str, head_dim: int) -> None:
    program = timed(kernel, asked(4096, 16, head_dim, True, "float16"))
    source = read_source(program)
    bare, marks = MARK.subn("", source)
    assert marks >= LEAST_MARKS[kernel]
    assert "CLOCK" not in bare.replace("flash3_clocks", "")
    assert tokens(program, HOPPER, source) == tokens(program, HOPPER, bare)


CLOCKED_BACKWARD: tuple[ClockedKernel, ...] = ("flash1", "flash2", "flash3")
BACKWARD: list[tuple[ClockedKernel, int, bool, bool]] = [
    (kernel, head_dim, causal, deterministic)
    for kernel in CLOCKED_BACKWARD
    for head_dim in (64, 128, 256)
    for causal, deterministic in product((False, True), repeat=2)
]
BACKWARD_PROGRAMS = {
    "flash1": flash1_backward.program,
    "flash2": flash2_backward.program,
    "flash3": flash3_backward.program,
}
FEW_ROWS = [(head_dim, pages) for head_dim in (64, 128, 256) for pages in (None, 16, 64)]
INLINE = re.compile(r"\s*\bCLOCK\w*(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?")


def backward(head_dim: int, causal: bool, deterministic: bool) -> Problem:
    problem = asked(4096, 16, head_dim, causal, "float16")
    return replace(problem, passes="backward", deterministic=deterministic)


@chosen("kernel,head_dim,causal,deterministic", BACKWARD, ())
def test_a_backward_pass_with_clocks_spills_no_register_and_products_stay_asynchronous(
    kernel: ClockedKernel, head_dim: int, causal: bool, deterministic: bool
) -> None:
    check(clocked_build(kernel, backward(head_dim, causal, deterministic), ON_HOPPER).program, ON_HOPPER)


@pytest.mark.matrix
@pytest.mark.parametrize("kernel", ["flash2", "flash3"])
def test_sources_that_leave_the_same_tokens_have_the_same_machine_code(kernel: str) -> None:
    """Why no test of marks compiles: comparing what is left for the compiler says as much."""
    program = timed(kernel, asked(4096, 16, 64, True, "float16"))
    source = read_source(program)
    bare = MARK.sub("", source)
    assert source != bare
    assert tokens(program, HOPPER, source) == tokens(program, HOPPER, bare)
    found = difference(cubin_of(program, ON_HOPPER, source), cubin_of(program, ON_HOPPER, bare))
    assert found == ("the same", [])


@needs_compiler
@chosen("kernel,head_dim,causal,deterministic", BACKWARD, BACKWARD[::12])
def test_the_timed_backward_pass_is_its_source_without_marks(
    kernel: ClockedKernel, head_dim: int, causal: bool, deterministic: bool
) -> None:
    program = BACKWARD_PROGRAMS[kernel](backward(head_dim, causal, deterministic), ON_HOPPER)
    source = read_source(program)
    bare, marks = INLINE.subn("", source)
    assert marks >= LEAST_BACKWARD_MARKS[kernel]
    assert "CLOCK" not in bare
    assert tokens(program, HOPPER, source) == tokens(program, HOPPER, bare)


@chosen("head_dim,pages", FEW_ROWS, [(128, 64)])
def test_decoding_with_clocks_spills_no_register_in_either_launch(head_dim: int, pages: int | None) -> None:
    problem = replace(asked(8192, 32, head_dim, False, "float16"), seqlen_q=1, kv_heads=8, page_size=pages)
    build = clocked_build("flash3", problem, ON_HOPPER)
    assert (build.packed, len(build.program.launches)) == (4, 2)
    check(build.program, ON_HOPPER)


@pytest.mark.matrix
@chosen("seqlen,heads,head_dim,causal,dtype", CASES, FEW[:1])
def test_a_build_of_flash3_with_clocks_does_the_work_of_the_timed_one(
    seqlen: int, heads: int, head_dim: int, causal: bool, dtype: Dtype
) -> None:
    problem = asked(seqlen, heads, head_dim, causal, dtype)
    programs = timed("flash3", problem), clocked_build("flash3", problem, ON_HOPPER).program
    plain, watched = (worked(compile_apart(program, ON_HOPPER)[0]) for program in programs)
    assert plain == watched


def worked(cubin: bytes) -> Counter[str]:
    """How many instructions of each kind of work there are."""
    found = re.findall(r"\*/\s+(?:@!?\w+\s+)?(\w+)", disassembled(cubin))
    return Counter(name for name in found if name in OF_THE_WORK)


@pytest.mark.parametrize(("kernel", "waiting"), [("flash2", 0), ("flash3", 152)])
def test_the_tiles_and_the_grid_are_those_of_the_timed_build(kernel: ClockedKernel, waiting: int) -> None:
    problem = asked(4096, 16, 128, True, "float16")
    build, program = clocked_build(kernel, problem, ON_HOPPER), timed(kernel, problem)
    assert {**program.defines, "CLOCKS": 1} == build.program.defines
    assert [one.grid for one in program.launches] == [one.grid for one in build.program.launches]
    added = build.program.launches[0].shared_bytes - program.launches[0].shared_bytes
    assert added == waiting  # clocks that wait in shared memory; flash2's stay in registers


def test_what_has_no_build_with_clocks_is_refused_with_the_reason() -> None:
    with pytest.raises(UnsupportedError, match="flash1, flash2, the steps of flash3 and flash3-fp8"):
        clocked_build("flash3", asked(1024, 4, 64, False, "float32"), ON_HOPPER)
