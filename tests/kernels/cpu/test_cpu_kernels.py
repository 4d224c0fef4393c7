"""The NumPy kernels against the oracle: lengths, probes, odd shapes, repeats."""

from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashscope.kernels.catalogue import workspace
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.oracle.reference import attention_reference
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Problem
from tests.kernels import cases
from tests.kernels.cases import PROBES, Case
from tests.kernels.running import CPU_KERNELS, each_kernel, judge, run
from tests.matrix import in_rounds, matrix

probe = pytest.mark.parametrize("case", [p() for p in PROBES], ids=[p.__name__ for p in PROBES])


@matrix(
    "spec lengths head_dim causal",
    product(CPU_KERNELS, cases.CPU_LENGTHS, cases.HEAD_DIMS, cases.CAUSAL),
    *("spec lengths causal", "spec head_dim"),
    ids=lambda value: value.name if isinstance(value, KernelSpec) else str(value),
)
def test_every_length_and_head_dim_passes(
    spec: KernelSpec, lengths: tuple[int, int], head_dim: int, causal: bool
) -> None:
    """Tails and the causal border meet in a kernel's tiles; the head dim is only how far a product sums."""
    problem = Problem(
        seqlen_q=lengths[0], seqlen_k=lengths[1], heads=2, head_dim=head_dim, causal=causal, seed=head_dim
    )
    verdict = judge(spec, problem, make_inputs(problem, "cpu"))
    assert verdict.passed, verdict


@each_kernel
@probe
def test_every_probe_passes_with_and_without_the_mask(spec: KernelSpec, case: Case) -> None:
    for problem, inputs in (case, cases.causal(case)):
        verdict = judge(spec, problem, inputs)
        assert verdict.passed, verdict


@each_kernel
def test_identity_values_reveal_the_probabilities(spec: KernelSpec) -> None:
    problem, inputs = cases.values_are_identity_columns()
    scores = np.einsum("bhqd,bhkd->bhqk", inputs.q, inputs.k, dtype=np.float64) * problem.softmax_scale
    weights = np.exp(scores)
    np.testing.assert_allclose(
        run(spec, problem, inputs).output, weights / weights.sum(axis=-1, keepdims=True), atol=1e-6
    )


@each_kernel
def test_zero_keys_average_the_values(spec: KernelSpec) -> None:
    problem, inputs = cases.keys_are_zero()
    launch = run(spec, problem, inputs)
    mean = np.broadcast_to(inputs.v.mean(axis=2, keepdims=True, dtype=np.float64), problem.q_shape)
    np.testing.assert_allclose(launch.output, mean, atol=1e-6)
    np.testing.assert_allclose(launch.lse, np.log(problem.seqlen_k), rtol=1e-6)


@each_kernel
def test_a_spike_fetches_exactly_its_own_value(spec: KernelSpec) -> None:
    problem, inputs = cases.queries_are_spikes()
    launch = run(spec, problem, inputs)
    np.testing.assert_allclose(launch.output, inputs.v[:, :, cases.spiked_keys(problem)], atol=1e-6)


@each_kernel
def test_rows_that_keep_no_key_are_zero_with_lse_of_minus_infinity(spec: KernelSpec) -> None:
    problem, inputs = cases.first_rows_see_nothing()
    launch, empty = run(spec, problem, inputs), problem.seqlen_q - problem.seqlen_k
    assert (launch.output[:, :, :empty] == 0).all()
    assert (launch.lse[:, :, :empty] == -np.inf).all()
    assert np.isfinite(launch.lse[:, :, empty:]).all()
    np.testing.assert_allclose(launch.output[:, :, empty], inputs.v[:, :, 0], rtol=1e-6)


@each_kernel
@pytest.mark.parametrize("scale", [0.0, 1e-3, -0.5, 2.0])
def test_any_finite_scale_is_honoured(spec: KernelSpec, scale: float) -> None:
    problem = Problem(seqlen_q=90, seqlen_k=140, head_dim=32, scale=scale, causal=True)
    inputs = make_inputs(problem, "cpu")
    assert judge(spec, problem, inputs).passed
    expected, _ = attention_reference(*inputs.qkv, causal=True, scale=scale)
    np.testing.assert_allclose(run(spec, problem, inputs).output, expected, atol=1e-5)


@each_kernel
def test_a_hundred_repeats_are_bit_identical(spec: KernelSpec) -> None:
    problem = Problem(seqlen_q=113, seqlen_k=603, heads=2, head_dim=64, causal=True)
    launch = run(spec, problem, make_inputs(problem, "cpu"))
    first = launch.output.tobytes(), launch.lse.tobytes()
    for _ in range(100):
        launch.run()
        assert (launch.output.tobytes(), launch.lse.tobytes()) == first


@each_kernel
def test_the_inputs_are_left_as_they_were(spec: KernelSpec) -> None:
    problem = Problem(seqlen_q=200, seqlen_k=300, causal=True)
    inputs = make_inputs(problem, "cpu")
    before = [array.tobytes() for array in inputs.qkv]
    run(spec, problem, inputs)
    assert [array.tobytes() for array in inputs.qkv] == before


@in_rounds(8)
@settings(max_examples=25, deadline=None)
@given(
    problem=st.builds(
        Problem,
        seqlen_q=st.integers(1, 150),
        seqlen_k=st.integers(1, 150),
        batch=st.integers(1, 2),
        heads=st.integers(1, 3),
        head_dim=st.sampled_from(range(16, 129, 8)),
        causal=st.booleans(),
        scale=st.none() | st.floats(-2, 2),
        seed=st.integers(0, 2**32),
    ),
    block_q=st.integers(1, 64),
    block_k=st.integers(1, 64),
)
def test_odd_shapes_in_odd_tiles_pass(turn: int, problem: Problem, block_q: int, block_k: int) -> None:
    inputs = make_inputs(problem, "cpu")
    with patch.multiple(workspace, CPU_BLOCK_Q=block_q, CPU_BLOCK_K=block_k):
        for spec in CPU_KERNELS:
            verdict = judge(spec, problem, inputs)
            assert verdict.passed, (spec.name, verdict)


def test_the_same_seed_draws_the_same_inputs_and_another_does_not() -> None:
    problem = Problem(seqlen_q=5, seqlen_k=6)
    first, again = make_inputs(problem, "cpu"), make_inputs(problem, "cpu")
    assert all((a == b).all() for a, b in zip(first.qkv, again.qkv, strict=True))
    other = make_inputs(Problem(seqlen_q=5, seqlen_k=6, seed=1), "cpu")
    assert not (first.q == other.q).any()


def test_sixteen_bit_inputs_are_refused_on_the_cpu() -> None:
    with pytest.raises(UnsupportedError, match="float32, not bfloat16"):
        make_inputs(Problem(seqlen_q=4, seqlen_k=4, dtype="bfloat16"), "cpu")
