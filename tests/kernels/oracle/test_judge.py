"""The judge against mutants and right answers: it refuses every one of those and none of these."""

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import msgspec
import numpy as np
import pytest

from flashscope.kernels.catalogue.fp8 import Rounding
from flashscope.kernels.oracle.verdict import OF_A_PART, OF_A_ROW, ON_ROUNDED
from flashscope.kernels.oracle.verify import Criterion, criterion
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.problem import DTYPES, Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.answers import Answer, hostile, in_8_bits, kept_pairs, materialised, stored, tiled
from tests.kernels.cases import draw
from tests.matrix import chosen, matrix

N, TILE = 1024, 128
LATE = slice(N // 2, None)
ROUNDING = Rounding(TILE)
MASKS: dict[str, dict[str, Any]] = {
    "full": {},
    "causal": {"causal": True},
    "window": {"window": (300, 0)},
    "grouped heads": {"kv_heads": 2, "causal": True},
    "block mask": {"block_mask": BlockMask.random(N, N, block_q=64, block_k=64, kept_share=0.5)},
}
PRECISIONS = (*DTYPES, "8 bits")
Mutate = Callable[[Problem, Inputs, Answer], Answer]


def problem_of(mask: str, precision: str, *, seed: int = 0) -> Problem:
    dtype = "bfloat16" if precision == "8 bits" else precision
    problem = Problem(seqlen_q=N, seqlen_k=N, heads=4, head_dim=64, seed=seed)
    return msgspec.structs.replace(problem, dtype=dtype, **MASKS[mask])


def solve(precision: str, problem: Problem, inputs: Inputs, kept: Any = None) -> Answer:
    if precision == "8 bits":
        return in_8_bits(problem, inputs, ROUNDING, kept=kept)
    return tiled(problem, inputs, kept=kept)


@cache
def judged_by(mask: str, precision: str) -> tuple[Problem, Inputs, Criterion, Answer]:
    problem = problem_of(mask, precision)
    inputs = stored(problem, draw(problem))
    rounding = ROUNDING if precision == "8 bits" else None
    judge = criterion(problem, inputs, rounding=rounding)
    assert isinstance(judge, Criterion)
    return problem, inputs, judge, solve(precision, problem, inputs)


def scaled_late_rows(_precision: str, mask: str, right: Answer) -> Answer:
    right.output[:, :, LATE] = right.output[:, :, LATE].astype("float32") * 0.9
    return right


def shifted_columns(precision: str, mask: str, right: Answer) -> Answer:
    right.output[:, :, LATE] = np.roll(right.output[:, :, LATE], 1, axis=-1)
    return right


def swapped_rows(precision: str, mask: str, right: Answer) -> Answer:
    rows = criterion_rows(mask, precision)[-2:]
    right.output[:, :, rows] = right.output[:, :, rows[::-1]]
    return right


def another_head(precision: str, mask: str, right: Answer) -> Answer:
    right.output[:, 1] = right.output[:, 0]
    return right


def zeros(precision: str, mask: str, right: Answer) -> Answer:
    right.output[:, :, N // 4 :] = 0
    return right


def stale(precision: str, mask: str, right: Answer) -> Answer:
    """What another launch left in the second half."""
    other = problem_of(mask, precision, seed=1)
    left = solve(precision, other, stored(other, draw(other)))
    right.output[:, :, LATE], right.lse[:, :, LATE] = left.output[:, :, LATE], left.lse[:, :, LATE]
    return right


def dropped_tile(precision: str, mask: str, right: Answer) -> Answer:
    """Its keys count neither in O nor in LSE."""
    wrong = _without_a_tile(precision, mask)
    right.output[:, :, LATE], right.lse[:, :, LATE] = wrong.output[:, :, LATE], wrong.lse[:, :, LATE]
    return right


def dropped_tile_of_values(precision: str, mask: str, right: Answer) -> Answer:
    """LSE is right: the tile is lost where P multiplies V."""
    problem, inputs, _, _ = judged_by(mask, precision)
    values = inputs.v.copy()
    values[:, :, 512:640] = 0
    right.output[:, :, LATE] = solve(precision, problem, inputs._replace(v=values)).output[:, :, LATE]
    return right


def tile_read_twice(precision: str, mask: str, right: Answer) -> Answer:
    """The tile before it stands in its place."""
    problem, inputs, _, _ = judged_by(mask, precision)
    keys, values = inputs.k.copy(), inputs.v.copy()
    for array in (keys, values):
        array[:, :, 512:640] = array[:, :, 384:512]
    wrong = solve(precision, problem, Inputs(inputs.q, keys, values))
    right.output[:, :, LATE], right.lse[:, :, LATE] = wrong.output[:, :, LATE], wrong.lse[:, :, LATE]
    return right


def lse_of_fewer_keys(precision: str, mask: str, right: Answer) -> Answer:
    right.lse[:, :, LATE] = _without_a_tile(precision, mask).lse[:, :, LATE]
    return right


def _without_a_tile(precision: str, mask: str) -> Answer:
    problem, inputs, _, _ = judged_by(mask, precision)
    kept = kept_pairs(problem)
    kept[:, 512:640] = False
    return solve(precision, problem, inputs, kept)


def criterion_rows(mask: str, precision: str) -> list[int]:
    return judged_by(mask, precision)[2].rows


MUTANTS = (
    scaled_late_rows,
    shifted_columns,
    swapped_rows,
    another_head,
    zeros,
    stale,
    dropped_tile,
    dropped_tile_of_values,
    tile_read_twice,
    lse_of_fewer_keys,
)


def named(value: Any) -> str:
    """What a parameter is called in the name of its test."""
    return str(getattr(value, "__name__", value))


@matrix(
    "precision mask mutant",
    product(PRECISIONS, MASKS, MUTANTS),
    *("precision mutant", "mask mutant", "precision mask"),
    ids=named,
    few=10,
)
def test_a_mutant_never_passes(precision: str, mask: str, mutant: Any) -> None:
    _, _, judge, right = judged_by(mask, precision)
    assert judge.judge(*right).passed
    wrong = mutant(precision, mask, Answer(right.output.copy(), right.lse.copy()))
    assert not judge.judge(*wrong).passed


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_worst_row_is_told_with_its_place(precision: str) -> None:
    _, _, judge, right = judged_by("causal", precision)
    row, output = judge.rows[-5], right.output.copy()
    output[0, 3, row] = output[0, 3, row].astype("float32") * 1.5
    ending = OF_A_ROW + (ON_ROUNDED if precision == "8 bits" else "")
    worst = judge.judge(output, right.lse).of("O" + ending)
    assert worst is not None
    assert worst.place == (0, 3, row)
    assert worst.error == pytest.approx(0.5, rel=0.2)
    assert worst.error > worst.bound


@pytest.mark.matrix  # it takes seconds
def test_a_tile_lost_from_two_hundred_is_found_in_8_bits_though_no_single_row_shows_it() -> None:
    kept = np.ones((3, 200), bool)
    kept[0, 1:] = False  # a third of the rows is large, as the first of a causal problem are
    mask = BlockMask.of(kept, 32, TILE)
    problem = Problem(
        seqlen_q=96, seqlen_k=200 * TILE, heads=4, head_dim=128, dtype="bfloat16", block_mask=mask
    )
    inputs = stored(problem, draw(problem))
    judge = criterion(problem, inputs, rounding=ROUNDING)
    assert judge.judge(*in_8_bits(problem, inputs, ROUNDING)).passed
    values = inputs.v.copy()
    values[:, :, TILE : 2 * TILE] = 0
    verdict = judge.judge(*in_8_bits(problem, inputs._replace(v=values), ROUNDING))
    refused = [one.output for one in verdict.outputs if not one.passed]
    assert refused == ["O" + OF_A_PART + ON_ROUNDED]


@chosen("seed", range(500), range(40))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_right_answer_always_passes(seed: int) -> None:
    """Two or three answers a seed: 1,167 in all."""
    dtype = DTYPES[seed % len(DTYPES)]
    problem, inputs = hostile(seed, dtype)
    judge = criterion(problem, inputs)
    lazy = float(np.random.default_rng(seed).choice([0.0, 8.0]))
    for answer in (tiled(problem, inputs, tile=64, lazy=lazy), materialised(problem, inputs)):
        verdict = judge.judge(*answer)
        assert verdict.passed, verdict
    if dtype != "float32" and problem.head_dim in {64, 128}:
        judge = criterion(problem, inputs, rounding=ROUNDING)
        verdict = judge.judge(*in_8_bits(problem, inputs, ROUNDING, lazy=lazy / 4))
        assert verdict.passed, verdict
