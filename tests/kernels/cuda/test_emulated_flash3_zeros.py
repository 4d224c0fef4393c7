"""Sums of dQ that flash3's backward pass zeroes section by section: in the emulator against the oracle."""

from functools import partial
from itertools import product
from typing import Any

import pytest
from msgspec import structs

from flashscope.kernels.catalogue.workspace_backward import NARROW_HEAD, ZEROED, flash3
from flashscope.kernels.cuda import flash3_backward
from flashscope.kernels.oracle.verdict import Verdict
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cases import in_mode
from tests.kernels.cuda.builds import ON_HOPPER
from tests.kernels.cuda.compiled import workload
from tests.kernels.cuda.emulator.build import Edits
from tests.kernels.cuda.emulator.running import Setting, backward, fails, needs_compiler
from tests.matrix import chosen, matrix

SHORT = {"seqlen_q": 150, "seqlen_k": 203}
SHAPES: dict[str, dict[str, Any]] = {
    "sections of one head": {"heads": 3, **SHORT},
    "a last section of fewer": {"heads": 5, **SHORT},
    "a group": {"heads": 6, "kv_heads": 3, **SHORT},
    "batches": {"batch": 2, "heads": 2, "kv_heads": 2, **SHORT},
    "one tile a head": {"heads": 7, "seqlen_q": 113, "seqlen_k": 70},
    "more queries than keys": {"heads": 3, "seqlen_q": 290, "seqlen_k": 130},
    "one query": {"heads": 4, "seqlen_q": 1, "seqlen_k": 300},
}
TOGETHER = {"a last section of fewer": 2, "one tile a head": 2}
GRIDS = (None, 2, 3)  # a block a tile, blocks that stay, and more of them than run at a time


def problem_of(shape: str, head_dim: int, *, causal: bool = False) -> Problem:
    return Problem(head_dim=head_dim, dtype="float16", causal=causal, **SHAPES[shape])


