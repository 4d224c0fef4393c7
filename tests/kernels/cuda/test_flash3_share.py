"""flash3's split keys, packed heads and smaller tiles against the oracle, forced and chosen, on Hopper."""

import itertools
from collections.abc import Iterable
from typing import Any

import pytest
from msgspec import structs

from flashscope.kernels.catalogue.flash3_share import (
    MOST_GROUPS_SHARED,
    Share,
    packed_heads,
    share,
    small_shapes,
    usual_shape,
)
from flashscope.kernels.catalogue.ladder import FLASH3
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.launching.launch import make_inputs, prepare
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.cases import rising_in_every_second_row
from tests.kernels.cuda.packed import OTHERS, of_other, ways
from tests.kernels.cuda.running import both_masks, differing_bits, judged, run, shared

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("hopper"), pytest.mark.timeout(300)]

LENGTHS = (
    *((1, 1), (1, 239), (1, 5000), (3, 799), (37, 4100), (64, 128), (113, 203), (239, 1)),
    *((700, 180), (799, 3), (1023, 1024), (1024, 1023)),
)
FEW_ROWS = [
    Problem(
        batch=batch,
        heads=heads,
        kv_heads=kv_heads,
        seqlen_q=seqlen_q,
        seqlen_k=seqlen_k,
        head_dim=head_dim,
        dtype="bfloat16",
        causal=causal,
    )
    for batch, heads, kv_heads, seqlen_q, seqlen_k, head_dim, causal in (
        (3, 30, 10, 150, 4921, 256, True),
        (2, 44, 11, 275, 4514, 64, True),
        (3, 18, 9, 167, 7136, 128, True),
        (1, 27, 9, 138, 15677, 192, False),
        (1, 21, 7, 421, 9389, 96, True),
        (1, 48, 16, 407, 7871, 128, False),
        (2, 32, 32, 275, 16384, 192, True),
    )
]
WINDOWS = ((30, 20), (700, 0), (-1, 5), (5, -1))
each_parts = pytest.mark.parametrize("splits", [1, 2, 7, 20])
each_width = pytest.mark.parametrize("head_dim", [64, 128, 256])


@pytest.fixture
def hopper() -> None:
    """Skip on every other GPU."""
    found = describe().compute_capability
    if found != (9, 0):
        pytest.skip(f"needs compute capability 9.0, this GPU has {found}")


def shares(problem: Problem, splits: int) -> list[Share]:
    """Every tile with so many parts, heads packed or not; of fewer keys than parts, some are empty.

    Where more is asked than a causal mask, only what `share` takes there.
    """
    shapes, group = (usual_shape(problem), *small_shapes(problem)), problem.heads // problem.key_heads
    if problem.features - {"causal", "gqa"}:
        ways = [(one, packed_heads(problem, one)) for one in shapes if one.groups <= MOST_GROUPS_SHARED]
    else:
        ways = [*itertools.product(shapes, sorted({1, group}))]
    return [Share(*way, splits, draws) for way, draws in itertools.product(ways, (False, True))]


def check(problem: Problem, chosen_ways: Iterable[Share]) -> None:
    """Every such share agrees with the oracle."""
    inputs = make_inputs(problem, "cuda")
    for chosen in chosen_ways:
        launch = shared(problem, inputs, chosen)
        launch.run()
        verdict = judged("flash3", problem, inputs, launch.output, launch.lse)
        assert verdict.passed, (chosen, verdict)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("rise", [3.0, 7.5, 8.5, 40.0])
def test_a_maximum_may_rise_by_any_step(cp: Any, rise: float, dtype: Dtype) -> None:
    """Usual tiles rescale seldom."""
    for head_dim, draws in itertools.product(FLASH3.head_dims["cuda"], (False, True)):
        problem = Problem(heads=2, seqlen_q=300, seqlen_k=2100, head_dim=head_dim, dtype=dtype, scale=1.0)
        case = rising_in_every_second_row(problem, rise)
        inputs = Inputs(*(cp.asarray(array).astype(storage_dtype(dtype)) for array in case.inputs.qkv))
        launch = shared(problem, inputs, Share(usual_shape(problem), draws=draws))
        launch.run()
        verdict = judged("flash3", problem, inputs, launch.output, launch.lse)
        assert verdict.passed, (head_dim, draws, verdict)


@both_masks
@each_parts
@each_width
def test_parts_of_any_length_agree_with_the_oracle(head_dim: int, splits: int, causal: bool) -> None:
    for seqlen_q, seqlen_k in LENGTHS:
        problem = Problem(
            batch=2,
            heads=6,
            kv_heads=2,
            seqlen_q=seqlen_q,
            seqlen_k=seqlen_k,
            head_dim=head_dim,
            dtype="bfloat16",
            causal=causal,
        )
        check(problem, shares(problem, splits))


@both_masks
@each_parts
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_parts_under_a_window_agree_with_the_oracle(
    window: tuple[int, int], splits: int, causal: bool
) -> None:
    for seqlen_q, head_dim in ((50, 64), (50, 192), (500, 128)):
        problem = Problem(
            heads=6,
            kv_heads=2,
            seqlen_q=seqlen_q,
            seqlen_k=3001,
            head_dim=head_dim,
            dtype="float16",
            causal=causal,
            window=window,
        )
        check(problem, shares(problem, splits))


