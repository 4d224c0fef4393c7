"""The backward passes in NumPy against the oracle: lengths, probes, masks, repeats, and what they hold."""

import tracemalloc
from itertools import product
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashscope.kernels.catalogue import workspace
from flashscope.kernels.catalogue.ladder import FLASH1, FLASH2, STANDARD
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import make_inputs, prepare_backward
from flashscope.kernels.workload.problem import Problem
from tests.kernels import cases
from tests.kernels.cases import PROBES, Case
from tests.kernels.masked import masked_problems
from tests.kernels.running_backward import CPU_KERNELS, each_kernel, judge, run, saved
from tests.matrix import in_rounds, matrix

LENGTHS = tuple(lengths for lengths in cases.CPU_LENGTHS if max(lengths) < 1000)
probe = pytest.mark.parametrize("case", [p() for p in PROBES], ids=[p.__name__ for p in PROBES])


@matrix(
    "spec lengths head_dim causal",
    product(CPU_KERNELS, (*LENGTHS, (300, 520)), cases.HEAD_DIMS, cases.CAUSAL),
    *("spec lengths causal", "spec head_dim"),
    ids=lambda value: value.name if isinstance(value, KernelSpec) else str(value),
)
def test_every_length_and_head_dim_passes(
    spec: KernelSpec, lengths: tuple[int, int], head_dim: int, causal: bool
) -> None:
    problem = Problem(
        seqlen_q=lengths[0],
        seqlen_k=lengths[1],
        heads=4,
        kv_heads=2,
        head_dim=head_dim,
        causal=causal,
        seed=head_dim,
    )
    verdict = judge(spec, problem, make_inputs(problem, "cpu"))
    assert verdict.passed, verdict


@each_kernel
@probe
def test_every_probe_passes_with_and_without_the_mask(spec: KernelSpec, case: Case) -> None:
    for problem, inputs in (case, cases.causal(case)):
        verdict = judge(spec, problem, inputs)
        assert verdict.passed, verdict


@in_rounds(8)
@settings(max_examples=25, deadline=None)
@given(masked_problems(), st.integers(1, 40), st.integers(1, 40))
def test_masks_and_grouped_heads_in_odd_tiles_pass(
    turn: int, problem: Problem, block_q: int, block_k: int
) -> None:
    inputs = make_inputs(problem, "cpu")
    with patch.multiple(workspace, CPU_BLOCK_Q=block_q, CPU_BLOCK_K=block_k):
        for spec in CPU_KERNELS:
            verdict = judge(spec, problem, inputs)
            assert verdict.passed, (spec.name, verdict)


@each_kernel
@pytest.mark.parametrize("scale", [0.0, 1e-3, -0.5, 2.0])
def test_any_finite_scale_is_honoured(spec: KernelSpec, scale: float) -> None:
    problem = Problem(seqlen_q=90, seqlen_k=140, head_dim=32, scale=scale, causal=True)
    verdict = judge(spec, problem, make_inputs(problem, "cpu"))
    assert verdict.passed, verdict


@each_kernel
def test_rows_without_keys_and_keys_without_rows_get_exactly_nothing(spec: KernelSpec) -> None:
    problem, inputs = cases.first_rows_see_nothing()
    gradients = run(spec, problem, saved(problem, inputs)).gradients
    empty = problem.seqlen_q - problem.seqlen_k
    assert (gradients.dq[:, :, :empty] == 0).all()
    unseen = Problem(seqlen_q=20, seqlen_k=50, window=(5, 0))
    gradients = run(spec, unseen, saved(unseen, make_inputs(unseen, "cpu"))).gradients
    assert (gradients.dk[:, :, :25] == 0).all()
    assert (gradients.dv[:, :, :25] == 0).all()


@each_kernel
def test_a_hundred_repeats_are_bit_identical_and_leave_what_they_are_given(spec: KernelSpec) -> None:
    problem = Problem(seqlen_q=113, seqlen_k=603, heads=2, kv_heads=1, head_dim=64, causal=True)
    given = saved(problem, make_inputs(problem, "cpu"))
    before = [array.tobytes() for array in given]
    launch = run(spec, problem, given)
    first = [gradient.tobytes() for gradient in launch.gradients]
    for _ in range(100):
        launch.run()
        assert [gradient.tobytes() for gradient in launch.gradients] == first
    assert [array.tobytes() for array in given] == before


@each_kernel
def test_the_allocators_peak_is_the_predicted_footprint(spec: KernelSpec) -> None:
    problem = Problem(seqlen_q=523, seqlen_k=719, heads=2, head_dim=40, causal=True)
    given = saved(problem, make_inputs(problem, "cpu"))
    prepare_backward(spec, problem, given, "cpu").run()  # first use of a module allocates what stays
    tracemalloc.start()
    launch = prepare_backward(spec, problem, given, "cpu")
    launch.run()
    launch.run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert spec.backward is not None
    beside = sum(array.nbytes for array in given)
    assert launch.workspace_bytes == spec.backward.workspace_bytes(problem, "cpu")
    assert 0 <= peak - (spec.backward.predicted_bytes(problem, "cpu") - beside) < 64 * 1024


def test_standard_keeps_a_matrix_between_the_passes_and_the_tiled_kernels_a_row_of_numbers() -> None:
    problem = Problem(seqlen_q=1000, seqlen_k=1001, batch=2, heads=3, head_dim=64, dtype="bfloat16")
    rows = 2 * 3 * 1000
    kept = {
        (spec.name, backend): spec.backward.kept_bytes(problem, backend)
        for spec in (STANDARD, FLASH1, FLASH2)
        if spec.backward is not None
        for backend in ("cpu", "cuda")
    }
    assert kept["standard", "cpu"] == rows * (1001 * 2 + 64 * 2)
    assert kept["standard", "cuda"] == rows * (1008 * 2 + 64 * 2)  # rows of P in whole 16 bytes
    assert {kept[name, backend] for name in ("flash1", "flash2") for backend in ("cpu", "cuda")} == {
        rows * (64 * 2 + 4)
    }
