"""flash3's deterministic backward pass and block masks in the emulator: the same bits in every schedule."""

from functools import partial
from itertools import product
from typing import Any

import pytest

from flashscope.kernels.catalogue.workspace_backward import WIDE_HEAD
from flashscope.kernels.cuda import flash3_backward
from flashscope.kernels.oracle.verify_gradients import gradient_criterion
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients
from tests.kernels.cases import in_mode
from tests.kernels.cuda.emulator.build import Edits
from tests.kernels.cuda.emulator.running import (
    USUAL,
    Setting,
    backward,
    fails,
    given,
    gradients_of,
    needs_compiler,
)
from tests.matrix import chosen, matrix

pytestmark = needs_compiler
KEYS, QUERIES = 600, 300
BLOCKS = BlockMask.random(QUERIES, KEYS, block_q=24, block_k=50, kept_share=0.4)
MASKS: dict[str, dict[str, Any]] = {
    "full": {},
    "causal": {"causal": True},
    "window": {"window": (70, 30)},
    "blocks": {"block_mask": BLOCKS},
    "blocks, causal": {"block_mask": BLOCKS, "causal": True},
}
WIDE_MASKS = ("full", "causal", "window")
PLACES = ((None, 1), (None, 3), (None, 10), (2, 2), (3, 3))  # grid, blocks side by side
WIDE_PLACES = tuple((None, residents) for residents in (2, 4, 10, 6))  # pairs of blocks


def problem_of(head_dim: int, mask: str, kv_heads: int) -> Problem:
    return Problem(
        heads=4,
        kv_heads=kv_heads,
        seqlen_q=QUERIES,
        seqlen_k=KEYS,
        head_dim=head_dim,
        dtype="bfloat16",
        **MASKS[mask],
    )


def schedules(problem: Problem, *, edits: Edits = ()) -> list[Gradients]:
    """The gradients in several orders of blocks and threads, each passed by the oracle."""
    problem, found = in_mode(problem), []
    saved = given(problem)
    stay = problem.window is None and problem.block_mask is None and not problem.causal  # else a block a tile
    for seed, (grid, residents) in enumerate(WIDE_PLACES if problem.head_dim > WIDE_HEAD else PLACES):
        gradients = gradients_of(
            "flash3",
            problem,
            saved,
            flash3_backward.program,
            Setting(seed, grid=grid if stay else None, residents=residents, edits=edits),
        )
        verdict = gradient_criterion(problem, saved.inputs, saved.grad_output).judge(gradients)
        assert verdict.passed, (seed, verdict)
        found.append(gradients)
    return found


def differ(found: list[Gradients]) -> bool:
    first = [array.tobytes() for array in found[0]]
    return any([array.tobytes() for array in one] != first for one in found[1:])


@matrix("head_dim mask kv_heads", [*product((64, 128), MASKS, (2, 4))], "mask", few=0)
def test_every_schedule_gives_the_same_bits(head_dim: int, mask: str, kv_heads: int) -> None:
    assert not differ(schedules(problem_of(head_dim, mask, kv_heads)))


@matrix("head_dim mask kv_heads", [*product((192, 256), WIDE_MASKS, (2, 4))], "mask", few=0)
def test_so_does_every_schedule_of_pairs_of_blocks(head_dim: int, mask: str, kv_heads: int) -> None:
    assert not differ(schedules(problem_of(head_dim, mask, kv_heads)))


@pytest.mark.matrix  # it takes seconds
@pytest.mark.parametrize("head_dim", [128, 256])
def test_without_turns_schedules_give_different_bits(head_dim: int) -> None:
    assert differ(schedules(problem_of(head_dim, "full", 2), edits=(("wait_for(counter, before);", ""),)))


@pytest.mark.matrix  # it takes seconds
def test_pairs_of_blocks_that_take_tiles_by_their_numbers_are_found() -> None:
    """The last pairs start first, and wait for such as cannot start."""
    by_number: Edits = (("atomicAdd(counter, 1), kv_heads", "gridDim.x / 2 - 1 - blockIdx.x / 2, kv_heads"),)
    run = partial(backward, "flash3", in_mode(problem_of(256, "full", 2)), flash3_backward.program)
    assert fails(partial(run, Setting(edits=by_number)))
    assert run(USUAL).passed


@chosen("mask", [mask for mask in MASKS if "blocks" in mask], ())
def test_block_masks_agree_with_the_oracle_in_any_order(mask: str) -> None:
    for head_dim, (grid, residents) in product((64, 128), PLACES[1:4:2]):
        run = partial(backward, "flash3", problem_of(head_dim, mask, 2), flash3_backward.program)
        verdict = run(Setting(grid=grid, residents=residents))
        assert verdict.passed, verdict


POLLS = "for (int i = 0; i < 100; ++i) __nanosleep(0);"
LATE: Edits = (("arrive(at.k_full(ks));", f"{POLLS} arrive(at.k_full(ks));"),)
"""What loads falls behind where it passes such keys: the next tile's must not be taken for loaded."""


@pytest.mark.matrix  # it takes seconds
@pytest.mark.parametrize("edits", [(), LATE], ids=["on time", "late"])
@pytest.mark.parametrize(
    ("head_dim", "deterministic"),
    [(64, False), (64, True), (128, False)],
    ids=["any order", "deterministic", "one stage of keys"],
)
def test_blocks_that_stay_pass_keys_that_no_query_sees(
    head_dim: int, deterministic: bool, edits: Edits
) -> None:
    problem = Problem(
        heads=2, seqlen_q=150, seqlen_k=700, head_dim=head_dim, dtype="float16", window=(200, 0)
    )
    problem = in_mode(problem, deterministic)
    for seed in range(2):
        verdict = backward("flash3", problem, flash3_backward.program, Setting(seed, grid=1, edits=edits))
        assert verdict.passed, (seed, verdict)
