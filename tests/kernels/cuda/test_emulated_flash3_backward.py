"""flash3's backward pass in the emulator against the oracle; what breaks it on purpose is found."""

from functools import partial
from itertools import product
from typing import Any

from msgspec.structs import replace

from flashscope.kernels.cuda import flash3_backward
from flashscope.kernels.cuda.design.cut import program_of, spec_of
from flashscope.kernels.oracle.verdict import Verdict
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.problem import Dtype, Problem
from tests.kernels.cuda.emulator.build import Edits
from tests.kernels.cuda.emulator.running import Setting, backward, fails, needs_compiler
from tests.matrix import chosen, matrix

pytestmark = needs_compiler
LENGTHS = ((1, 1), (113, 203), (300, 290), (203, 113))
MASKS = ("full", "causal", "window")
DTYPES: tuple[Dtype, ...] = ("float16", "bfloat16")

EXPECTED = "expect(bar, panels * panel_bytes"
MUTANTS: dict[str, Edits] = {
    "V is not waited for": (("if (step == 0) wait(at.v_full(ks), key_ring.phase);", ""),),
    "dO is not waited for": (("wait(at.grad_full(stage), ring.phase);", ""),),
    "Q is overwritten while it is read": (("wait(at.q_empty(s), ring.phase ^ 1);", ""),),
    "keys are drawn too early": (("wait(at.keys_empty(ks), key_ring.phase ^ 1);", ""),),
    "no turns": (("named_sync(turn_of(part));", ""),),
    "the other's turn": (("named_sync(turn_of(part));", "named_sync(turn_of(1 - part));"),),
    "dS of the wrong step": (("start_dq_of(stage ^ lag);", "start_dq_of(stage);"),),
    "dS is not published": (
        (
            "publish_stores();\n               \n                named_sync(turn_of(part));",
            "named_sync(turn_of(part));",
        ),
    ),
    "dQ is read under way": (("wgmma_wait<2>();", ""),),
    "S is read under way": (("wgmma_wait<1>();\n                pin(s);", "pin(s);"),),
    "rows behind the last": (("if (row + 8 * r < rows && (", "if (row < rows && ("),),
    "sums of dQ behind the last": (("if (step >= lag) {", "{"),),
    "a copy of other bytes": (
        ("expect(bar, panels * panel_bytes);", "expect(bar, panels * panel_bytes - 16);"),
    ),
    "a key too far right": (("column < visible.from[r]", "column <= visible.from[r]"),),
}


def run(problem: Problem, seed: int, *, edits: Edits = (), grid: int | None = None) -> Verdict:
    return backward("flash3", problem, flash3_backward.program, Setting(seed, grid=grid, edits=edits))


@matrix("head_dim dtype mask lengths", [*product((64, 128), DTYPES, MASKS, LENGTHS)], "head_dim mask", few=2)
def test_gradients_agree_with_the_oracle(
    head_dim: int, dtype: Dtype, mask: str, lengths: tuple[int, int]
) -> None:
    problem = Problem(
        heads=2,
        kv_heads=1,
        seqlen_q=lengths[0],
        seqlen_k=lengths[1],
        head_dim=head_dim,
        dtype=dtype,
        causal=mask == "causal",
        window=(70, 30) if mask == "window" else None,
    )
    for seed in range(2):
        verdict = run(problem, seed)
        assert verdict.passed, (seed, verdict)


WALKS: dict[str, dict[str, Any]] = {
    "one step": {"seqlen_q": 160, "seqlen_k": 160},
    "whole tiles": {"seqlen_q": 240, "seqlen_k": 256},
    "every place of a tile": {"seqlen_q": 640, "seqlen_k": 640},
    "a group": {"seqlen_q": 300, "seqlen_k": 290, "heads": 4, "kv_heads": 1},
    "more queries than keys": {"seqlen_q": 240, "seqlen_k": 130},
    "a window": {"seqlen_q": 300, "seqlen_k": 330, "window": (70, -1)},
}


