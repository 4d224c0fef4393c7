"""What models ask for beyond masks, on the CPU: softcaps, sinks, ALiBi, values of another head dim."""

from typing import Any
from unittest.mock import patch

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashscope.kernels.catalogue import workspace
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.catalogue.spec import FEATURES, KernelSpec
from flashscope.kernels.cpu import backward_tiles, standard_backward
from flashscope.kernels.cpu.backward_tiles import score_gradients
from flashscope.kernels.cpu.device import describe
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.launching.tracing import check_traceable
from flashscope.kernels.oracle.reference import Scoring, attention_reference
from flashscope.kernels.oracle.verify import verify
from flashscope.kernels.oracle.verify_gradients import gradient_criterion
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import NOT_TRACED, Feature, Problem
from flashscope.kernels.workload.scoring import alibi_slopes
from flashscope.kernels.workload.tensors import Inputs
from flashscope.kernels.workload.trace import TraceRequest
from tests.kernels import cases, running, running_backward
from tests.kernels.masked import masked_problems
from tests.kernels.running import CPU_KERNELS, each_kernel
from tests.kernels.scored import brute_force, scored, slope_of
from tests.matrix import chosen, in_rounds

HOPPER = Device(backend="cuda", name="a GPU", memory_bytes=2**36, compute_capability=(9, 0))
each_backward = running_backward.each_kernel


def oracle(problem: Problem, inputs: Inputs) -> tuple[Any, Any]:
    return attention_reference(
        *inputs.qkv,
        causal=problem.causal,
        window=problem.window,
        block_mask=problem.block_mask,
        scale=problem.softmax_scale,
        scoring=Scoring.of(problem, inputs),
    )


