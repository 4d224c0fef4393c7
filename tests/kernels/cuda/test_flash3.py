"""What is special about flash3 and its steps, on a Hopper GPU; test_kernels.py and test_masks.py do the rest.

Blocks stay and draw tiles, so problems here have more tiles than blocks, and the timed build, which does not
trap where a barrier never completes, repeats a thousand times.
"""

from typing import Any

import pytest

from flashscope.kernels.catalogue.ladder import FLASH3
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.workspace import TILE_COUNTER
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.launching.launch import make_inputs, prepare
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cuda.running import ON_HOPPER, both_masks, differing_bits, judged, prepared, run

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("hopper"), pytest.mark.timeout(300)]

HEAD_DIMS = FLASH3.head_dims["cuda"]
WINDOWS = (None, (400, 90))
BLOCKS = (
    (128, 64),
    (7, 8),
    (100, 40),
    (1000, 1000),
    (1500, 16),
)  # tiles are no multiples of them, nor they of tiles
each_step = pytest.mark.parametrize("name", ON_HOPPER)


@pytest.fixture
def hopper() -> None:
    """Skip on every other GPU: flash3's code runs on compute capability 9.0 alone."""
    found = describe().compute_capability
    if found != (9, 0):
        pytest.skip(f"needs compute capability 9.0, this GPU has {found}")


@both_masks
@each_step
def test_tiles_that_blocks_draw_one_after_the_other_agree_with_the_oracle(name: str, causal: bool) -> None:
    for head_dim in HEAD_DIMS:
        problem = Problem(
            heads=24, seqlen_q=1023, seqlen_k=1400, head_dim=head_dim, dtype="bfloat16", causal=causal
        )
        verdict = run(name, problem)
        assert verdict.passed, (head_dim, verdict)


@both_masks
@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("blocks", BLOCKS, ids=str)
def test_blocks_need_not_fit_the_tiles(
    blocks: tuple[int, int], window: tuple[int, int] | None, causal: bool
) -> None:
    for head_dim in HEAD_DIMS:
        for share in (0.1, 0.5, 1.0):
            problem = sparse(head_dim, blocks, share, causal=causal, window=window)
            verdict = run("flash3", problem)
            assert verdict.passed, (head_dim, share, verdict)


def sparse(head_dim: int, blocks: tuple[int, int], share: float, **masks: Any) -> Problem:
    mask = BlockMask.random(1023, 1400, block_q=blocks[0], block_k=blocks[1], kept_share=share, seed=head_dim)
    return Problem(
        heads=24,
        kv_heads=8,
        seqlen_q=1023,
        seqlen_k=1400,
        head_dim=head_dim,
        dtype="bfloat16",
        block_mask=mask,
        **masks,
    )


@both_masks
@each_step
@pytest.mark.parametrize("head_dim", [64, 128, 256])
def test_a_thousand_runs_agree_to_the_bit(cp: Any, head_dim: int, name: str, causal: bool) -> None:
    problem = Problem(
        heads=48, seqlen_q=1500, seqlen_k=1400, head_dim=head_dim, dtype="bfloat16", causal=causal
    )
    check_a_thousand_runs(cp, name, problem)


@both_masks
@pytest.mark.parametrize("head_dim", [64, 128, 256])
def test_a_thousand_runs_under_a_block_mask_agree_to_the_bit(cp: Any, head_dim: int, causal: bool) -> None:
    check_a_thousand_runs(cp, "flash3", sparse(head_dim, (128, 64), 0.4, causal=causal))


def check_a_thousand_runs(cp: Any, name: str, problem: Problem) -> None:
    """Of the build that is timed: where blocks draw tiles, these go to other blocks in every run."""
    inputs = make_inputs(problem, "cuda")
    assert run(name, problem, inputs).passed  # guarded: it would not hang
    launch: Any = prepare(find_kernel(name), problem, inputs, "cuda")
    assert differing_bits(cp, launch, runs=1000) == 0
    assert judged(name, problem, inputs, launch.output, launch.lse).passed


@each_step
def test_every_run_leaves_the_tile_counter_at_zero(cp: Any, name: str) -> None:
    problem = Problem(heads=24, seqlen_q=900, seqlen_k=900, dtype="bfloat16", causal=True)
    launch: Any = prepared(name, problem, make_inputs(problem, "cuda"))
    for _ in range(3):
        launch.run()
        assert int(cp.abs(launch.workspace[TILE_COUNTER]).sum()) == 0
