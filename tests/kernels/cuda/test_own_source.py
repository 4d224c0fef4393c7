"""A `.cu` file of one's own is compiled by NVRTC as ours are; what it refuses is told with the line."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flashscope.kernels.cuda import compile as compiling
from flashscope.kernels.cuda import own_source
from flashscope.kernels.cuda.headers import toolkit_headers
from flashscope.kernels.cuda.own_source import (
    argument_of,
    check_launch,
    check_threads,
    compile_without_gpu,
    program_of,
)
from flashscope.kernels.cuda.program import KernelLaunch, Target
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.oracle.verify import verify
from flashscope.kernels.own.expression import evaluate_whole, sizes_of
from flashscope.kernels.own.references import declared
from flashscope.kernels.workload.errors import CompileError, InputError, KernelError
from flashscope.kernels.workload.problem import Problem
from tests.kernels import own_kernels
from tests.kernels.cuda.emulator.launch import guarded_memory, run
from tests.kernels.cuda.emulator.running import needs_compiler

ROWS = Path(__file__).parents[1] / "own" / "examples" / "rows.cu"
WHOLE_TILES = Path(own_kernels.__file__).with_name("gpu_right") / "whole_tiles.cu"
PROBLEM = Problem(seqlen_q=100, seqlen_k=300, batch=2, heads=8, kv_heads=2, head_dim=64, causal=True)
AMPERE, HOPPER = Target((8, 0), 163 << 10), Target((9, 0), 227 << 10)


@pytest.mark.parametrize("target", [AMPERE, HOPPER], ids=lambda target: target.arch)
def test_the_example_compiles_without_spills(target: Target) -> None:
    cubin, log = compile_without_gpu(declared(str(ROWS)), PROBLEM, target)
    assert cubin.startswith(b"\x7fELF")
    assert "0 bytes spill stores" in log


def test_it_is_launched_as_its_header_says() -> None:
    (launch,) = declared(str(ROWS)).launches
    sizes = sizes_of(PROBLEM)
    assert [evaluate_whole(axis, sizes) for axis in launch.grid] == [2, 8, 2]
    assert [evaluate_whole(axis, sizes) for axis in launch.threads] == [64]
    scalars = [argument_of(one, sizes, {}) for one in launch.arguments if one.scalar]
    assert scalars == [100, 300, 4, pytest.approx(0.125), True]
    assert [scalar.dtype.name for scalar in scalars] == ["int32", "int32", "int32", "float32", "bool"]


def test_what_the_compiler_refuses_is_told_with_the_line_and_its_text(tmp_path: Path) -> None:
    broken = tmp_path / "broken.cu"
    broken.write_text(
        ROWS.read_text(encoding="utf-8").replace("float s = 0;", "flot s = 0;"), encoding="utf-8"
    )
    with pytest.raises(CompileError, match=r"broken.cu, line \d+: .*flot.*: flot s = 0;") as raised:
        compile_without_gpu(declared(str(broken)), PROBLEM, HOPPER)
    assert "\n" not in str(raised.value)
    assert "flot" in raised.value.log


def test_a_file_beside_it_can_be_included(tmp_path: Path) -> None:
    own = tmp_path / "own.cu"
    (tmp_path / "half.cuh").write_text("#define HALF 0.5f\n", encoding="utf-8")
    text = ROWS.read_text(encoding="utf-8").replace("s *= scale;", "s *= scale * HALF;")
    own.write_text('#include "half.cuh"\n' + text, encoding="utf-8")
    assert compile_without_gpu(declared(str(own)), PROBLEM, HOPPER)[0]


def test_a_file_that_has_changed_since_it_was_read_is_not_compiled(tmp_path: Path) -> None:
    path = tmp_path / "edited.cu"
    path.write_text(ROWS.read_text(encoding="utf-8"), encoding="utf-8")
    own = declared(str(path))
    path.write_text("// nothing\n", encoding="utf-8")
    with pytest.raises(InputError, match="has changed"):
        compile_without_gpu(own, PROBLEM, HOPPER)


@needs_compiler
@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (ROWS, Problem(seqlen_q=70, seqlen_k=130, head_dim=32, causal=True)),
        (WHOLE_TILES, Problem(seqlen_q=128, seqlen_k=128, head_dim=64, causal=True)),
        (WHOLE_TILES, Problem(seqlen_q=64, seqlen_k=64, head_dim=64)),
    ],
    ids=lambda one: one.stem if isinstance(one, Path) else f"N={one.seqlen}",
)
def test_a_raw_kernel_is_right_in_the_emulator(source: Path, problem: Problem, tmp_path: Path) -> None:
    path = tmp_path / source.name
    infinity = "#define INFINITY __builtin_inff()\n"  # NVRTC is given it as an option
    path.write_text(infinity + source.read_text(encoding="utf-8"), encoding="utf-8")
    own = declared(str(path))
    (one,), sizes = own.launches, sizes_of(problem)
    given = tuple(
        each.value if each.scalar is None else argument_of(each, sizes, {}) for each in one.arguments
    )
    grid, threads = (evaluate_whole(axes[0], sizes) for axes in (one.grid, one.threads))
    program = replace(
        program_of(own, problem, HOPPER), launches=(KernelLaunch(one.entry, grid, given, threads),)
    )
    inputs = make_inputs(problem, "cpu")
    with guarded_memory() as memory:
        arrays = {name: memory.copy(name, array) for name, array in inputs.arrays.items()}
        arrays["o"] = memory.empty("o", problem.q_shape, np.float32)
        if "lse" in given:
            arrays["lse"] = memory.empty("lse", problem.q_shape[:3], np.float32)
        run(program, arrays)
        assert verify(problem, inputs, arrays["o"], arrays.get("lse")).passed


@pytest.mark.parametrize(
    ("grid", "threads", "shared", "told"),
    [
        ((0, 2), (64,), 0, "its grid is 0 × 2 blocks of 64 threads, which launches nothing"),
        ((1,), (64, 32), 0, "a block has 64 × 32 = 2,048 threads; 1,024 is the most"),
        (
            (1, 70_000),
            (64,),
            0,
            "its grid is 1 × 70,000 blocks; 2,147,483,647, 65,535, 65,535 along x, y and z",
        ),
        ((1,), (64,), 300_000, "300,000 bytes of shared memory; this GPU gives 232,448 at most"),
    ],
)
def test_what_this_gpu_does_not_launch_is_refused_in_words(
    grid: tuple[int, ...], threads: tuple[int, ...], shared: int, told: str
) -> None:
    with pytest.raises(KernelError, match=f"^rows cannot be launched: .*{told}"):
        check_launch("rows", grid, threads, shared, HOPPER)


def test_blocks_of_more_threads_than_the_compiled_function_takes_are_refused_with_why() -> None:
    check_threads("rows", (16, 8), 128)
    with pytest.raises(
        KernelError, match=r"^rows .*a block has 256 threads; its __launch_bounds__.*let in 128"
    ):
        check_threads("rows", (256,), 128)


def test_the_most_that_this_gpu_launches_is_taken_and_one_more_is_not() -> None:
    x, y, z = most = 2**31 - 1, 65_535, 65_535
    threads, shared = (32, 32), HOPPER.shared_memory
    check_launch("rows", most, threads, shared, HOPPER)
    for grid in ((x + 1, y, z), (x, y + 1, z), (x, y, z + 1)):
        with pytest.raises(KernelError, match="its grid is"):
            check_launch("rows", grid, threads, shared, HOPPER)
    with pytest.raises(KernelError, match="a block has 33 × 32"):
        check_launch("rows", most, (33, 32), shared, HOPPER)
    with pytest.raises(KernelError, match="bytes of shared memory"):
        check_launch("rows", most, threads, shared + 1, HOPPER)


HALF = Problem(seqlen_q=64, seqlen_k=64, head_dim=64, dtype="float16")
INCLUDING = """// flashscope: grid = 1
// flashscope: threads = 1
#include <cuda_fp16.h>
extern "C" __global__ void rows(const __half* q, __half* o) { o[0] = __hadd(q[0], q[1]); }
"""


def test_a_source_may_include_the_toolkits_headers(tmp_path: Path) -> None:
    file = tmp_path / "half.cu"
    file.write_text(INCLUDING, encoding="utf-8")
    cubin, _ = compile_without_gpu(declared(str(file)), HALF, HOPPER)
    assert cubin.startswith(b"\x7fELF")


def test_where_the_toolkits_headers_are_not_here_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "half.cu"
    file.write_text(INCLUDING, encoding="utf-8")
    for module in (compiling, own_source):
        monkeypatch.setattr(module, "toolkit_headers", lambda: None)
    with pytest.raises(CompileError, match=r"half\.cu, line 3: cannot open.*cuda_fp16\.h.*set CUDA_PATH"):
        compile_without_gpu(declared(str(file)), HALF, HOPPER)


def test_headers_that_the_environment_names_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "include"
    folder.mkdir()
    monkeypatch.setenv("CUDA_PATH", str(tmp_path))
    assert toolkit_headers.__wrapped__() != folder
    (folder / "cuda_fp16.h").touch()
    assert toolkit_headers.__wrapped__() == folder
