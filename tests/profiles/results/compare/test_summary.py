"""The sentence: who changed, by how much, where, and what may stand behind it."""

from collections.abc import Mapping, Sequence

import pytest

from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.results.compare import compare
from flashscope.profiles.results.quantities.registry import QUANTITIES
from tests.profiles.results.compare.built import Cell, contrast, joined, rounds, session, with_workspace
from tests.profiles.sessions import MACHINE

LENGTHS = tuple(2**n for n in range(9, 15))
KERNELS = ("flash2", "flash3")


def told(changes: Mapping[tuple[str, int], float | str], **others: object) -> str:
    """The summary of a sweep of 12 points of which some take so many times as long, or are not done."""
    base = {(kernel, n): rounds(1.0) for kernel in KERNELS for n in LENGTHS}
    other = base | {
        cell: rounds(change) if isinstance(change, float) else change for cell, change in changes.items()
    }
    return contrast(session(base), session(other, **others)).summary  # type: ignore[arg-type]


def test_without_a_change_it_says_so() -> None:
    assert told({}) == "no change found: 12 of 12 points the same"


def test_what_cannot_be_told_is_not_called_the_same() -> None:
    few = session({("flash2", 512): [1.0, 1.0]})
    assert contrast(few, few).summary == "nothing sure of 1 point"


def test_a_kernel_that_changed_everywhere_is_named_with_the_mean() -> None:
    assert told({("flash3", n): 1.07 for n in LENGTHS}) == "flash3 7.0% slower (geometric mean)"


@pytest.mark.parametrize(
    ("lengths", "where"),
    [
        (LENGTHS[3:], "from 4k on"),
        (LENGTHS[:2], "up to 1k"),
        (LENGTHS[2:4], "at 2 of its 6 points"),
    ],
)
def test_where_it_changed_is_said_along_n(lengths: tuple[int, ...], where: str) -> None:
    assert told({("flash3", n): 1 / 1.07 for n in lengths}) == f"flash3 7.0% faster (geometric mean) {where}"


def test_both_directions_and_what_differs_stand_in_one_sentence() -> None:
    changes = {("flash3", n): 1 / 1.07 for n in LENGTHS[3:]} | {("flash2", 512): 1.05}
    sentence = told(changes, power_limit=500.0)
    assert (
        sentence
        == "flash3 7.0% faster (geometric mean) from 4k on; 1 of 12 points slower; power limit differs"
    )


@pytest.mark.parametrize(
    ("others", "differ"),
    [
        ({"protocol": Protocol(warmup=9)}, "warm-up runs differ"),
        ({"protocol": Protocol(interleave=False)}, "whether kernels took turns differs"),
        ({"protocol": Protocol(warmup=9, cold=False)}, "cache and warm-up runs differ"),
        ({"machine": {"driver": "590.1"}}, "NVIDIA driver differs"),
        ({"machine": {"packages": {**MACHINE.packages, "cupy-cuda13x": "15"}}}, "CuPy differs"),
    ],
)
def test_what_differs_has_the_capitals_and_the_number_of_its_place(
    others: dict[str, object], differ: str
) -> None:
    assert told({}, **others).endswith(f"; {differ}")


def test_points_that_broke_were_mended_or_are_gone_are_counted() -> None:
    sentence = told({("flash3", 512): "wrong", ("flash3", 1024): "oom"})
    assert sentence == "2 points no longer done"
    base = session({("flash2", 512): "wrong", ("flash3", 512): rounds(1.0)})
    other = session({("flash2", 512): rounds(1.0)})
    assert contrast(base, other).summary == "1 point mended; 1 point in the baseline only"
    assert contrast(other, base).summary == "1 point no longer done; 1 point here only"


def test_it_counts_all_points_that_the_tables_have() -> None:
    shared: dict[Cell, Sequence[float] | str] = {("flash2", 512): rounds(1.0), ("flash2", 1024): "oom"}
    base = session({**shared, ("flash3", 512): rounds(1.0), ("flash3", 1024): "oom"})
    other = session({**shared, ("flash2", 2048): rounds(1.0)})
    told = contrast(base, other)
    assert len(told.pairs) == 2
    assert (len(told.base_only), len(told.other_only)) == (2, 1)
    assert told.summary == (
        "no change found: 1 of 2 points the same, 1 not compared; 2 points in the baseline only, 1 here only"
    )


def test_the_clock_alone_is_no_change_but_is_told() -> None:
    sentence = told({(kernel, n): 1.1 for kernel in KERNELS for n in LENGTHS}, clock=1800.0)
    assert sentence == "12 points changed by the clock alone; SM clock while sampling differs"


def test_where_it_changed_is_said_by_head_dim() -> None:
    parts = [
        [session({("flash3", n): rounds(ms) for n in LENGTHS}, head_dim=d) for ms in (1.0, changed)]
        for d, changed in ((64, 1.0), (128, 1.07))
    ]
    base, other = (joined(*sides) for sides in zip(*parts, strict=True))
    sentence = contrast(base, other).summary
    assert sentence == "flash3 7.0% slower (geometric mean) at d = 128"


def test_where_no_kernel_stands_for_the_rest_the_range_of_the_changes_is_told() -> None:
    assert told({("flash2", 512): 1.05, ("flash3", 512): 1.2, ("flash3", 1024): 1 / 1.05}) == (
        "1 of 12 points faster; 2 of 12 points slower, 5.0% to 20%"
    )
    assert told({(kernel, 512): 1.05 for kernel in KERNELS}) == "2 of 12 points slower, 5.0%"
    assert told({("flash2", 512): 5.97, ("flash3", 512): 376.6}) == "2 of 12 points slower, 5.97× to 377×"


def test_another_quantity_is_named_first() -> None:
    one = session({("flash2", 512): rounds(1.0)})
    assert contrast(one, one, QUANTITIES["footprint"]).summary == (
        "Peak footprint: no change found: 1 of 1 points the same"
    )


def test_half_as_much_is_half_less_and_twice_as_much_is_as_much_more() -> None:
    cells = {("flash3", n): rounds(1.0) for n in LENGTHS}
    much, half = (with_workspace(session(cells), held) for held in (4096, 2048))
    workspace = QUANTITIES["workspace_bytes"]
    assert contrast(much, half, workspace).summary == "Workspace: flash3 50% less (geometric mean)"
    assert contrast(half, much, workspace).summary == "Workspace: flash3 100% more (geometric mean)"
    cells = {(kernel, 512): rounds(1.0) for kernel in KERNELS}
    much, tiny = (with_workspace(session(cells), held) for held in (4096, 16))
    assert contrast(much, tiny, workspace).summary == "Workspace: 2 of 2 points less, 256×"
    assert contrast(tiny, much, workspace).summary == "Workspace: 2 of 2 points more, 256×"


def test_each_of_several_sessions_has_its_own_sentence() -> None:
    one = session({("flash2", 512): rounds(1.0)})
    slower = session({("flash2", 512): rounds(1.1)})
    assert [c.summary for c in compare(one, [one, slower]).contrasts] == [
        "no change found: 1 of 1 points the same",
        "1 of 1 points slower",
    ]


def test_no_mean_is_told_of_changes_from_or_to_nothing() -> None:
    cells = {("flash3", n): rounds(1.0) for n in LENGTHS}
    some, none = (with_workspace(session(cells), held) for held in (4096, 0))
    workspace = QUANTITIES["workspace_bytes"]
    assert contrast(some, none, workspace).summary == "Workspace: flash3 less"
    assert contrast(none, some, workspace).summary == "Workspace: flash3 more"
