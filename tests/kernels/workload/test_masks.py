"""Causal, window, block mask and grouped heads: counted, computed and skipped exactly as defined."""

import dataclasses
from typing import Any
from unittest.mock import patch

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashscope.kernels.catalogue import workspace
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import CAUSAL_ONLY
from flashscope.kernels.cpu import flash1, flash2
from flashscope.kernels.cpu.device import describe
from flashscope.kernels.cpu.tiles import scores
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.oracle.reference import attention_reference
from flashscope.kernels.oracle.verify import sample_rows
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem
from tests.kernels.masked import brute_force, kept, masked_problems
from tests.kernels.running import CPU_KERNELS, judge, run
from tests.matrix import in_rounds

blocks = st.integers(1, 40)


@given(masked_problems())
def test_kept_pairs_and_flops_are_those_of_every_pair_asked_one_by_one(problem: Problem) -> None:
    pairs = int(kept(problem).sum())
    assert problem.kept_pairs == pairs
    assert problem.flops == 4 * problem.batch * problem.heads * pairs * problem.head_dim
    assert problem.kept_share == pairs / (problem.seqlen_q * problem.seqlen_k)


@given(masked_problems())
def test_the_band_of_a_row_and_the_block_mask_are_all_there_is(problem: Problem) -> None:
    unblocked = kept(msgspec.structs.replace(problem, block_mask=None))
    for row in range(problem.seqlen_q):
        assert list(problem.mask.band(row)) == np.flatnonzero(unblocked[row]).tolist()


@given(masked_problems(), blocks, blocks)
def test_a_tile_is_visited_when_it_keeps_a_pair_and_only_then(
    problem: Problem, block_q: int, block_k: int
) -> None:
    everything, mask = kept(problem), problem.mask
    for q in range(0, problem.seqlen_q, block_q):
        for k in range(0, problem.seqlen_k, block_k):
            rows, columns = (
                slice(q, min(q + block_q, problem.seqlen_q)),
                slice(k, min(k + block_k, problem.seqlen_k)),
            )
            assert mask.keeps(rows, columns) == everything[rows, columns].any()
            assert mask.pairs(rows, columns) == everything[rows, columns].sum()


