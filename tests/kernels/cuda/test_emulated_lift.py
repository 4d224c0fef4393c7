"""flash3's tiles that begin before a head's first row, in the emulator."""

from dataclasses import replace
from functools import partial

from flashscope.kernels.catalogue.flash3_share import Share, usual_shape
from flashscope.kernels.catalogue.ladder import FLASH3
from flashscope.kernels.cuda import flash3
from flashscope.kernels.cuda.program import Program, ProgramOf, Target
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cuda.emulator.build import Edits
from tests.kernels.cuda.emulator.running import (
    USUAL,
    Setting,
    answer,
    drawn,
    fails,
    forward,
    needs_compiler,
)
from tests.matrix import chosen

pytestmark = needs_compiler
LIFTED = ((128, 65, 66), (128, 100, 192), (128, 193, 250))  # head dim, rows, keys; the second fill a tile
LIFT_MUTANTS: dict[str, Edits] = {
    "rows before the first are stored": (
        ("&& (!LIFTED || row >= 0)", ""),
        ("if (row >= 0 && row < seqlen_q)", "if (row < seqlen_q)"),
    ),
    "a box begins before the first row": (("if (LIFTED && row0 < 0)", "if (false)"),),
    "the last row is in no tile": (("(seqlen_k - seqlen_q) % 64", "(seqlen_k - seqlen_q) % 64 + 1"),),
}


def lifted(head_dim: int, seqlen_q: int, seqlen_k: int) -> tuple[Problem, ProgramOf]:
    """A problem whose tiles begin before its first row, and its program in the usual tiles."""
    problem = Problem(
        heads=4,
        kv_heads=2,
        seqlen_q=seqlen_q,
        seqlen_k=seqlen_k,
        head_dim=head_dim,
        dtype="bfloat16",
        causal=True,
    )
    share = Share(usual_shape(problem))
    assert flash3.flash3_variant(problem, chosen=share).lift
    return problem, partial(flash3.program, chosen=share)


@chosen("head_dim,seqlen_q,seqlen_k", LIFTED, LIFTED[1:2])
def test_tiles_that_begin_before_the_first_row_agree_with_the_oracle(
    head_dim: int, seqlen_q: int, seqlen_k: int
) -> None:
    problem, program = lifted(head_dim, seqlen_q, seqlen_k)
    for seed in range(4):
        verdict = forward("flash3", problem, program, Setting(seed, grid=1))
        assert verdict.passed, (seed, verdict)


@chosen("head_dim,seqlen_q,seqlen_k", LIFTED, LIFTED[:1])
def test_where_tiles_begin_changes_no_bit(head_dim: int, seqlen_q: int, seqlen_k: int) -> None:
    """So that builds that look inside, whose tiles begin at the first row, have the timed kernel's O."""
    problem, lifting = lifted(head_dim, seqlen_q, seqlen_k)

    def at_the_first_row(problem: Problem, device: Target) -> Program:
        program = lifting(problem, device)
        return replace(program, defines={**program.defines, "LIFT": 0})

    programs: tuple[ProgramOf, ...] = (lifting, at_the_first_row)
    found = [answer(FLASH3, problem, made, USUAL, drawn(problem)) for made in programs]
    assert [one.tobytes() for one in found[0]] == [one.tobytes() for one in found[1]]


@chosen("mutant", LIFT_MUTANTS, ())
def test_a_mutant_of_tiles_before_the_first_row_is_found(mutant: str) -> None:
    problem, program = lifted(*LIFTED[1])
    settings = (Setting(seed, grid=1, edits=LIFT_MUTANTS[mutant]) for seed in range(8))
    assert any(fails(partial(forward, "flash3", problem, program, setting)) for setting in settings)
