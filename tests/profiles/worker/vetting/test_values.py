"""Values that nobody had before: new in every turn, drawn once for a round, and known again by their draw."""

import numpy as np
import pytest
from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.launching.passes import Given, after_forward, draw_given, prepare_passes, renewing
from flashscope.kernels.workload.problem import Passes, Problem
from flashscope.profiles.worker.judging import Criteria
from flashscope.profiles.worker.vetting.guards import names_of
from flashscope.profiles.worker.vetting.values import FreshValues, SignedValues, redraw_row, values_of

PROBLEM = Problem(seqlen_q=12, seqlen_k=20, heads=2, head_dim=16)
RAGGED = Problem(seqlen_q=4, seqlen_k=8, batch=2, head_dim=16, key_lengths=(8, 3))


def copies(given: Given) -> dict[str, np.ndarray]:
    return {name: array.copy() for name, array in names_of(given).items()}


def changed(before: dict[str, np.ndarray], given: Given) -> set[str]:
    return {name for name, array in names_of(given).items() if not np.array_equal(before[name], array)}


def test_values_are_new_in_every_turn_and_stay_where_they_are() -> None:
    given = draw_given(PROBLEM, "cpu")
    fresh, seen = FreshValues(PROBLEM, given), [copies(given)]
    for turn in range(4):
        fresh.before_timed(turn, cold=True, own=True)
        assert all(changed(before, given) == {"Q", "K", "V"} for before in seen)
        assert not any(np.array_equal(abs(before["V"]), abs(given.inputs.v)) for before in seen)
        seen.append(copies(given))


def test_members_of_a_round_are_timed_on_the_same_values_and_warm_up_on_others() -> None:
    given = draw_given(PROBLEM, "cpu")
    fresh = FreshValues(PROBLEM, given)
    fresh.before_timed(0, cold=True, own=True)
    first = copies(given)
    fresh.before_timed(0, cold=True, own=False)
    assert changed(first, given) == set()
    fresh.before_warm(1)
    warm = copies(given)
    fresh.before_timed(1, cold=False, own=True)
    assert changed(warm, given) == {"Q", "K", "V"}


def test_a_kernel_of_ones_own_is_never_timed_on_values_whose_answer_is_known() -> None:
    given, spec = draw_given(PROBLEM, "cpu"), find_kernel("flash2")
    fresh = FreshValues(PROBLEM, given)
    launch = prepare_passes(spec, PROBLEM, given, "cpu")
    fresh.before_timed(0, cold=True, own=False)
    launch.run()
    assert fresh.judge_of(spec, Criteria())(launch.answer()).passed
    judged = copies(given)
    fresh.before_timed(0, cold=True, own=False)
    assert changed(judged, given) == set()
    fresh.before_timed(0, cold=True, own=True)
    assert changed(judged, given) == {"Q", "K", "V"}


@pytest.mark.parametrize("passes", ["forward", "both", "backward"])
def test_what_was_given_in_a_draw_comes_again(passes: Passes) -> None:
    problem = Problem(seqlen_q=6, seqlen_k=6, head_dim=16, passes=passes)
    given = draw_given(problem, "cpu")
    fresh = FreshValues(problem, given)
    fresh.before_timed(0, cold=True, own=True)
    drawn, then = fresh.drawn, copies(given)
    fresh.before_timed(1, cold=True, own=True)
    assert changed(then, given) == ({"Q", "K", "V"} if passes == "forward" else {"dO"})
    assert changed(then, fresh.given_in(drawn)) == set()


@pytest.mark.parametrize("width", [None, 16, 128])
def test_one_row_of_k_and_v_changes_in_every_head_and_neither_the_first_nor_the_last(
    width: int | None,
) -> None:
    problem = replace(PROBLEM, head_dim_v=width)
    given, rng = draw_given(problem, "cpu"), np.random.default_rng(0)
    for _ in range(30):
        before = copies(given)
        redraw_row(given, rng)
        assert changed(before, given) == {"K", "V"}
        for name in "KV":
            differs = (before[name] != names_of(given)[name]).all(axis=-1)
            assert differs.sum(axis=-1).tolist() == [[1, 1]]
            assert not differs[..., [0, -1]].any()


def test_only_a_group_with_a_kernel_of_ones_own_and_without_padding_gets_new_values() -> None:
    assert isinstance(values_of(PROBLEM, draw_given(PROBLEM, "cpu"), own=True), FreshValues)
    assert isinstance(values_of(PROBLEM, draw_given(PROBLEM, "cpu"), own=False), SignedValues)
    assert isinstance(values_of(RAGGED, draw_given(RAGGED, "cpu"), own=True), SignedValues)


@pytest.mark.parametrize("passes", ["both", "backward"])
def test_of_gradients_all_inputs_are_new_where_one_kernel_alone_has_them_and_o_and_lse_follow(
    passes: Passes,
) -> None:
    problem, spec = replace(PROBLEM, passes=passes), find_kernel("flash2")
    given = after_forward(spec, problem, draw_given(problem, "cpu"), "cpu")
    renew = renewing(spec, problem, given, "cpu") if passes == "backward" else lambda: None
    fresh, before = FreshValues(problem, given, renew), copies(given)
    launch = prepare_passes(spec, problem, given, "cpu")
    for turn in range(2):
        fresh.before_timed(turn, cold=True, own=True)
        assert changed(before, given) == {"Q", "K", "V", "dO"}
        launch.run()
        assert fresh.judge_of(spec, Criteria())(launch.answer()).passed
        before = copies(given)
    assert changed(before, fresh.given_in(fresh.drawn)) == set()