@both_masks
@pytest.mark.parametrize("blocks", [(128, 64), (7, 8), (100, 40)], ids=str)
def test_parts_under_a_block_mask_agree_with_the_oracle(blocks: tuple[int, int], causal: bool) -> None:
    for head_dim, splits in itertools.product((64, 128, 256), (2, 5)):
        mask = BlockMask.random(300, 1400, block_q=blocks[0], block_k=blocks[1], kept_share=0.4, seed=1)
        problem = Problem(
            heads=6,
            kv_heads=2,
            seqlen_q=300,
            seqlen_k=1400,
            head_dim=head_dim,
            dtype="bfloat16",
            causal=causal,
            block_mask=mask,
        )
        inputs = make_inputs(problem, "cuda")
        launch = shared(problem, inputs, Share(usual_shape(problem), splits=splits))
        launch.run()
        verdict = judged("flash3", problem, inputs, launch.output, launch.lse)
        assert verdict.passed, (head_dim, splits, verdict)


@both_masks
@each_width
@pytest.mark.parametrize("kind", OTHERS)
def test_heads_packed_under_other_masks_layouts_and_scores_agree_with_the_oracle(
    kind: str, head_dim: int, causal: bool
) -> None:
    """More tiles than SMs, too."""
    for kv_heads, splits in ((1, 1), (1, 3), (40, 2)):
        problem = of_other(kind, head_dim, causal=causal, kv_heads=kv_heads)
        check(problem, ways(problem, splits))


@pytest.mark.parametrize("scale", [0.0, -0.3, 250.0])
def test_parts_under_any_scale_agree_with_the_oracle(scale: float) -> None:
    for head_dim in FLASH3.head_dims["cuda"]:
        problem = Problem(
            heads=2, seqlen_q=9, seqlen_k=1000, head_dim=head_dim, dtype="bfloat16", scale=scale
        )
        check(problem, shares(problem, 3))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads", [1, 8, 40])
def test_what_is_chosen_agrees_with_the_oracle(heads: int, causal: bool) -> None:
    for seqlen_q, seqlen_k, head_dim in itertools.product(
        (1, 5, 70, 700), (100, 3000, 30001), (64, 96, 128, 256)
    ):
        problem = Problem(
            heads=heads,
            kv_heads=max(1, heads // 8),
            seqlen_q=seqlen_q,
            seqlen_k=seqlen_k,
            head_dim=head_dim,
            dtype="bfloat16",
            causal=causal,
        )
        verdict = run("flash3", problem)
        assert verdict.passed, (problem, share(problem), verdict)


@pytest.mark.parametrize("problem", FEW_ROWS, ids=lambda one: f"{one.seqlen_q} x {one.seqlen_k}")
def test_few_rows_before_many_keys_agree_with_the_oracle_and_in_every_run(cp: Any, problem: Problem) -> None:
    """Heads packed into several tiles, and parts of more tiles than SMs, as they are chosen."""
    inputs = make_inputs(problem, "cuda")
    chosen = share(problem)
    assert chosen.pack_gqa * chosen.splits > 1
    verdict = run("flash3", problem, inputs)
    assert verdict.passed, (chosen, verdict)
    assert differing_bits(cp, prepare(FLASH3, problem, inputs, "cuda"), runs=100) == 0


@both_masks
@each_width
def test_a_thousand_runs_in_parts_agree_to_the_bit(cp: Any, head_dim: int, causal: bool) -> None:
    problem = Problem(
        heads=16, kv_heads=4, seqlen_q=5, seqlen_k=20000, head_dim=head_dim, dtype="bfloat16", causal=causal
    )
    assert share(problem).splits > 1
    inputs = make_inputs(problem, "cuda")
    assert run("flash3", problem, inputs).passed
    assert differing_bits(cp, prepare(FLASH3, problem, inputs, "cuda"), runs=1000) == 0


def test_rows_that_see_no_key_of_any_part_are_zero(cp: Any) -> None:
    problem = Problem(heads=4, seqlen_q=300, seqlen_k=100, dtype="bfloat16", causal=True)
    for chosen in shares(problem, 2):
        launch = shared(problem, make_inputs(problem, "cuda"), chosen)
        launch.run()
        assert bool((launch.output[:, :, :200].astype(cp.float32) == 0).all())
        assert bool(cp.isneginf(launch.lse[:, :, :200]).all())


def test_parts_come_to_what_the_whole_does(cp: Any) -> None:
    problem = Problem(heads=4, seqlen_q=200, seqlen_k=5000, head_dim=128, dtype="bfloat16")
    inputs = make_inputs(problem, "cuda")
    whole, parts = (shared(problem, inputs, Share(usual_shape(problem), splits=splits)) for splits in (1, 9))
    whole.run()
    parts.run()
    assert float(cp.abs(whole.lse - parts.lse).max()) < 1e-5
    difference = cp.abs(whole.output.astype(cp.float32) - parts.output.astype(cp.float32))
    assert float(difference.max()) <= 2**-8 * float(cp.abs(whole.output.astype(cp.float32)).max())


def test_a_launch_tells_why_it_is_cut_so_and_holds_what_the_ledger_says(cp: Any) -> None:
    problem = Problem(heads=8, seqlen_q=1, seqlen_k=50000, head_dim=128, dtype="bfloat16")
    launch: Any = prepare(FLASH3, problem, make_inputs(problem, "cuda"), "cuda")
    assert launch.note == share(problem).reason
    assert launch.workspace_bytes == FLASH3.workspace_bytes(problem, "cuda") > 8
    unsplit = structs.replace(problem, seqlen_k=100)
    assert FLASH3.workspace_bytes(unsplit, "cuda") == 8
