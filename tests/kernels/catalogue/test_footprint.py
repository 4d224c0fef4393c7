"""Predicted bytes are the bytes really held: what a kernel allocates is what its spec declares."""

import tracemalloc

import pytest

from flashscope.kernels.catalogue.ladder import FLASH1, FLASH2, STANDARD, STANDARD_FP32S
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import make_inputs, prepare
from flashscope.kernels.workload.problem import DTYPES, Dtype, Problem
from tests.kernels.running import each_kernel

# NumPy's ufunc buffer (8192 elements, 32 KiB for float32) and Python's objects, whatever the problem's size.
TOLERANCE_BYTES = 64 * 1024

PROBLEMS = [
    Problem(seqlen_q=256, seqlen_k=256, heads=2),
    Problem(seqlen_q=1000, seqlen_k=1000, heads=2, causal=True),
    Problem(seqlen_q=1023, seqlen_k=519, batch=2, heads=3, head_dim=40, causal=True),
]


def peak_bytes(spec: KernelSpec, problem: Problem) -> int:
    """High-water mark of everything allocated for one point, from its inputs to its second run."""
    tracemalloc.start()
    launch = prepare(spec, problem, make_inputs(problem, "cpu"), "cpu")
    launch.run()
    launch.run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@each_kernel
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: f"{p.seqlen_q}x{p.seqlen_k}")
def test_the_allocators_peak_is_the_predicted_footprint(spec: KernelSpec, problem: Problem) -> None:
    peak_bytes(spec, Problem(seqlen_q=1, seqlen_k=1))  # first use of a module allocates what stays
    excess = peak_bytes(spec, problem) - spec.predicted_bytes(problem, "cpu")
    assert 0 <= excess < TOLERANCE_BYTES


@each_kernel
def test_a_launch_reports_the_workspace_its_spec_declares(spec: KernelSpec) -> None:
    problem = Problem(seqlen_q=300, seqlen_k=700, heads=2)
    launch = prepare(spec, problem, make_inputs(problem, "cpu"), "cpu")
    assert launch.workspace_bytes == spec.workspace_bytes(problem, "cpu")


def test_doubling_the_sequence_quadruples_standard_and_doubles_the_tiled_kernels() -> None:
    small, large = (Problem(seqlen_q=n, seqlen_k=n, heads=2) for n in (8192, 16384))
    for spec, growth in ((STANDARD, 4), (FLASH1, 2), (FLASH2, 2)):
        ratio = spec.predicted_bytes(large, "cpu") / spec.predicted_bytes(small, "cpu")
        assert ratio == pytest.approx(growth, rel=0.05)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_gpu_workspace_is_two_matrices_or_two_vectors_or_nothing(dtype: Dtype) -> None:
    problem = Problem(seqlen_q=100, seqlen_k=200, batch=2, heads=3, head_dim=64, dtype=dtype)
    assert STANDARD.workspace_bytes(problem, "cuda") == 2 * 6 * 100 * 200 * problem.itemsize
    assert STANDARD_FP32S.workspace_bytes(problem, "cuda") == 6 * 100 * 200 * (4 + problem.itemsize)
    state, accumulator = 2 * 6 * 100 * 4, 6 * 100 * 64 * 4
    assert FLASH1.workspace_bytes(problem, "cuda") == state + (accumulator if dtype != "float32" else 0)
    assert FLASH2.workspace_bytes(problem, "cuda") == 0
