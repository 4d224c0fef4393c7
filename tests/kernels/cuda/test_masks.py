"""Windows, grouped heads and block masks on a GPU, against the float64 oracle."""

from functools import partial
from itertools import product
from typing import Any

import pytest
from msgspec import structs

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda import flash1, flash2, simt, standard
from flashscope.kernels.cuda.program import SHARED_MEMORY_LIMITS, STEP_COUNTS, Program, ProgramOf, Target
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import DTYPES, Dtype, Problem
from tests.kernels.cuda.running import (
    both_masks,
    each_kernel,
    each_kernel_and_dtype,
    each_sparse_kernel,
    each_sparse_kernel_and_dtype,
    head_dims,
    prepared,
    run,
    skip_unsupported,
    taken,
)

LISTED: dict[str, ProgramOf] = {
    "standard": standard.program,
    "standard-fp32s": partial(standard.program, float_scores=True),
    "simt": simt.program,
    "flash2": flash2.program,
}
SPARSE: dict[str, ProgramOf] = {**LISTED, "flash1": flash1.program}
HOPPER = Target((9, 0), SHARED_MEMORY_LIMITS[9, 0])
LENGTHS = ((113, 203), (203, 113), (1023, 1024), (300, 4500), (700, 100))
WINDOWS = ((0, 0), (64, 0), (100, 37), (-1, 5), (17, -1), (300, 300))
BLOCKS = ((128, 64), (128, 128), (64, 64), (16, 32), (256, 192))


@pytest.mark.gpu
@both_masks
@pytest.mark.parametrize("window", WINDOWS, ids=str)
@each_kernel_and_dtype
def test_every_window_agrees_with_the_oracle(
    name: str, window: tuple[int, int], dtype: Dtype, causal: bool
) -> None:
    problems = [
        Problem(
            heads=2,
            seqlen_q=seqlen_q,
            seqlen_k=seqlen_k,
            head_dim=head_dim,
            dtype=dtype,
            causal=causal,
            window=window,
        )
        for head_dim, (seqlen_q, seqlen_k) in product(head_dims(name), LENGTHS)
    ]
    skip_unsupported(name, problems[0])
    for problem in taken(name, problems):
        verdict = run(name, problem)
        assert verdict.passed, (problem, verdict)


@pytest.mark.gpu
@pytest.mark.parametrize("kv_heads", [1, 2, 3])
@each_kernel_and_dtype
def test_grouped_heads_agree_with_the_oracle(name: str, kv_heads: int, dtype: Dtype) -> None:
    for head_dim in head_dims(name):
        problem = Problem(
            batch=2,
            heads=6,
            kv_heads=kv_heads,
            seqlen_q=150,
            seqlen_k=333,
            head_dim=head_dim,
            dtype=dtype,
            causal=True,
        )
        verdict = run(name, problem)
        assert verdict.passed, (problem, verdict)


@pytest.mark.gpu
@pytest.mark.parametrize("blocks", BLOCKS, ids=str)
@each_sparse_kernel_and_dtype
def test_every_block_mask_agrees_with_the_oracle(name: str, blocks: tuple[int, int], dtype: Dtype) -> None:
    masks = ((64, False, None), (128, True, None), (128, False, (150, 90)), (192, False, (150, 90)))
    for head_dim, causal, window in masks:
        for seqlen_q, seqlen_k in LENGTHS:
            problem = Problem(
                heads=4,
                kv_heads=2,
                seqlen_q=seqlen_q,
                seqlen_k=seqlen_k,
                head_dim=head_dim,
                dtype=dtype,
                causal=causal,
                window=window,
                block_mask=drawn(seqlen_q, seqlen_k, blocks),
            )
            verdict = run(name, problem)
            assert verdict.passed, (problem, verdict)


def drawn(seqlen_q: int, seqlen_k: int, blocks: tuple[int, int]) -> BlockMask:
    return BlockMask.random(
        seqlen_q, seqlen_k, block_q=blocks[0], block_k=blocks[1], kept_share=0.4, seed=seqlen_q
    )


@pytest.mark.gpu
@each_sparse_kernel
def test_rows_whose_blocks_are_all_dropped_are_zero(cp: Any, name: str) -> None:
    mask = BlockMask.random(512, 512, block_q=128, block_k=64, kept_share=0.0)
    problem = Problem(heads=2, seqlen_q=512, seqlen_k=512, dtype="bfloat16", block_mask=mask)
    launch = prepared(name, problem, make_inputs(problem, "cuda"))
    launch.run()
    assert bool((launch.output.astype(cp.float32) == 0).all())
    assert bool(cp.isneginf(launch.lse).all())


@pytest.mark.gpu
@each_sparse_kernel
def test_the_tables_of_a_block_mask_are_predicted(name: str) -> None:
    mask = drawn(600, 900, (128, 64))
    problem = Problem(seqlen_q=600, seqlen_k=900, dtype="bfloat16", block_mask=mask)
    launch = prepared(name, problem, make_inputs(problem, "cuda"))
    assert launch.workspace_bytes == find_kernel(name).workspace_bytes(problem, "cuda") > 0


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_block_mask_no_tile_divides_is_refused(name: str, dtype: Dtype) -> None:
    problem = Problem(seqlen_q=100, seqlen_k=100, dtype=dtype, block_mask=drawn(100, 100, (10, 64)))
    with pytest.raises(InputError, match=r"multiples of 16.*not 10 x 64"):
        SPARSE[name](problem, HOPPER)


@pytest.mark.parametrize("name", LISTED)
def test_the_steps_of_a_block_mask_are_the_tiles_that_hold_a_kept_pair(name: str) -> None:
    for blocks in BLOCKS:
        for causal in (False, True):
            mask = drawn(1023, 700, blocks)
            problem = Problem(seqlen_q=1023, seqlen_k=700, dtype="bfloat16", causal=causal, block_mask=mask)
            assert list(steps(SPARSE[name](problem, HOPPER))) == [
                sum(
                    -(
                        -min(blocks[1], 700 - j * blocks[1])
                        // SPARSE[name](problem, HOPPER).defines[key_tile(name)]
                    )
                    for j in range(mask.shape[1])
                    if mask.keeps(i, j) and problem.mask.pairs(*block(problem, i, j))
                )
                for i in range(mask.shape[0])
            ]


def steps(program: Program) -> Any:
    return program.tables[STEP_COUNTS]


def key_tile(name: str) -> str:
    return "TILE_K" if name == "simt" else "BLOCK_K"


def block(problem: Problem, i: int, j: int) -> tuple[slice, slice]:
    mask = problem.block_mask
    assert mask is not None
    return (
        slice(i * mask.block_q, min(problem.seqlen_q, (i + 1) * mask.block_q)),
        slice(j * mask.block_k, min(problem.seqlen_k, (j + 1) * mask.block_k)),
    )


@pytest.mark.gpu
@each_kernel
def test_a_window_that_reaches_everything_changes_nothing(cp: Any, name: str) -> None:
    problem = Problem(heads=2, seqlen_q=200, seqlen_k=300, dtype="bfloat16")
    inputs = make_inputs(problem, "cuda")
    whole, windowed = (
        prepared(name, structs.replace(problem, window=window), inputs) for window in (None, (500, 500))
    )
    whole.run()
    windowed.run()
    assert bool(cp.abs(whole.output.astype(cp.float32) - windowed.output.astype(cp.float32)).max() < 1e-2)