@chosen("walk,rows,seed", [*product(WALKS, (80, 64), range(4))], [("one step", 64, 0)])
def test_a_first_step_that_sees_half_of_the_keys_is_taken_before_the_others(
    walk: str, rows: int, seed: int
) -> None:
    problem = Problem(head_dim=128, dtype="float16", causal=True, **{"heads": 2, **WALKS[walk]})
    cut = Cut(kernel="flash3 backward", groups=2, queries=rows, stages=1)
    verdict = backward(spec_of(cut), problem, partial(program_of, cut), Setting(seed, grid=2))
    assert verdict.passed, verdict


@chosen("head_dim,seed", [*product((64, 128), range(40))], ())
def test_blocks_that_stay_draw_many_tiles(head_dim: int, seed: int) -> None:
    problem = Problem(
        heads=2, kv_heads=1, seqlen_q=300, seqlen_k=700, head_dim=head_dim, dtype="float16", causal=True
    )
    verdict = run(problem, seed, grid=2)
    assert verdict.passed, verdict


OF_ROWS: dict[str, Edits] = {
    "one buffer of dS": (
        ("put_weights(ds_row + stage * DS_BYTES, ds);", "put_weights(ds_row, ds);"),
        ("ds_own + stage * DS_BYTES", "ds_own"),
    ),
}
TURNED: dict[str, Edits] = {
    "one buffer of dS": (
        ("ds_row + stage * DS_BYTES);", "ds_row);"),
        ("ds_own + stage * DS_BYTES", "ds_own"),
        ("at.ds + stage * DS_BYTES + part", "at.ds + part"),
    ),
    "the other's dS for dK": (("part * Q_PANEL, 0), q_now", "(1 - part) * Q_PANEL, 0), q_now"),),
    "delta of other queries": (("load_delta(delta + (i + 8) * 8)", "load_delta(delta + i * 8)"),),
    "rows of dQ behind the last": (("if (q0 + row < seqlen_q)\n", "\n"),),
    "rows of dQ before they are there": (
        ("__syncthreads();\n    constexpr int ROW_CHUNKS", "constexpr int ROW_CHUNKS"),
    ),
    "a first step that a query sees": (("* BLOCK_Q + BLOCK_Q - 1) <= k_first", "* BLOCK_Q) <= k_first"),),
    "dS of a first step that no query sees is not 0": (("hide_weights(weights + part * Q_PANEL);", ""),),
    "that 0 is not published": (
        (
            "publish_stores();\n               \n                named_sync(Barrier::SECOND_TURN);",
            "named_sync(Barrier::SECOND_TURN);",
        ),
    ),
    "the other's dS of that step is not waited for": (("named_sync(Barrier::SECOND_TURN);", ""),),
    "that dQ is read under way": (("wgmma_wait<0>();\n                pin(dq);\n", "pin(dq);\n"),),
    "that dQ is not added": (
        ("else add_at_once();\n               \n                ring", "else {}\n                ring"),
    ),
    "that step is not released": (("if (leader) arrive(at.q_empty(ring.stage));", ""),),
    "the last dS is announced a step early": (("step == steps - 1", "step == max(steps - 2, 0)"),),
    "that step is taken twice": (("++step;", ""),),
}
CASES = [*product((64, 128), MUTANTS), *product((64,), OF_ROWS), *product((128,), TURNED)]


@chosen("head_dim,mutant", CASES, ())
def test_a_mutant_is_found(head_dim: int, mutant: str) -> None:
    edits = (MUTANTS | (OF_ROWS if head_dim == 64 else TURNED))[mutant]
    usual = Problem(
        heads=2, kv_heads=1, seqlen_q=300, seqlen_k=700, head_dim=head_dim, dtype="float16", causal=True
    )
    one_step = replace(usual, seqlen_q=100, seqlen_k=1300, causal=False)  # keys are drawn fast
    tries = product((usual, one_step), range(16))
    assert any(fails(partial(run, problem, seed, edits=edits, grid=2)) for problem, seed in tries)
