"""Which of many cases every run takes: a covering set; `.ci/run` takes more of them (`-m matrix`).

A full product repeats itself: most faults show with one value, or with two that meet. A covering set holds
every value of every parameter, and every combination of those parameters that are said to interact; `.ci/run`
takes every two values that meet in any case, and `-m long` what is left.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import combinations
from typing import Any

import pytest

Case = tuple[Any, ...]
Goal = tuple[tuple[int, ...], tuple[str, ...]]  # parameters by their places, and a value of each


def covering(cases: Sequence[Case], interacting: Iterable[tuple[int, ...]]) -> list[int]:
    """The places of cases that together hold all there is to cover; the same for the same cases.

    Args:
        cases: All there are.
        interacting: Places of parameters whose every combination that occurs is to be covered.
    """
    groups = [*interacting, *((place,) for place in range(len(cases[0])))]
    left = [_goals(case, groups) for case in cases]
    taken: list[int] = []
    while any(left):
        best = max(
            range(len(cases)), key=lambda place: len(left[place])
        )  # the first of those that cover most
        taken.append(best)
        covered = left[best]
        left = [goals - covered for goals in left]
    return sorted(taken)


def matrix(
    names: str,
    cases: Iterable[Case],
    *interacting: str,
    ids: Callable[[Any], str] | None = None,
    few: int | None = None,
) -> pytest.MarkDecorator:
    """A test for each case: beyond the covering set some carry the marker `matrix`, all others `long`.

    Those of `matrix` hold any two values that meet in some case.

    Args:
        names: The parameters, divided by blanks.
        cases: A value of each.
        interacting: Names, divided by blanks, of parameters that interact.
        ids: What a value is called in the name of its test.
        few: So many of the covering set are enough for every run, where each costs seconds; none, where
            tests beside it guard the same.
    """
    every, order = [*cases], names.split()
    cover = _places(every, order, interacting)
    kept = set(cover if few is None else cover[:: -(-len(cover) // few)] if few else ())
    in_ci = {*cover, *_pairs(every)}
    parameters = [
        pytest.param(*case, marks=() if place in kept else _beyond(place in in_ci))
        for place, case in enumerate(every)
    ]
    return pytest.mark.parametrize(order, parameters, ids=ids)


def covered(names: str, cases: Iterable[Case], *interacting: str) -> list[Case]:
    """A covering set alone, of cases that cost too much for all of them to be taken anywhere.

    Args:
        names: The parameters, divided by blanks.
        cases: A value of each.
        interacting: Names, divided by blanks, of parameters that interact.
    """
    every = [*cases]
    return [every[place] for place in _places(every, names.split(), interacting)]


def in_rounds(number: int) -> pytest.MarkDecorator:
    """A property whose examples are drawn once in every run, and so many times in `.ci/run`."""
    return chosen("turn", range(1, number + 1), {1})


def chosen(name: str, values: Iterable[Any], kept: Collection[Any]) -> pytest.MarkDecorator:
    """One parameter, or several joined by commas: every run takes the values to keep, and `.ci/run` all.

    Of several it takes those that hold any two values that meet, as `matrix` does.
    """
    every = [*values]
    in_ci = _pairs(every) if "," in name else range(len(every))
    parameters = [
        pytest.param(*(one if "," in name else (one,)), marks=() if one in kept else _beyond(place in in_ci))
        for place, one in enumerate(every)
    ]
    return pytest.mark.parametrize(name, parameters)


def on_demand(name: str, values: Iterable[Any], kept: Collection[Any]) -> pytest.MarkDecorator:
    """The same where all of them take minutes: those beyond what every run takes carry the marker `long`."""
    parameters = [pytest.param(one, marks=() if one in kept else pytest.mark.long) for one in values]
    return pytest.mark.parametrize(name, parameters)


def ruled_out(expression: str) -> set[str]:
    """The markers a and b of `not a and not b`; none of a marker expression that says anything else."""
    terms = [term.partition("not ") for term in expression.split(" and ")]
    plain = all(not before and name.isidentifier() for before, _not, name in terms)
    return {name for _before, _not, name in terms if plain}


def _beyond(in_ci: bool) -> pytest.MarkDecorator:
    return pytest.mark.matrix if in_ci else pytest.mark.long


def _pairs(cases: Sequence[Case]) -> Collection[int]:
    """The places of cases that together hold any two values that meet in some case."""
    return covering(cases, combinations(range(len(cases[0])), 2)) if cases else ()


def _places(cases: Sequence[Case], order: list[str], interacting: Iterable[str]) -> list[int]:
    return covering(cases, [tuple(map(order.index, group.split())) for group in interacting])


def _goals(case: Case, groups: Iterable[tuple[int, ...]]) -> set[Goal]:
    return {(group, tuple(repr(case[place]) for place in group)) for group in groups}