@settings(max_examples=50, deadline=None)
@given(masked_problems())
def test_the_oracle_agrees_with_brute_force_under_every_mask(problem: Problem) -> None:
    inputs = make_inputs(problem, "cpu")
    output, lse = attention_reference(
        *inputs.qkv,
        causal=problem.causal,
        window=problem.window,
        block_mask=problem.block_mask,
        scale=problem.softmax_scale,
    )
    expected, expected_lse = brute_force(problem, inputs)
    np.testing.assert_allclose(output, expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(lse, expected_lse, rtol=1e-12, atol=1e-13)


@in_rounds(9)
@settings(max_examples=12, deadline=None)
@given(masked_problems(longest=150), blocks, blocks)
def test_every_cpu_kernel_passes_under_every_mask_in_any_tiles(
    turn: int, problem: Problem, block_q: int, block_k: int
) -> None:
    inputs = make_inputs(problem, "cpu")
    nothing = ~kept(problem).any(axis=1)
    with patch.multiple(workspace, CPU_BLOCK_Q=block_q, CPU_BLOCK_K=block_k):
        for spec in CPU_KERNELS:
            verdict = judge(spec, problem, inputs)
            assert verdict.passed, (spec.name, verdict)
            launch = run(spec, problem, inputs)
            assert (launch.output[:, :, nothing] == 0).all()
            assert (launch.lse[:, :, nothing] == -np.inf).all()


@in_rounds(4)
@settings(max_examples=25, deadline=None)
@given(masked_problems(), blocks, blocks)
def test_tiled_kernels_compute_exactly_the_tiles_that_keep_a_pair(
    turn: int, problem: Problem, block_q: int, block_k: int
) -> None:
    inputs, everything = make_inputs(problem, "cpu"), kept(problem)
    edges_q, edges_k = range(0, problem.seqlen_q, block_q), range(0, problem.seqlen_k, block_k)
    needed = sum(bool(everything[q : q + block_q, k : k + block_k].any()) for q in edges_q for k in edges_k)
    with patch.multiple(workspace, CPU_BLOCK_Q=block_q, CPU_BLOCK_K=block_k):
        for module in (flash1, flash2):
            with patch.object(module, "scores", wraps=scores) as computed:
                run(find_kernel(module.__name__.rpartition(".")[2]), problem, inputs)
            assert computed.call_count == problem.batch * problem.heads * needed


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
def test_the_tiles_computed_are_in_proportion_to_the_kept_share(share: float) -> None:
    mask = BlockMask.random(256, 320, block_q=16, block_k=32, kept_share=share)
    problem = Problem(seqlen_q=256, seqlen_k=320, block_mask=mask)
    with (
        patch.multiple(workspace, CPU_BLOCK_Q=16, CPU_BLOCK_K=32),
        patch.object(flash2, "scores", wraps=scores) as computed,
    ):
        run(find_kernel("flash2"), problem, make_inputs(problem, "cpu"))
    assert computed.call_count == share * 16 * 10
    assert problem.kept_share == share


def test_grouped_heads_are_repeated_heads() -> None:
    problem = Problem(seqlen_q=30, seqlen_k=41, heads=6, kv_heads=2, causal=True)
    inputs = make_inputs(problem, "cpu")
    assert inputs.k.shape == inputs.v.shape == (1, 2, 41, 64)
    repeated = inputs._replace(k=inputs.k.repeat(3, axis=1), v=inputs.v.repeat(3, axis=1))
    whole = msgspec.structs.replace(problem, kv_heads=None)
    for spec in CPU_KERNELS:
        grouped, plain = run(spec, problem, inputs), run(spec, whole, repeated)
        np.testing.assert_array_equal(grouped.output, plain.output)
        np.testing.assert_array_equal(grouped.lse, plain.lse)


def test_bytes_of_grouped_heads_are_those_of_the_arrays() -> None:
    problem = Problem(seqlen_q=3, seqlen_k=5, batch=2, heads=6, kv_heads=2, head_dim=16)
    assert problem.input_bytes == sum(array.nbytes for array in make_inputs(problem, "cpu").qkv)
    assert problem.k_shape == (2, 2, 5, 16)
    assert problem.score_elements == 2 * 6 * 3 * 5


def test_causal_bounds_the_right_side_of_a_window() -> None:
    both = Problem(seqlen_q=9, seqlen_k=12, causal=True, window=(2, 5))
    assert both.mask == Problem(seqlen_q=9, seqlen_k=12, window=(2, 0)).mask
    assert (
        Problem(seqlen_q=9, seqlen_k=12, causal=True).mask
        == Problem(seqlen_q=9, seqlen_k=12, window=(-1, 0)).mask
    )
    assert Problem(seqlen_q=9, seqlen_k=12, window=(-1, -1)).kept_pairs == 9 * 12


@given(masked_problems(longest=600))
def test_sampled_rows_hold_the_edges_of_window_and_blocks(problem: Problem) -> None:
    rows = set(sample_rows(problem, 64))
    count, mask = problem.seqlen_q, problem.mask
    bands = [mask.band(row) for row in range(count)]
    for end in (lambda b: b.start > 0, lambda b: b.stop < problem.seqlen_k, lambda b: len(b) > 0):
        held = [end(band) for band in bands]
        changes = [row for row in range(1, count) if held[row] != held[row - 1]]
        assert {side for row in changes for side in (row - 1, row)} <= rows
    if problem.block_mask is not None:
        block = problem.block_mask.block_q
        assert {row for row in (block - 1, block) if row < count} <= rows


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"kv_heads": 4}, "kv_heads must divide the 6 heads, not be 4"),
        ({"kv_heads": 0}, "kv_heads must divide the 6 heads, not be 0"),
        ({"kv_heads": 12}, "not be 12"),
        ({"window": (-2, 0)}, "Both sides of window must be at least 0, or -1 for unbounded, not -2 and 0"),
        (
            {"block_mask": BlockMask.random(64, 64, block_q=16, block_k=16, kept_share=0.5)},
            "64 queries and 100 keys in blocks of 16 x 16 need a block mask of 4 x 7 blocks, not 4 x 4",
        ),
    ],
)
def test_an_impossible_mask_is_refused_with_what_is_needed(changed: dict[str, Any], says: str) -> None:
    fields: dict[str, Any] = {"seqlen_q": 64, "seqlen_k": 100, "heads": 6} | changed
    with pytest.raises(InputError, match=says):
        Problem(**fields)


