"""The emulator itself: how it reads inline PTX, its numbers, and that it sees what it is there for."""

import ctypes
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flashscope.kernels.cuda.program import KernelLaunch, Program
from tests.kernels.cuda.emulator import build
from tests.kernels.cuda.emulator.build import EmulatorError
from tests.kernels.cuda.emulator.launch import guarded_memory, run
from tests.kernels.cuda.emulator.ptx import TranslationError, function_of, translate
from tests.kernels.cuda.emulator.running import needs_compiler

THREADS, SHARED_BYTES = 64, 1024
ARRIVE = """asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(1024u) : "memory");"""
INITIALISE = """asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(1024u), "r"(1));"""
WAIT = """bool done; do asm volatile("mbarrier.try_wait.parity.shared::cta.b64 %0, [%1], %2;"
: "=r"(done) : "r"(1024u), "r"(0) : "memory"); while (!done);"""
COPY = """asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(1024u), "l"(x), "r"(16));
asm volatile("cp.async.commit_group;");"""
HEADER = "extern __shared__ __align__(16) float shared[]; const int t = threadIdx.x;"


def launch(tmp_path: Path, body: str, *, seed: int = 0, grid: int = 1) -> Any:
    """x, 0, 1, ... for each thread, after a kernel of this body."""
    source = tmp_path / "kernel.cu"
    source.write_text(f'extern "C" __global__ void kernel(float* x) {{ {body} }}')
    stage = KernelLaunch("kernel", grid, ("x",), THREADS, SHARED_BYTES)
    with guarded_memory(at_end=seed % 2 == 0) as memory:
        x = memory.copy("x", np.arange(THREADS, dtype=np.float32))
        run(Program(str(source), {}, (stage,)), {"x": x}, seed=seed)
        return x.copy()


def test_an_instruction_becomes_a_call() -> None:
    assert (
        function_of("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
        == "ptx::mma_sync_aligned_row_col<ptx::Shape<16, 8, 16>, ptx::type::f32, ptx::type::bf16, "
        "ptx::type::bf16, ptx::type::f32>"
    )
    text = (
        'asm volatile("{ .reg .pred p; setp.ne.b32 p, %1, 0;\\n" "bar.sync %0, {%2, %1}; }" '
        ': "=r"(a[f(1, 2)]) : "n"(3), "r"(b ? c : d));'
    )
    assert translate(text) == (
        "do { [[maybe_unused]] auto& _0 = (a[f(1, 2)]); [[maybe_unused]] const int _1 = (int)((3)); "
        "[[maybe_unused]] const u32 _2 = (u32)((b ? c : d)); bool p{}; "
        "ptx::setp_ne<ptx::type::b32>(p, _1, 0); ptx::bar_sync(_0, ptx::list(_2, _1)); } while (0);"
    )


def test_what_does_not_end_is_refused() -> None:
    with pytest.raises(TranslationError):
        translate('asm volatile("trap;"')


@needs_compiler
def test_numbers_are_those_of_numpy() -> None:
    bits = np.arange(2**16, dtype=np.uint16)
    assert_same(converted("half_to_float", bits, np.float32), bits.view(np.float16).astype(np.float32))
    assert_same(
        converted("bfloat_to_float", bits, np.float32), bits.view(ml_dtypes.bfloat16).astype(np.float32)
    )
    eight = bits[:256].astype(np.uint8)
    assert_same(
        converted("e4m3_to_float", eight, np.float32), eight.view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    )
    some = np.random.default_rng(0).integers(0, 2**32, 20_000, np.uint32).view(np.float32)
    halves = bits.view(np.float16)[::5].astype(np.float32)
    near = np.concatenate([some, halves[np.isfinite(halves)] * np.float32(1 + 2**-11)])
    for name, dtype in (("half", np.float16), ("bfloat", ml_dtypes.bfloat16)):
        with np.errstate(over="ignore", invalid="ignore"):
            expected = near.astype(dtype)
        assert_same(converted(f"float_to_{name}", near, np.uint16).view(dtype), expected)
    small = near[np.abs(near) <= 448]
    expected = small.astype(ml_dtypes.float8_e4m3fn)
    assert_same(converted("float_to_e4m3", small, np.uint8).view(ml_dtypes.float8_e4m3fn), expected)


def converted(name: str, values: Any, dtype: Any) -> Any:
    types = {"float32": ctypes.c_float, "uint16": ctypes.c_uint16, "uint8": ctypes.c_uint8}
    function = getattr(build.machine(), name)
    function.restype, function.argtypes = types[np.dtype(dtype).name], [types[values.dtype.name]]
    return np.array([function(value) for value in values.tolist()], dtype)


def assert_same(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))


