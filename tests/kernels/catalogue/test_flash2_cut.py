"""How many keys flash2's tiles have on Hopper: by the problem alone."""

from typing import Any

import pytest

from flashscope.kernels.catalogue.flash2_cut import hopper_keys
from flashscope.kernels.cuda import flash2
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cuda.builds import ON_HOPPER


def workload(seqlen: int, heads: int, head_dim: int, **rest: Any) -> Problem:
    shape = {"seqlen_q": seqlen, "seqlen_k": seqlen, "heads": heads, "head_dim": head_dim}
    return Problem(**{**shape, "dtype": "bfloat16", **rest})


@pytest.mark.parametrize(
    ("problem", "keys"),
    [
        (workload(4096, 16, 128, causal=True), 32),  # 512 tiles in 528 places
        (workload(2048, 16, 128, causal=True, batch=2), 32),
        (workload(4096, 14, 128, causal=True), 64),
        (workload(4608, 16, 128, causal=True), 64),
        (workload(4096, 16, 128), 64),
        (workload(4096, 16, 128, causal=True, window=(512, 0)), 64),
        (workload(4096, 16, 112, causal=True), 64),  # where it was not measured
        (workload(1024, 16, 64), 96),
        (workload(512, 16, 64), 64),
        (workload(4096, 16, 64, causal=True), 64),
        (workload(4096, 16, 16), 64),
    ],
)
def test_keys_of_a_tile_are_those_that_won(problem: Problem, keys: int) -> None:
    assert hopper_keys(problem) == keys


@pytest.mark.parametrize("head_dim", [64, 128])
@pytest.mark.parametrize("causal", [False, True])
def test_flash2_is_cut_so_on_hopper(head_dim: int, causal: bool) -> None:
    problem = workload(4096, 16, head_dim, causal=causal)
    assert flash2.cut(problem, ON_HOPPER).block_k == hopper_keys(problem)