@settings(max_examples=60, deadline=None)
@given(scored(masked_problems(longest=30)))
def test_the_oracle_is_the_definition_row_by_row(problem: Problem) -> None:
    inputs = make_inputs(problem, "cpu")
    for found, expected in zip(oracle(problem, inputs), brute_force(problem, inputs), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


@in_rounds(4)
@settings(max_examples=25, deadline=None)
@given(scored(masked_problems()), st.integers(1, 40), st.integers(1, 40))
def test_every_kernel_passes_in_odd_shapes_and_odd_tiles(
    turn: int, problem: Problem, block_q: int, block_k: int
) -> None:
    inputs = make_inputs(problem, "cpu")
    with patch.multiple(workspace, CPU_BLOCK_Q=block_q, CPU_BLOCK_K=block_k):
        for spec in CPU_KERNELS:
            verdict = running.judge(spec, problem, inputs)
            assert verdict.passed, (spec.name, verdict)
        for spec in running_backward.CPU_KERNELS:
            verdict = running_backward.judge(spec, problem, inputs)
            assert verdict.passed, (spec.name, verdict)


@each_kernel
@pytest.mark.parametrize("softcap", [0.001, 30.0, 1e6])
def test_scores_of_ten_thousand_are_capped_without_an_accident(spec: KernelSpec, softcap: float) -> None:
    problem, inputs = cases.logits_are_huge()
    problem = msgspec.structs.replace(problem, softcap=softcap)
    verdict = running.judge(spec, problem, inputs)
    assert verdict.passed, verdict
    exact, _ = oracle(problem, inputs)
    np.testing.assert_allclose(running.run(spec, problem, inputs).output, exact, atol=5e-3)


@each_backward
@pytest.mark.parametrize("softcap", [0.001, 30.0, 1e6])
def test_gradients_of_scores_of_ten_thousand_pass(spec: KernelSpec, softcap: float) -> None:
    problem, inputs = cases.logits_are_huge()
    verdict = running_backward.judge(spec, msgspec.structs.replace(problem, softcap=softcap), inputs)
    assert verdict.passed, verdict


@each_kernel
def test_an_answer_without_the_softcap_is_refused(spec: KernelSpec) -> None:
    plain = Problem(seqlen_q=70, seqlen_k=90, heads=2, head_dim=32, scale=1.0)
    capped = msgspec.structs.replace(plain, softcap=5.0)
    inputs = make_inputs(plain, "cpu")
    launch = running.run(spec, plain, inputs)
    assert not verify(capped, inputs, launch.output, launch.lse).passed


def without_slope(tile: Any, *given_: Any) -> None:
    score_gradients((*tile[:2], None), *given_)


@each_backward
def test_gradients_without_the_slope_of_the_softcap_are_refused(spec: KernelSpec) -> None:
    capped = Problem(seqlen_q=40, seqlen_k=50, head_dim=16, scale=1.0, softcap=5.0)
    inputs = make_inputs(capped, "cpu")
    given_ = running_backward.saved(capped, inputs)
    with (
        patch.object(backward_tiles, "score_gradients", without_slope),
        patch.object(standard_backward, "score_gradients", without_slope),
    ):
        launch = running_backward.run(spec, capped, given_)
    judged = gradient_criterion(capped, inputs, given_.grad_output).judge(launch.gradients)
    assert not judged.passed


def test_every_feature_of_scores_has_a_name_and_is_refused_by_it() -> None:
    asked: dict[Feature, dict[str, Any]] = {
        "softcap": {"softcap": 30.0},
        "sinks": {"sinks": True},
        "alibi": {"alibi": True},
        "head_dim_v": {"head_dim_v": 32},
    }
    assert set(asked) == NOT_TRACED
    for feature, fields in asked.items():
        problem = Problem(seqlen_q=64, seqlen_k=64, dtype="float16", **fields)
        assert problem.features == {feature}
        for spec in KERNELS:
            if "cuda" in spec.dtypes and feature not in spec.features["cuda"] and spec.library_is_here():
                assert FEATURES[feature] in (spec.unsupported(problem, HOPPER) or ""), spec.name
        with pytest.raises(UnsupportedError, match=f"No trace shows {FEATURES[feature]}"):
            check_traceable(
                TraceRequest(problem=msgspec.structs.replace(problem, dtype="float32"), backend="cpu")
            )


@each_kernel
def test_the_cpu_takes_them_all(spec: KernelSpec) -> None:
    problem = Problem(seqlen_q=64, seqlen_k=64, softcap=50.0, sinks=True, alibi=True, head_dim_v=8)
    assert spec.unsupported(problem, describe()) is None


@pytest.mark.parametrize("softcap", [0.0, -1.0, 1e-9, 1e7, float("nan"), float("inf")])
def test_a_softcap_that_bounds_nothing_is_refused(softcap: float) -> None:
    with pytest.raises(InputError, match=r"softcap must be from 0[.]001 to 1e[+]06"):
        Problem(seqlen_q=1, seqlen_k=1, softcap=softcap)


def test_softcapped_scores_stay_within_the_softcap() -> None:
    problem, inputs = cases.logits_are_huge()
    _, lse = oracle(msgspec.structs.replace(problem, softcap=2.0), inputs)
    assert (np.abs(lse - np.log(problem.seqlen_k)) <= 2).all()


EMPTY = Problem(seqlen_q=400, seqlen_k=170, heads=3, head_dim=16, causal=True, sinks=True)
"""Its first 230 rows keep no key."""


@each_kernel
def test_a_row_without_keys_is_zero_and_has_the_sink_as_its_lse(spec: KernelSpec) -> None:
    inputs = make_inputs(EMPTY, "cpu")
    launch = running.run(spec, EMPTY, inputs)
    assert (launch.output[:, :, :230] == 0).all()
    assert (launch.lse[0, :, :230] == inputs.sinks[:, None]).all()
    assert verify(EMPTY, inputs, launch.output, launch.lse).passed


@each_kernel
@pytest.mark.parametrize("sinks", [(-np.inf, -1e30, -100.0), (100.0, 1e4, 1e30), (0.0, -np.inf, 3e38)])
def test_sinks_far_beyond_all_scores_pass(spec: KernelSpec, sinks: tuple[float, ...]) -> None:
    inputs = make_inputs(EMPTY, "cpu")._replace(sinks=np.array(sinks, np.float32))
    verdict = running.judge(spec, EMPTY, inputs)
    assert verdict.passed, verdict
    launch = running.run(spec, EMPTY, inputs)
    for head, sink in enumerate(inputs.sinks):
        if sink > 1e3:  # it takes all weight
            assert (launch.output[:, head] == 0).all()
            assert (launch.lse[:, head] == sink).all()


@each_kernel
def test_a_sink_of_minus_infinity_is_none(spec: KernelSpec) -> None:
    inputs = make_inputs(EMPTY, "cpu")._replace(sinks=np.full(3, -np.inf, np.float32))
    plain = msgspec.structs.replace(EMPTY, sinks=False)
    ours = running.run(spec, EMPTY, inputs)
    theirs = running.run(spec, plain, inputs._replace(sinks=None))
    assert ours.output.tobytes() == theirs.output.tobytes()
    assert ours.lse.tobytes() == theirs.lse.tobytes()


@each_backward
@pytest.mark.parametrize("sinks", [(-np.inf, -1e30, -100.0), (50.0, 1e4, 5.0)])
def test_gradients_beside_sinks_far_beyond_all_scores_pass(
    spec: KernelSpec, sinks: tuple[float, ...]
) -> None:
    inputs = make_inputs(EMPTY, "cpu")._replace(sinks=np.array(sinks, np.float32))
    verdict = running_backward.judge(spec, EMPTY, inputs)
    assert verdict.passed, verdict


@each_kernel
def test_an_answer_without_the_sinks_is_refused(spec: KernelSpec) -> None:
    problem = Problem(seqlen_q=70, seqlen_k=90, heads=2, head_dim=32, sinks=True)
    inputs = make_inputs(problem, "cpu")
    plain = running.run(spec, msgspec.structs.replace(problem, sinks=False), inputs._replace(sinks=None))
    judged = verify(problem, inputs, plain.output, plain.lse)
    assert {one.output for one in judged.outputs if not one.passed} == {one.output for one in judged.outputs}


@each_kernel
@pytest.mark.parametrize("page_size", [None, 16])
def test_ragged_and_paged_batches_take_scores_alike(spec: KernelSpec, page_size: int | None) -> None:
    problem = Problem(
        seqlen_q=60,
        seqlen_k=96,
        batch=3,
        heads=2,
        head_dim=16,
        query_lengths=(60, 0, 7),
        key_lengths=(96, 0, 33),
        page_size=page_size,
        causal=True,
        softcap=2.0,
        sinks=True,
        alibi=True,
        head_dim_v=24,
    )
    verdict = running.judge(spec, problem, make_inputs(problem, "cpu"))
    assert verdict.passed, verdict


def test_sinks_are_refused_where_rows_have_no_keys_at_all() -> None:
    with pytest.raises(InputError, match="sinks are for sequences that have keys"):
        Problem(seqlen_q=4, seqlen_k=4, batch=2, key_lengths=(4, 0), sinks=True)


def test_sinks_are_drawn_from_the_seed_and_count_among_the_inputs() -> None:
    problem = Problem(seqlen_q=8, seqlen_k=64, heads=5, sinks=True)
    first, again = make_inputs(problem, "cpu"), make_inputs(problem, "cpu")
    plain = make_inputs(msgspec.structs.replace(problem, sinks=False), "cpu")
    assert first.sinks.dtype == np.float32
    assert first.sinks.shape == (5,)
    assert (first.sinks == again.sinks).all()
    assert all((a == b).all() for a, b in zip(first.qkv, plain.qkv, strict=True))
    assert sum(array.nbytes for array in first.arrays.values()) == problem.input_bytes


@pytest.mark.parametrize(
    ("heads", "slopes"),
    [
        (1, (2**-8,)),
        (8, tuple(2.0**-i for i in range(1, 9))),
        (12, (*(2.0**-i for i in range(1, 9)), *(2.0**-i for i in (0.5, 1.5, 2.5, 3.5)))),
        (3, (2**-4, 2**-8, 2**-2)),
    ],
)
def test_slopes_are_those_of_alibis_authors(heads: int, slopes: tuple[float, ...]) -> None:
    assert alibi_slopes(heads) == pytest.approx(slopes, rel=1e-15)
    assert [slope_of(head, heads) for head in range(heads)] == pytest.approx(slopes, rel=1e-12)


@each_kernel
@chosen("heads", [1, 6, 8], {6})
@pytest.mark.parametrize("causal", [False, True])
def test_a_bias_over_long_distances_passes(spec: KernelSpec, heads: int, causal: bool) -> None:
    """Without a mask the keys behind a query gain hundreds; with one those before it lose as much."""
    problem = Problem(seqlen_q=300, seqlen_k=1300, heads=heads, head_dim=16, causal=causal, alibi=True)
    verdict = running.judge(spec, problem, make_inputs(problem, "cpu"))
    assert verdict.passed, verdict


@each_backward
@pytest.mark.parametrize("causal", [False, True])
def test_gradients_beside_a_bias_over_long_distances_pass(spec: KernelSpec, causal: bool) -> None:
    problem = Problem(seqlen_q=300, seqlen_k=900, heads=6, kv_heads=2, head_dim=16, causal=causal, alibi=True)
    verdict = running_backward.judge(spec, problem, make_inputs(problem, "cpu"))
    assert verdict.passed, verdict


@each_kernel
def test_a_bias_aligned_to_the_top_left_is_refused(spec: KernelSpec) -> None:
    problem = Problem(seqlen_q=50, seqlen_k=90, heads=2, head_dim=16, alibi=True)
    inputs = make_inputs(problem, "cpu")
    launch = running.run(spec, problem, inputs)
    assert verify(problem, inputs, launch.output, launch.lse).passed
    shift = np.array(alibi_slopes(2), np.float32)[:, None] * 40
    assert not verify(problem, inputs, launch.output, launch.lse + shift).passed


@each_kernel
def test_an_answer_without_the_bias_is_refused(spec: KernelSpec) -> None:
    problem = Problem(seqlen_q=70, seqlen_k=90, heads=2, head_dim=32, causal=True, alibi=True)
    inputs = make_inputs(problem, "cpu")
    plain = running.run(spec, msgspec.structs.replace(problem, alibi=False), inputs)
    assert not verify(problem, inputs, plain.output, plain.lse).passed


WIDTHS = ((256, 8), (192, 128), (64, 200))
each_width = pytest.mark.parametrize(("head_dim", "head_dim_v"), WIDTHS)


def of_widths(head_dim: int, head_dim_v: int) -> Problem:
    return Problem(
        seqlen_q=150,
        seqlen_k=613,
        heads=4,
        kv_heads=2,
        head_dim=head_dim,
        head_dim_v=head_dim_v,
        causal=True,
    )


@each_kernel
@each_width
def test_values_of_another_head_dim_pass(spec: KernelSpec, head_dim: int, head_dim_v: int) -> None:
    problem = of_widths(head_dim, head_dim_v)
    verdict = running.judge(spec, problem, make_inputs(problem, "cpu"))
    assert verdict.passed, verdict


@each_backward
@each_width
def test_gradients_beside_values_of_another_head_dim_pass(
    spec: KernelSpec, head_dim: int, head_dim_v: int
) -> None:
    problem = of_widths(head_dim, head_dim_v)
    verdict = running_backward.judge(spec, problem, make_inputs(problem, "cpu"))
    assert verdict.passed, verdict


@each_width
def test_operations_and_bytes_count_each_array_by_its_width(head_dim: int, head_dim_v: int) -> None:
    problem = of_widths(head_dim, head_dim_v)
    pairs, inputs = 4 * problem.kept_pairs, make_inputs(problem, "cpu")
    backward = msgspec.structs.replace(problem, passes="backward")
    assert problem.flops == 2 * pairs * (head_dim + head_dim_v)
    assert backward.flops == 2 * pairs * (3 * head_dim + 2 * head_dim_v)
    assert sum(array.nbytes for array in inputs.arrays.values()) == problem.input_bytes
    launch = running.run(CPU_KERNELS[0], problem, inputs)
    assert launch.output.shape == problem.o_shape
    assert launch.output.nbytes + launch.lse.nbytes == problem.output_bytes


@each_kernel
def test_a_launch_holds_what_is_predicted(spec: KernelSpec) -> None:
    problem = msgspec.structs.replace(of_widths(192, 128), softcap=50.0, sinks=True, alibi=True)
    assert running.run(spec, problem, make_inputs(problem, "cpu")).workspace_bytes == spec.workspace_bytes(
        problem, "cpu"
    )


def test_a_head_dim_of_v_as_that_of_q_is_nothing_to_tell() -> None:
    assert not Problem(seqlen_q=1, seqlen_k=1, head_dim=64, head_dim_v=64).features
    with pytest.raises(InputError, match="head_dim_v must be at least 1, not 0"):
        Problem(seqlen_q=1, seqlen_k=1, head_dim_v=0)
