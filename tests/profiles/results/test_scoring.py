"""Points whose scores are more than scaled and masked: their words, curves, columns and partners."""

import csv
import io
import json
from dataclasses import replace

import msgspec
import pytest
from msgspec import structs

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.problem_words import place_words
from flashscope.profiles.results.compare.pairing import pairings
from flashscope.profiles.results.formats.export import to_csv, to_json
from flashscope.profiles.results.model.curves import by_curve
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.planner.crossing import recorded_crossing
from flashscope.profiles.results.planner.forecast import forecast
from tests.profiles.results.test_passes import row as row_of
from tests.profiles.results.test_passes import with_problems

PLAIN = Problem(seqlen_q=512, seqlen_k=512, heads=2)
SCORED = {
    "softcap 50": structs.replace(PLAIN, softcap=50.0),
    "sinks": structs.replace(PLAIN, sinks=True),
    "V of 128": structs.replace(PLAIN, head_dim_v=128),
    "ALiBi": structs.replace(PLAIN, alibi=True),
    "softcap 30, sinks": structs.replace(PLAIN, softcap=30.0, sinks=True),
}
each = pytest.mark.parametrize(("words", "problem"), SCORED.items(), ids=SCORED)


def of(problem: Problem, kernel: str = "flash2") -> PointRow:
    made = row_of("forward", kernel=kernel)
    return replace(made, point=structs.replace(made.point, problem=problem))


@each
def test_each_has_a_curve_of_its_own_that_says_which(words: str, problem: Problem) -> None:
    labels = [curve.label for curve in by_curve([of(PLAIN), of(problem)])]
    assert labels == ["d 64, no mask", f"d 64, {words}, no mask"]
    assert place_words(problem) == f"N = 512, {words}"


@each
def test_sessions_pair_like_with_like_and_say_how_the_nearest_differs(words: str, problem: Problem) -> None:
    (found,) = pairings(with_problems(PLAIN), [with_problems(problem)])
    assert found.pairs == ()
    assert {one.reason for one in found.base_only} == {f"{words} instead of plain scores"}
    (same,) = pairings(with_problems(problem), [with_problems(problem)])
    assert len(same.pairs) == 2


@each
def test_they_forecast_nothing_of_plain_scores_nor_the_other_way_round(words: str, problem: Problem) -> None:
    assert forecast([of(problem)], "flash2", PLAIN) == "flash2 was measured with no plain scores"
    assert forecast([of(PLAIN)], "flash2", problem) == "flash2 was measured with other scores"
    assert recorded_crossing([of(problem, "standard"), of(problem)], ("flash2",), PLAIN) is None


def test_exports_have_a_column_of_each() -> None:
    session = with_problems(PLAIN, *SCORED.values())
    points = json.loads(to_json(session))["points"]
    assert {point["softcap"] for point in points} == {None, 30.0, 50.0}
    assert {point["alibi"] for point in points} == {False, True}
    assert {point["head_dim_v"] for point in points} == {None, 128}
    assert {point["sinks"] for point in points} == {False, True}
    table = "".join(line for line in io.StringIO(to_csv(session)) if not line.startswith("#"))
    assert {line["softcap"] for line in csv.DictReader(io.StringIO(table))} == {"", "30.0", "50.0"}


def test_a_problem_that_says_nothing_of_its_scores_takes_them_as_they_are() -> None:
    before = b'{"seqlen_q":512,"seqlen_k":512,"heads":2}'
    assert msgspec.json.decode(before, type=Problem) == PLAIN
    assert not PLAIN.features
