"""The oracle itself, against the definition written out with Python's own floats."""

import math
import tracemalloc
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flashscope.kernels.oracle import reference
from flashscope.kernels.oracle.reference import attention_reference
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cases import draw

SHAPES = [(1, 1), (3, 5), (5, 3), (4, 4)]


Row = tuple[list[float], float]


def by_definition(q: Any, k: Any, v: Any, *, causal: bool, scale: float, row: int) -> Row:
    """O (dv,) and LSE of one row of one head, term by term."""
    shift = len(k) - len(q)
    kept = [j for j in range(len(k)) if not causal or j <= row + shift]
    scores = [scale * math.fsum(float(a) * float(b) for a, b in zip(q[row], k[j], strict=True)) for j in kept]
    if not kept:
        return [0.0] * v.shape[1], -math.inf
    lse = math.log(math.fsum(math.exp(s) for s in scores))
    weights = [math.exp(s - lse) for s in scores]
    columns = v[kept].T
    return [math.fsum(w * float(x) for w, x in zip(weights, c, strict=True)) for c in columns], lse


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("seqlen_q", "seqlen_k"), SHAPES)
def test_the_oracle_agrees_with_the_definition(seqlen_q: int, seqlen_k: int, causal: bool) -> None:
    problem = Problem(seqlen_q=seqlen_q, seqlen_k=seqlen_k, batch=2, heads=2, head_dim=3)
    q, k, v = draw(problem).qkv
    output, lse = attention_reference(q, k, v, causal=causal, scale=0.7)
    assert output.dtype == lse.dtype == np.float64
    for b, h, row in np.ndindex(2, 2, seqlen_q):
        expected, expected_lse = by_definition(q[b, h], k[b, h], v[b, h], causal=causal, scale=0.7, row=row)
        np.testing.assert_allclose(output[b, h, row], expected, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(lse[b, h, row], expected_lse, rtol=1e-13, atol=1e-14)


def test_chosen_rows_are_the_rows_of_the_whole() -> None:
    q, k, v = draw(Problem(seqlen_q=50, seqlen_k=40, heads=2, head_dim=16)).qkv
    rows = [0, 9, 10, 11, 49]
    whole, whole_lse = attention_reference(q, k, v, causal=True, scale=0.25)
    part, part_lse = attention_reference(q, k, v, causal=True, scale=0.25, rows=rows)
    np.testing.assert_allclose(part, whole[:, :, rows], rtol=1e-13)
    np.testing.assert_allclose(part_lse, whole_lse[:, :, rows], rtol=1e-13)


def test_cutting_the_rows_into_chunks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    q, k, v = draw(Problem(seqlen_q=50, seqlen_k=40, heads=2, head_dim=16)).qkv
    whole, _ = attention_reference(q, k, v, causal=True, scale=0.25)
    monkeypatch.setattr(reference, "CHUNK_BYTES", 7 * 40 * 8)
    chunked, _ = attention_reference(q, k, v, causal=True, scale=0.25)
    np.testing.assert_allclose(chunked, whole, rtol=1e-13)


def test_the_oracle_never_holds_the_score_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "CHUNK_BYTES", 2**19)
    inputs = draw(Problem(seqlen_q=2048, seqlen_k=2048, head_dim=16))
    tracemalloc.start()
    attention_reference(*inputs.qkv, causal=True, scale=1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2048 * 2048 * 8 / 5


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
def test_the_oracle_takes_other_dtypes_exactly_as_they_are(dtype: type) -> None:
    inputs = [a.astype(dtype) for a in draw(Problem(seqlen_q=9, seqlen_k=7, head_dim=16)).qkv]
    found, _ = attention_reference(*inputs, causal=False, scale=0.25)
    expected, _ = attention_reference(*(a.astype(np.float64) for a in inputs), causal=False, scale=0.25)
    np.testing.assert_array_equal(found, expected)
