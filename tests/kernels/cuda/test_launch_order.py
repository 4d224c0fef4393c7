"""Launches that begin while the one before them ends: which, and that they wait, without a GPU."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from flashscope.kernels.catalogue.flash3_share import Share, TileShape
from flashscope.kernels.catalogue.ladder import FLASH3
from flashscope.kernels.catalogue.workspace import flash3_shared
from flashscope.kernels.cuda import flash3, flash3_backward, flash3_fp8, standard
from flashscope.kernels.cuda.program import SHARED_MEMORY_LIMITS, Program, ProgramOf, Target
from flashscope.kernels.oracle.verdict import Verdict
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cases import in_mode
from tests.kernels.cuda.builds import ON_HOPPER
from tests.kernels.cuda.compiled import check
from tests.kernels.cuda.cubin import disassembled
from tests.kernels.cuda.emulator.build import Edits
from tests.kernels.cuda.emulator.running import Setting, backward, fails, forward, needs_compiler
from tests.matrix import chosen

AMPERE = Target((8, 0), SHARED_MEMORY_LIMITS[8, 0], multiprocessors=108)
IN_PARTS = Share(TileShape(1, 64), pack_gqa=1, splits=3, draws=False)
BACKWARD, DETERMINISTIC = "flash3 backward", "flash3 backward deterministic"
PROBLEM = Problem(heads=2, kv_heads=1, seqlen_q=70, seqlen_k=150, head_dim=64, dtype="bfloat16")
WIDER = Problem(heads=2, kv_heads=1, seqlen_q=70, seqlen_k=150, head_dim=256, dtype="bfloat16")


def program_of(name: str, problem: Problem = PROBLEM, target: Target = ON_HOPPER) -> Program:
    if name == "flash3":
        return flash3.program(problem, target, chosen=IN_PARTS)
    if name in (BACKWARD, DETERMINISTIC):
        return flash3_backward.program(in_mode(problem, name == DETERMINISTIC), target)
    of_problem: ProgramOf = flash3_fp8.program if name == "flash3-fp8" else standard.program
    return of_problem(problem, target)


PROGRAMS = {
    "flash3": ["flash3", "flash3_combine"],
    "flash3-fp8": ["quantise", "flash3_fp8"],
    "standard": ["standard_scores", "standard_softmax", "standard_output"],
    BACKWARD: ["flash3_backward_rows", "flash3_backward", "flash3_backward_finish"],
    DETERMINISTIC: ["flash3_backward_rows", "flash3_backward", "flash3_backward_finish"],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_launches_but_the_first_follow(name: str) -> None:
    found = [(stage.entry, stage.pdl) for stage in program_of(name).launches]
    assert found == [(entry, place > 0) for place, entry in enumerate(PROGRAMS[name])]


def test_none_does_on_a_gpu_that_cannot() -> None:
    assert not any(stage.pdl for stage in program_of("standard", target=AMPERE).launches)


@chosen("name", PROGRAMS, ())
def test_who_is_followed_says_when_and_who_follows_waits(name: str) -> None:
    """PREEXIT lets the next launch begin, ACQBULK waits for the one before."""
    program = program_of(name)
    listing = disassembled(check(program, ON_HOPPER))
    codes = {code.split(":", 1)[0]: code for code in listing.split("\n.text.")[1:]}
    for place, stage in enumerate(program.launches):
        assert ("ACQBULK" in codes[stage.entry]) == stage.pdl
        assert ("PREEXIT" in codes[stage.entry]) == (place + 1 < len(program.launches))


@pytest.mark.matrix
def test_one_launch_alone_does_neither(tmp_path: Path) -> None:
    whole = flash3.program(PROBLEM, ON_HOPPER, chosen=IN_PARTS._replace(splits=1))
    listing = disassembled(check(whole, ON_HOPPER))
    assert "ACQBULK" not in listing
    assert "PREEXIT" not in listing


def answer(name: str, seed: int = 0, edits: Edits = (), problem: Problem = PROBLEM) -> Verdict:
    setting = Setting(seed, edits=edits)
    if name in (BACKWARD, DETERMINISTIC):
        one = in_mode(problem, name == DETERMINISTIC)
        return backward("flash3", one, flash3_backward.program, setting)
    spec: Any = name
    if name == "flash3":
        spec = replace(FLASH3, workspace=lambda problem, _: flash3_shared(problem, IN_PARTS))
    return forward(spec, problem, partial(_program, name), setting)


def _program(name: str, problem: Problem, target: Target) -> Program:
    return program_of(name, problem, target)


@needs_compiler
@chosen("name", PROGRAMS, {"flash3"})
def test_nothing_is_read_before_it_is_there(name: str) -> None:
    """The emulator ends the launch before when nothing else can go on."""
    for seed in range(2):
        verdict = answer(name, seed)
        assert verdict.passed, (seed, verdict)


WAIT = "wait_for_launch_before();"
MUTANTS: dict[str, tuple[str, Problem, Edits]] = {
    "parts": ("flash3", PROBLEM, ((f"Sum own;\n    {WAIT}", "Sum own;"),)),
    "8-bit blocks": ("flash3-fp8", PROBLEM, ((f"{WAIT}\n            Ring ring;", "Ring ring;"),)),
    "S": ("standard", PROBLEM, ((f"l = 0.0f;\n    {WAIT}", "l = 0.0f;"),)),
    "P": ("standard", PROBLEM, ((f"{WAIT}\n    copy(0);", "copy(0);"),)),
    "rows' states": (
        BACKWARD,
        PROBLEM,
        ((f"keys.head);\n               \n                {WAIT}", "keys.head);"),),
    ),
    "rows' states of wide heads": (BACKWARD, WIDER, ((f"{WAIT}\n    QueryRing ring;", "QueryRing ring;"),)),
    "the counter": (BACKWARD, PROBLEM, ((f"if (!0) {WAIT}", ""),)),
    "the counter of the first tile": (DETERMINISTIC, PROBLEM, ((f"if (1) {WAIT}", ""),)),
    "the sums of dQ": (BACKWARD, PROBLEM, ((f"float x[DQ_REGS];\n    {WAIT}", "float x[DQ_REGS];"),)),
}


@needs_compiler
@chosen("mutant", MUTANTS, ["parts"])
def test_what_is_not_waited_for_is_found(mutant: str) -> None:
    name, problem, edits = MUTANTS[mutant]
    assert fails(partial(answer, name, edits=edits, problem=problem))
