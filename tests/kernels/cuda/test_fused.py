"""fused on a GPU up to the longest row that fits it, and refused beyond."""

from typing import Any

import pytest

from flashscope.kernels import attention
from flashscope.kernels.catalogue import fused
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import DTYPES, Dtype, Problem
from tests.kernels.cuda.running import run

pytestmark = pytest.mark.gpu


def longest(head_dim: int) -> int:
    limit = describe().shared_memory_per_block
    assert limit is not None
    return fused.longest(Problem(seqlen_q=1, seqlen_k=1, head_dim=head_dim), limit)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("head_dim", [16, 64, 72, 128, 256])
def test_the_longest_row_that_fits_agrees_with_the_oracle(head_dim: int, dtype: Dtype, causal: bool) -> None:
    n = longest(head_dim)
    problem = Problem(heads=2, seqlen_q=333, seqlen_k=n, head_dim=head_dim, dtype=dtype, causal=causal)
    verdict = run("fused", problem)
    assert verdict.passed, verdict


def test_a_row_longer_than_that_is_refused_with_the_arithmetic(cp: Any) -> None:
    n = longest(64) + 1
    q = cp.zeros((1, 1, n, 64), cp.float32)
    with pytest.raises(UnsupportedError, match=f"enough for {n - 1} keys"):
        attention(q, q, q, kernel="fused")


def test_a_row_is_right_again_after_a_shorter_one_was_bound() -> None:
    for n in (500, 128, 500):
        assert run("fused", Problem(seqlen_q=n, seqlen_k=n, head_dim=128)).passed, n


def test_a_window_over_a_long_sequence_agrees_with_the_oracle() -> None:
    verdict = run("fused", Problem(seqlen_q=20_000, seqlen_k=20_000, window=(700, 300)))
    assert verdict.passed, verdict
