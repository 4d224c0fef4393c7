"""The judge of gradients: it must let rounding pass in every dtype, and no defect of a kernel."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from flashscope.kernels.oracle.reference import Masking
from flashscope.kernels.oracle.reference_gradients import Chunk, GradientRows, plain_gradients
from flashscope.kernels.oracle.row_bounds import norms_of, of_query_heads
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.oracle.verify_gradients import gradient_criterion
from flashscope.kernels.workload.problem import DTYPES, Dtype, Problem
from flashscope.kernels.workload.tensors import Gradients, Inputs
from tests.kernels.answers import hostile, kept_pairs, stored, tiled
from tests.kernels.cases import draw
from tests.kernels.running_backward import grad_output_of
from tests.matrix import chosen

PROBLEM = Problem(seqlen_q=300, seqlen_k=260, heads=4, kv_heads=2, head_dim=64, causal=True)
TILE = 64
Parts = tuple[Any, Any, Any, Any]  # Q, K, V and dO in float32, once for every query head
Step = Callable[[Any, Any, Any, Any], tuple[Any, Any]]


def recomputed(problem: Problem, inputs: Inputs, grad_output: Any, **defects: Any) -> Gradients:
    """As a FlashAttention kernel does it: P from LSE, P and dS in the dtype, sums in float32.

    `defects`: `delta` and `scale`, factors on what they name; `kept`, pairs; `dropped`, a tile of keys that
    does not reach dQ; `swap`, whether dK and dV go to the other K/V head.
    """
    dtype = storage_dtype(problem.dtype)
    group = problem.heads // problem.key_heads
    q, grad = inputs.q.astype("float32"), grad_output.astype("float32")
    k, v = (np.repeat(x.astype("float32"), group, axis=1) for x in inputs.qkv[1:])
    answer = tiled(problem, inputs)
    output, lse = answer.output.astype("float32"), answer.lse[..., None]
    scale = np.float32(problem.softmax_scale)
    s = q @ np.swapaxes(k, -1, -2) * scale
    s[..., ~defects.get("kept", kept_pairs(problem))] = -np.inf
    p = np.exp(s - np.where(np.isneginf(lse), np.float32(np.inf), lse))
    delta = (grad * output).sum(axis=-1, keepdims=True) * np.float32(defects.get("delta", 1))
    ds = (p * (grad @ np.swapaxes(v, -1, -2) - delta)).astype(dtype).astype("float32")
    p = p.astype(dtype).astype("float32")
    for_dq = ds.copy()
    for_dq[..., defects.get("dropped", slice(0, 0))] = 0
    dq = for_dq @ k * scale
    dk = np.swapaxes(ds, -1, -2) @ q * scale * np.float32(defects.get("scale", 1))
    dv = np.swapaxes(p, -1, -2) @ grad
    dk, dv = (x.reshape(*inputs.k.shape[:2], group, *x.shape[2:]).sum(axis=2) for x in (dk, dv))
    if defects.get("swap"):
        dk = dk[:, ::-1]
    return Gradients(*(x.astype(dtype) for x in (dq, dk, dv)))


def drawn(dtype: Dtype) -> tuple[Problem, Inputs, Any]:
    problem = structs.replace(PROBLEM, dtype=dtype)
    return problem, stored(problem, draw(problem)), grad_output_of(problem).astype(storage_dtype(dtype))


def some_rows(problem: Problem, inputs: Inputs) -> GradientRows:
    """About a third of the rows and keys, with the O and LSE of a kernel that computes P again."""
    answer, rows, keys = tiled(problem, inputs), range(0, problem.seqlen_q, 3), range(0, problem.seqlen_k, 3)
    return GradientRows(rows, keys, answer.output, answer.lse)


def all_rows(problem: Problem, inputs: Inputs) -> None:
    """No row is drawn: all are compared."""


Which = Callable[[Problem, Inputs], GradientRows | None]
which_rows = pytest.mark.parametrize("which", [all_rows, some_rows])


def too_few_keys(problem: Problem) -> Any:
    """The causal border one key too far to the left."""
    return kept_pairs(problem) & ~np.eye(
        problem.seqlen_q, problem.seqlen_k, problem.seqlen_k - problem.seqlen_q, dtype=bool
    )


@which_rows
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_gradients_of_a_kernel_that_computes_p_again_pass(dtype: Dtype, which: Which) -> None:
    problem, inputs, grad_output = drawn(dtype)
    criterion = gradient_criterion(problem, inputs, grad_output, which(problem, inputs))
    verdict = criterion.judge(recomputed(problem, inputs, grad_output))
    assert verdict.passed, verdict
    names = ["dQ", "dQ of a row", "dK", "dK of a row", "dV", "dV of a row"]
    assert [one.output for one in verdict.outputs] == names
    assert all(0 < one.error < one.bound for one in verdict.outputs)


@which_rows
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("defect", "seen_in"),
    [
        ({"dropped": slice(0, TILE)}, "dQ of a row"),
        ({"dropped": slice(196, 260)}, "dQ of a row"),  # what only the last rows meet
        ({"delta": 0}, "dQ of a row"),
        ({"delta": 0}, "dK of a row"),
        ({"delta": 0.9}, "dK of a row"),
        ({"scale": 8}, "dK of a row"),
        ({"scale": 1.05}, "dK of a row"),
        ({"swap": True}, "dK of a row"),
    ],
    ids=str,
)
def test_a_defect_of_a_kernel_never_passes(
    dtype: Dtype, defect: dict[str, Any], seen_in: str, which: Which
) -> None:
    problem, inputs, grad_output = drawn(dtype)
    found = recomputed(problem, inputs, grad_output, **defect)
    verdict = gradient_criterion(problem, inputs, grad_output, which(problem, inputs)).judge(found)
    judged = verdict.of(seen_in)
    assert judged is not None
    assert not judged.passed, judged


@which_rows
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_mask_that_is_one_key_off_never_passes(dtype: Dtype, which: Which) -> None:
    problem, inputs, grad_output = drawn(dtype)
    found = recomputed(problem, inputs, grad_output, kept=too_few_keys(problem))
    verdict = gradient_criterion(problem, inputs, grad_output, which(problem, inputs)).judge(found)
    assert {one.output for one in verdict.outputs if not one.passed} >= {f"d{x} of a row" for x in "QKV"}


@pytest.mark.parametrize("part", [np.s_[:, :1], np.s_[..., :1, :]], ids=["head", "row"])
def test_one_part_of_a_gradient_does_not_stand_for_all(part: Any) -> None:
    problem, inputs, grad_output = drawn("float16")
    found = recomputed(problem, inputs, grad_output)
    with pytest.raises(ValueError, match="dQ has the shape"):
        gradient_criterion(problem, inputs, grad_output).judge(found._replace(dq=found.dq[part]))


@pytest.mark.parametrize("name", ["dq", "dk", "dv"])
def test_a_wrong_row_is_named_where_it_is_drawn_and_missed_where_it_is_not(name: str) -> None:
    problem, inputs, grad_output = drawn("float16")
    given = some_rows(problem, inputs)
    criterion = gradient_criterion(problem, inputs, grad_output, given)
    of = given.rows if name == "dq" else given.keys
    for row, met in ((of[40], True), (of[40] + 1, False)):
        found = recomputed(problem, inputs, grad_output)
        getattr(found, name)[0, 1, row] *= 1.05
        verdict = criterion.judge(found)
        assert verdict.passed is not met
        worst = verdict.of(f"d{name[1].upper()} of a row")
        assert worst is not None
        assert not met or worst.place == (0, 1, row)


def test_drawn_rows_cost_as_many_pairs_as_there_are_rows_and_keys() -> None:
    def pairs(seqlen: int) -> int:
        problem = structs.replace(PROBLEM, seqlen_q=seqlen, seqlen_k=seqlen, dtype="float32")
        inputs, walked = stored(problem, draw(problem)), list[Chunk]()
        answer = tiled(problem, inputs)
        plain_gradients(
            (*inputs.qkv, grad_output_of(problem)),
            Masking(problem.causal, None, None),
            scale=problem.softmax_scale,
            compute_dtype="float64",
            storage_dtype="float64",
            drawn=GradientRows([5, 70], [3, 90, 120], answer.output, answer.lse),
            also=walked.append,
        )
        return sum(one.p.size for one in walked)

    assert [pairs(seqlen) for seqlen in (128, 256, 512)] == [4 * 5 * seqlen for seqlen in (128, 256, 512)]


def nan_in_dv(found: Gradients) -> None:
    found.dv[0, 1, 7, 3] = np.nan


def two_rows_of_dv_swapped(found: Gradients) -> None:
    found.dv[0, 0, [100, 101]] = found.dv[0, 0, [101, 100]]


def a_head_of_dq_swapped(found: Gradients) -> None:
    found.dq[:, [0, 1]] = found.dq[:, [1, 0]]


def an_empty_row_is_not_zero(found: Gradients) -> None:
    found.dq[0, 0, 3, 0] = 1e-3


def half_of_the_group_is_missing(found: Gradients) -> None:
    found.dv[:] = (found.dv.astype("float32") * 0.5).astype(found.dv.dtype)


@pytest.mark.parametrize(
    "spoil",
    [
        nan_in_dv,
        two_rows_of_dv_swapped,
        a_head_of_dq_swapped,
        an_empty_row_is_not_zero,
        half_of_the_group_is_missing,
    ],
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_spoilt_gradients_never_pass_and_the_worst_row_is_named(
    dtype: Dtype, spoil: Callable[[Gradients], None]
) -> None:
    problem, inputs, grad_output = drawn(dtype)
    found = recomputed(problem, inputs, grad_output)
    spoil(found)
    verdict = gradient_criterion(problem, inputs, grad_output).judge(found)
    assert not verdict.passed
    if spoil is an_empty_row_is_not_zero:
        worst = verdict.of("dQ of a row")
        assert worst is not None
        assert worst.place == (0, 0, 3)


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_the_largest_row_has_its_norm_however_small_or_large_it_is(size: float) -> None:
    rows = np.full((1, 2, 3, 16), size, dtype="float32")
    problem = Problem(batch=1, heads=2, seqlen_q=3, seqlen_k=3, head_dim=16, dtype="float32")
    assert of_query_heads(problem, rows) == pytest.approx(4 * size)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_norm_does_not_leave_the_range_of_the_dtype_that_its_row_has(dtype: Dtype) -> None:
    rows = np.full((2, 16), 1000, dtype=storage_dtype(dtype))
    assert norms_of(rows) == pytest.approx(4000)


@chosen("seed", range(60), range(4))
@which_rows
@pytest.mark.parametrize("dtype", DTYPES)
def test_right_gradients_of_hostile_inputs_pass(dtype: Dtype, which: Which, seed: int) -> None:
    problem, inputs = hostile(seed, dtype)
    grad_output = grad_output_of(problem).astype(storage_dtype(dtype))
    with np.errstate(over="ignore", invalid="ignore"):
        found = recomputed(problem, inputs, grad_output)
    if not all(np.isfinite(x.astype("float32")).all() for x in found):
        pytest.skip("the gradients themselves leave the dtype's range")
    verdict = gradient_criterion(problem, inputs, grad_output, which(problem, inputs)).judge(found)
    assert verdict.passed, (problem, verdict)