CAUSAL = dataclasses.replace(find_kernel("flash2"), name="a", features={"cpu": CAUSAL_ONLY})


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({}, None),
        ({"causal": True}, None),
        ({"window": (-1, -1), "kv_heads": 4}, None),
        ({"window": (3, -1)}, "a does not take a sliding window on cpu"),
        ({"kv_heads": 2, "causal": True}, "a does not take fewer key/value heads than query heads on cpu"),
        (
            {"kv_heads": 1, "block_mask": BlockMask.random(8, 8, block_q=4, block_k=4, kept_share=0.5)},
            "a does not take fewer key/value heads than query heads and a block mask on cpu",
        ),
    ],
)
def test_a_kernel_refuses_what_its_spec_does_not_name(changed: dict[str, Any], says: str | None) -> None:
    fields: dict[str, Any] = {"seqlen_q": 8, "seqlen_k": 8, "heads": 4} | changed
    assert CAUSAL.unsupported(Problem(**fields), describe()) == says
    assert find_kernel("flash2").unsupported(Problem(**fields), describe()) is None


@pytest.mark.parametrize("head_dim", [136, 192, 256])
def test_the_cpu_kernels_take_wide_heads(head_dim: int) -> None:
    problem = Problem(seqlen_q=30, seqlen_k=50, heads=4, kv_heads=2, head_dim=head_dim, window=(9, 4))
    for spec in CPU_KERNELS:
        assert spec.unsupported(problem, describe()) is None
        assert judge(spec, problem, make_inputs(problem, "cpu")).passed


def test_a_block_mask_is_its_array_again() -> None:
    array = np.array([[True, False, True], [False, False, True]])
    mask = BlockMask.of(array, 8, 16)
    assert mask.shape == (2, 3)
    np.testing.assert_array_equal(mask.array(), array)
    assert [mask.keeps(0, 0), mask.keeps(0, 1), mask.keeps(1, 2)] == [True, False, True]
    assert BlockMask.of(array.T.copy().T, 8, 16) == mask


@given(st.integers(1, 300), st.integers(1, 300), st.floats(0, 1))
def test_a_random_block_mask_keeps_its_share_and_is_drawn_from_its_seed(
    seqlen_q: int, seqlen_k: int, share: float
) -> None:
    first, again = (
        BlockMask.random(seqlen_q, seqlen_k, block_q=16, block_k=32, kept_share=share, seed=3) for _ in "ab"
    )
    assert first == again
    assert first.array().sum() == round(share * first.array().size)
    first.check_fits(seqlen_q, seqlen_k)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: BlockMask.of(np.ones((2, 2)), 8, 8), "boolean array with two axes .* not float64 of shape"),
        (lambda: BlockMask.of(np.ones(4, bool), 8, 8), r"not bool of shape \(4,\)"),
        (lambda: BlockMask.of(np.ones((2, 2), bool), 0, 8), "at least 1 long, not 0 x 8"),
        (lambda: BlockMask.of(np.ones((0, 2), bool), 8, 8), "0 x 2 blocks needs one byte for each"),
        (lambda: BlockMask(block_q=8, block_k=8, shape=(2, 2), kept=b"\1\1\1"), "each, not 3"),
        (lambda: BlockMask(block_q=8, block_k=8, shape=(1, 1), kept=b"\2"), "must be 1 .* or 0"),
        (
            lambda: BlockMask.random(8, 8, block_q=4, block_k=4, kept_share=1.5),
            "between 0 and 1, not 1.5",
        ),
        (lambda: BlockMask.random(8, 8, block_q=4, block_k=0, kept_share=0.5), "at least 1 long, not 4 x 0"),
    ],
)
def test_what_is_no_block_mask_is_refused(make: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


@given(masked_problems())
def test_a_problem_survives_json_and_msgpack(problem: Problem) -> None:
    assert msgspec.json.decode(msgspec.json.encode(problem), type=Problem) == problem
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(problem), type=Problem) == problem
    assert hash(problem) == hash(msgspec.structs.replace(problem))


def test_a_problem_written_before_there_were_masks_still_decodes() -> None:
    old = (
        b'{"seqlen_q":256,"seqlen_k":512,"batch":1,"heads":2,"head_dim":64,"dtype":"float32","causal":true,'
        b'"scale":null,"seed":0}'
    )
    problem = msgspec.json.decode(old, type=Problem)
    assert problem == Problem(seqlen_q=256, seqlen_k=512, heads=2, causal=True)
    assert (problem.key_heads, problem.window, problem.block_mask) == (2, None, None)