def run(problem: Problem, together: int, seed: int, *, edits: Edits = (), grid: int | None = None) -> Verdict:
    """Heads in sections of `together`, whatever the L2 holds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flash3_backward, "section", lambda problem: together if problem.causal else 1)
        patch.setattr(flash3_backward, "zeroed_together", lambda _: together)
        return backward("flash3", problem, flash3_backward.program, Setting(seed, grid=grid, edits=edits))


@needs_compiler
@matrix(
    "head_dim causal shape grid",
    [*product((64, 128), (False, True), SHAPES, GRIDS)],
    "head_dim causal grid",
    "shape",
    few=0,
)
def test_gradients_agree_with_the_oracle_where_sections_are_many(
    head_dim: int, causal: bool, shape: str, grid: int | None
) -> None:
    problem = problem_of(shape, head_dim, causal=causal)
    for seed in range(6):
        verdict = run(problem, TOGETHER.get(shape, 1), seed, grid=grid)
        assert verdict.passed, (seed, verdict)


@pytest.mark.matrix
@needs_compiler
def test_one_section_leaves_nothing_to_the_main_launch() -> None:
    problem = problem_of("sections of one head", 64)
    unused: Edits = (("if (section > known)", 'if (section > known) asm volatile("trap;");'),)
    for edits in ((), unused):
        verdict = run(problem, 3, 0, edits=edits, grid=2)
        assert verdict.passed, verdict


SHARE = "float4* to = reinterpret_cast<float4*>(dq_sums) + ((long long)first"
LATE: Edits = ((SHARE, f"for (int i = 0; share % 3 == 0 && i < 200; ++i) __nanosleep(0); {SHARE}"),)
"""Some shares fall behind the others, and behind what waits for them."""
FIRST, LEFT, TAKEN = "const int first = section", "while (zero_share(dq_sums, section)) {}", "share >= shares"
COUNT = 'if (lane == 0)\n            asm volatile("red.release'
EARLY = "if (lane == 0) atomicAdd(counters + section * 2 + 1, 1);"
ANNOUNCED = "if (leader) arrive(sums_are_zero(at, ks));"
MUTANTS: dict[str, Edits] = {
    "V does not wait": (("wait(sums_are_zero(at, ks), key_ring.phase);", ""),),
    "shares of others are not waited for": (("if (leader) wait_for(zeroed, shares);", ""),),
    "sums are announced before they are zero": (
        (ANNOUNCED, ""),
        ("if (section > known)", f"{ANNOUNCED} if (section > known)"),
    ),
    "only one section is waited for": (("known = section", "known = zeros.kv_heads"),),
    "the section at work is zeroed": (("zero_share(dq_sums, section + 1)", "zero_share(dq_sums, section)"),),
    "other heads are zeroed": ((f"{FIRST} * together", FIRST),),
    "the last line of a share is left out": (("left > 0; --left", "left > 1; --left"),),
    "a share is left out": (("int left = min(each,", "int left = share == 0 ? 0 : min(each,"),),
    "a share is counted before it is zero": (
        (FIRST, f"{EARLY} {FIRST}"),
        (COUNT, COUNT.replace("lane == 0", "lane < 0")),
    ),
    "what is left is not taken": ((LEFT, ""),),
    "a share too many is taken": ((TAKEN, "share > shares"),),
    "the first section is left out in part": (("head < zeroed_heads", "head < zeroed_heads - 1"),),
    "one counter is not reset": (("q0 == 0 && threadIdx.x < 2", "q0 == 0 && threadIdx.x < 1"),),
    "counters are taken from before they are reset": (
        ("wait_for_launch_before();\n    const bool leader", "const bool leader"),
    ),
    "a place for keys is taken from who reads it": (("(1 ? ZERO_WARPS : 0)", "0"),),
}
CASES = [*product((64, 128), MUTANTS)]


def late(head_dim: int, seed: int, edits: Edits = ()) -> Verdict:
    """Three sections, the last one smaller, of heads with two tiles each; blocks that stay or do not."""
    problem = problem_of("a last section of fewer", head_dim, causal=head_dim == NARROW_HEAD)
    return run(problem, 2, seed, edits=(*LATE, *edits), grid=GRIDS[seed % len(GRIDS)])


@pytest.mark.matrix
@needs_compiler
@chosen("head_dim", (64, 128), {64})
def test_shares_may_be_late(head_dim: int) -> None:
    for seed in range(6):
        verdict = late(head_dim, seed)
        assert verdict.passed, (seed, verdict)


@needs_compiler
@chosen("head_dim,mutant", CASES, ())
def test_a_mutant_is_found(head_dim: int, mutant: str) -> None:
    assert any(fails(partial(late, head_dim, seed, MUTANTS[mutant])) for seed in range(24))


@pytest.mark.parametrize(
    ("heads", "batch", "seqlen", "causal", "together"),
    [
        (16, 16, 1024, False, 32),
        (32, 16, 1024, True, 64),
        (16, 8, 2048, False, 16),
        (32, 8, 2048, True, 32),
        (16, 1, 16384, False, 2),
        (32, 1, 65536, True, 1),
    ],
)
def test_sums_of_two_rounds_of_blocks_are_zeroed_together_if_the_l2_holds_them(
    heads: int, batch: int, seqlen: int, causal: bool, together: int
) -> None:
    problem = structs.replace(
        workload(64 if causal else 128, causal=causal),
        heads=heads,
        batch=batch,
        seqlen_q=seqlen,
        seqlen_k=seqlen,
    )
    assert flash3_backward.zeroed_together(problem) == together
    assert together % flash3_backward.section(problem) == 0
    first, main, _ = flash3_backward.program(problem, ON_HOPPER).launches
    assert first.given[-2:] == (together, ZEROED)
    assert main.given[-3:] == (2 * together * (seqlen // 128), together, ZEROED)


@pytest.mark.parametrize(
    ("head_dim", "changes", "deterministic", "ahead"),
    [
        (64, {}, False, True),
        (64, {"causal": True}, False, True),
        (128, {}, False, True),
        (128, {"causal": True}, False, False),  # it loses there
        (128, {}, True, False),
        (64, {"window": (70, 30)}, False, False),
        (
            64,
            {"block_mask": BlockMask.random(8192, 8192, block_q=128, block_k=64, kept_share=0.5)},
            False,
            False,
        ),
        (192, {}, False, False),
    ],
)
def test_sums_are_zeroed_ahead_where_two_warps_are_left(
    head_dim: int, changes: dict[str, Any], deterministic: bool, ahead: bool
) -> None:
    problem = in_mode(structs.replace(workload(head_dim), **changes), deterministic)
    taken = {
        name
        for stage in flash3_backward.program(problem, ON_HOPPER).launches
        for name in stage.given
        if isinstance(name, str)
    }
    declared = {buffer.name: buffer.shape for buffer in flash3(problem, "cuda")}
    assert (ZEROED in taken) == (ZEROED in declared) == ahead
    assert not ahead or declared[ZEROED] == (problem.batch, problem.heads, 2)