@needs_compiler
def test_threads_exchange_by_way_of_shared_memory(tmp_path: Path) -> None:
    body = HEADER + "shared[t] = x[t]; __syncthreads(); x[t] = shared[63 - t];"
    assert launch(tmp_path, body).tolist() == [*range(63, -1, -1)]


@needs_compiler
def test_a_missing_barrier_shows(tmp_path: Path) -> None:
    body = HEADER + "shared[t] = x[t]; x[t] = shared[63 - t];"
    assert np.isnan(launch(tmp_path, body)).any()


@needs_compiler
@pytest.mark.parametrize(
    ("body", "seed", "message"),
    [
        ("x[threadIdx.x + 1] = 0;", 0, "byte 256 of x, which has 256, by thread 63 of block 0"),
        ("x[(int)threadIdx.x - 1] = 0;", 1, "byte -4 of x, which has 256, by thread 0 of block 0"),
        ("x[threadIdx.x + 1] = 0;", 1, "written next to x"),
        ("*(float4*)(x + 1) = float4{};", 0, "odd address"),
        ("float own[3]; own[threadIdx.x] = 0;", 0, "array"),
        (HEADER + "shared[256 + t] = 0;", 0, "of shared memory, which has 1024"),
        ("if (threadIdx.x < 32) __syncthreads(); else if (threadIdx.x == 32) __syncwarp();", 0, "deadlock"),
        ("if (threadIdx.x % 2) __syncwarp(); else __shfl_sync(~0u, x[0], 0);", 0, "while others"),
        (ARRIVE, 0, "no barrier was initialised"),
        (f"if (threadIdx.x == 0) {{ {INITIALISE} }} __syncthreads(); {WAIT}", 0, "1 arrivals and 0 bytes"),
        ('asm volatile("mul.wide.u32 %0, 1, 2;" : "=l"(x));', 0, "mul_wide"),
    ],
)
def test_an_error_names_its_place(tmp_path: Path, body: str, seed: int, message: str) -> None:
    with pytest.raises(EmulatorError, match=message):
        launch(tmp_path, body, seed=seed)


@needs_compiler
def test_copies_are_under_way_until_they_are_waited_for(tmp_path: Path) -> None:
    wait = 'asm volatile("cp.async.wait_group %0;" ::"n"(0) : "memory");'
    body = HEADER + f"if (t == 0) {{ {COPY} x[2] = shared[1]; {wait} x[3] = shared[1]; }}"
    for seed in range(8):
        x = launch(tmp_path, body, seed=seed)
        assert x[3] == 1
        if np.isnan(x[2]):
            return
    pytest.fail("the copy had always ended at once")


@needs_compiler
def test_blocks_may_wait_for_each_other(tmp_path: Path) -> None:
    look = 'asm volatile("ld.acquire.gpu.global.f32 %0, [%1];" : "=f"(found) : "l"(x + 1 - blockIdx.x));'
    body = f"if (threadIdx.x) return; float found; x[blockIdx.x] = 9; do {look} while (found != 9);"
    assert launch(tmp_path, body, grid=2)[:2].tolist() == [9, 9]
