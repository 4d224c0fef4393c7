"""Covering sets hold what they say, and are the same each time."""

from itertools import combinations, product

import pytest

from tests.matrix import chosen, covered, covering, matrix, ruled_out

CASES = [*product("abcd", range(5), (False, True), "xyz")]


def taken(*interacting: tuple[int, ...]) -> list[tuple[object, ...]]:
    return [CASES[place] for place in covering(CASES, interacting)]


def test_every_value_of_every_parameter_is_covered_by_as_many_cases_as_the_longest_has() -> None:
    found = taken()
    assert len(found) == 5
    for place in range(4):
        assert {case[place] for case in found} == {case[place] for case in CASES}


def test_every_pair_of_parameters_that_interact_is_covered() -> None:
    found = taken((0, 1), (1, 3))
    for one, other in ((0, 1), (1, 3)):
        assert {(case[one], case[other]) for case in found} == {(case[one], case[other]) for case in CASES}
    assert len(found) < len(CASES) / 4


def test_only_combinations_that_occur_are_asked_for() -> None:
    cases = [("a", 1), ("a", 2), ("b", 2)]
    assert covering(cases, [(0, 1)]) == [0, 1, 2]


def test_the_same_cases_are_taken_each_time() -> None:
    assert taken((0, 1)) == taken((0, 1))


def test_a_covering_set_is_to_be_had_without_the_rest() -> None:
    assert covered("letter number truth end", CASES, "letter number", "number end") == taken((0, 1), (1, 3))


def test_no_case_is_lost_and_those_beyond_the_covering_set_are_marked() -> None:
    mark: pytest.Mark = matrix("letter number truth end", CASES, "letter number").mark
    assert [parameter.values for parameter in mark.args[1]] == CASES
    marked = {parameter.values: {one.name for one in parameter.marks} for parameter in mark.args[1]}
    assert [case for case, marks in marked.items() if not marks] == taken((0, 1))
    in_ci = [case for case, marks in marked.items() if marks != {"long"}]
    for one, other in combinations(range(4), 2):
        assert {(case[one], case[other]) for case in in_ci} == {(case[one], case[other]) for case in CASES}
    assert len(in_ci) < len(CASES) / 2


def test_of_one_parameter_ci_takes_all_values_and_of_several_those_that_hold_every_pair() -> None:
    one: pytest.Mark = chosen("letter", "abcd", {"b"}).mark
    assert [[mark.name for mark in parameter.marks] for parameter in one.args[1]] == [
        ["matrix"],
        [],
        ["matrix"],
        ["matrix"],
    ]
    several: pytest.Mark = chosen("letter,number,truth,end", CASES, CASES[:1]).mark
    marked = {parameter.values: {mark.name for mark in parameter.marks} for parameter in several.args[1]}
    assert [case for case, marks in marked.items() if not marks] == CASES[:1]
    in_ci = [case for case, marks in marked.items() if marks != {"long"}]
    assert {(case[1], case[3]) for case in in_ci} == {(case[1], case[3]) for case in CASES}
    assert len(in_ci) < len(CASES) / 2


def test_a_limit_leaves_so_many_of_the_covering_set_to_every_run_and_none_with_0() -> None:
    for few in (0, 1, 2):
        mark: pytest.Mark = matrix("letter number truth end", CASES, "letter number", few=few).mark
        assert sum(not parameter.marks for parameter in mark.args[1]) == few


def test_the_markers_that_an_expression_rules_out_are_told_where_it_says_nothing_else() -> None:
    assert ruled_out("not benchmark and not matrix") == {"benchmark", "matrix"}
    assert ruled_out("not long") == {"long"}
    for expression in ("", "matrix", "matrix and not long", "not matrix or gpu", "not (matrix and gpu)"):
        assert ruled_out(expression) == set()
