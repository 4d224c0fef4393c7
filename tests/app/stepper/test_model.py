import dataclasses
import gc
import weakref
from collections.abc import Callable
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.app.stepper import snapshots
from flashscope.app.stepper.breakpoints import Breakpoints
from flashscope.app.stepper.choice import RowChoice
from flashscope.app.stepper.cursor import Cursor
from flashscope.app.stepper.formulas import formulas
from flashscope.app.stepper.presets import PRESETS, Options, own, score_row
from flashscope.app.stepper.pseudocode import lines
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.row_history import row_history
from flashscope.app.stepper.snapshots import Snapshot
from flashscope.app.stepper.step_view import SteppedTrace, StepView
from flashscope.app.stepper.traffic import on_chip, standard_bytes
from flashscope.kernels.catalogue.traffic import Tiles, flash1_io, flash2_io, standard_io
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import LoopOrder, TimedKernel
from tests.app.stepper.builders import build_trace, random_trace, slide_trace

ORDERS: tuple[LoopOrder, ...] = ("flash1", "flash2")


def story(**options: object) -> SteppedTrace:
    return SteppedTrace.of(Recording.of(random_trace(**options)))  # type: ignore[arg-type]  # keywords of the builder


def slide(*, reverse: bool = False, order: LoopOrder = "flash1") -> SteppedTrace:
    return SteppedTrace.of(Recording.of(slide_trace(reverse=reverse, order=order)))


def moments(of: SteppedTrace, row: int = 0, *, follow: bool = True) -> list[StepView]:
    cursor = Cursor(of.timeline)
    return [StepView(of, cursor.to(k), RowChoice(row, follow)) for k in range(cursor.last + 1)]


def visible(view: StepView) -> tuple[object, ...]:
    """Everything a step shows, as plain comparable values."""
    state = view.state
    arrays = (state.m, state.l, state.o, view.scores, view.weights)
    return (
        view.step,
        view.bytes_moved,
        view.row,
        view.known,
        view.finished,
        formulas(view) if view.started else (),
        tuple(None if a is None else a.tobytes() for a in arrays),
    )


STORIES = {
    (order, causal): story(n=20, block=6, causal=causal, order=order)
    for order in ORDERS
    for causal in (False, True)
}


@settings(max_examples=60, deadline=None)
@given(data=st.data(), key=st.sampled_from(sorted(STORIES)))
def test_n_steps_forward_then_n_back_show_the_same_state(
    data: st.DataObject, key: tuple[LoopOrder, bool]
) -> None:
    of = STORIES[key]
    start = data.draw(st.integers(0, len(of.timeline.steps) - 1))
    n = data.draw(st.integers(0, len(of.timeline.steps) - 1 - start))
    choice = RowChoice(data.draw(st.integers(0, 19)), data.draw(st.booleans()))
    cursor = Cursor(of.timeline, start)
    there = cursor
    for _ in range(n):
        there = there.moved(1)
    back = there
    for _ in range(n):
        back = back.moved(-1)
    assert there.at == start + n
    assert back == cursor
    assert visible(StepView(of, back, choice)) == visible(StepView(of, cursor, choice))


def test_the_cursor_stays_within_the_steps() -> None:
    cursor = Cursor(slide().timeline)
    assert cursor.moved(-5).at == 0
    assert cursor.moved(10_000).ended


def test_the_slide_example_has_the_numbers_of_the_slides() -> None:
    found = row_history(slide().recording, 0)
    assert found.m.tolist() == [3, 3]
    np.testing.assert_allclose(found.l, [1.135, 1.585], atol=5e-4)
    assert found.alpha.tolist() == [0, 1]
    np.testing.assert_allclose(found.o[:, 0], [1.881, 2.250], atol=5e-4)
    np.testing.assert_allclose(found.naive[:, 0], [1.881, 5.063], atol=5e-4)
    assert found.naive_sum.tolist() == [1, 2]


def test_the_slide_example_reversed_rescales_and_ends_at_the_same_output() -> None:
    found = row_history(slide(reverse=True, order="flash2").recording, 0)
    assert found.m.tolist() == [2, 3]
    np.testing.assert_allclose(found.l, [1.223, 1.585], atol=5e-4)
    assert found.alpha[1] == pytest.approx(0.368, abs=5e-4)
    assert found.rises.tolist() == [False, True]
    assert found.o[1, 0] == pytest.approx(2.250, abs=5e-4)


@pytest.mark.parametrize("order", ORDERS)
def test_every_row_ends_at_the_exact_output_with_shares_that_sum_to_one(order: LoopOrder) -> None:
    recording = story(n=20, block=6, causal=True, order=order).recording
    for row in range(20):
        found = row_history(recording, row)
        np.testing.assert_allclose(found.o[-1], recording.exact[row], atol=1e-5)
        np.testing.assert_allclose(found.shares.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_array_equal(np.triu(found.shares, 1), 0)


def test_the_naive_output_is_the_sum_of_each_tiles_own_softmax() -> None:
    recording = story(n=20, block=6).recording
    scores = np.concatenate([recording.scores(t)[2] for t in range(4)]).astype(np.float64)
    values = recording.trace.v.numpy().astype(np.float64)
    total = np.zeros(recording.value_dim)
    for first in range(0, 20, 6):
        p = np.exp(scores[first : first + 6])
        total += (p / p.sum()) @ values[first : first + 6]
    np.testing.assert_allclose(row_history(recording, 2).naive[-1], total, atol=1e-9)


@pytest.mark.parametrize("order", ORDERS)
def test_each_phase_changes_only_its_own_part_of_the_state(order: LoopOrder) -> None:
    for before, after in zip(moments(story(order=order))[:-1], moments(story(order=order))[1:], strict=True):
        if before.step.tile != after.step.tile:
            continue
        same = {name: _equal(before, after, name) for name in ("m", "l", "o")}
        expected = {"maximum": "m", "weights": "l", "output": "o"}.get(after.step.phase)
        assert all(same[name] for name in same if name != expected)


def _equal(a: StepView, b: StepView, name: str) -> bool:
    return bool(np.array_equal(getattr(a.state, name), getattr(b.state, name)))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("n", [32, 20])
@pytest.mark.parametrize(("order", "io"), [("flash1", flash1_io), ("flash2", flash2_io)])
def test_the_running_bytes_add_up_to_the_theory(
    order: LoopOrder, io: Callable[[Problem, Tiles], int], n: int, causal: bool
) -> None:
    of = story(n=n, block=8, causal=causal, order=order)
    problem = of.recording.trace.request.problem
    assert of.traffic[-1].total == io(problem, Tiles(8, 8))
    assert standard_bytes(of.recording) == standard_io(problem, Tiles(8, 8))
    assert [m.total for m in of.traffic] == sorted(m.total for m in of.traffic)


def test_a_tile_never_holds_the_score_matrix() -> None:
    of = story(n=64, block=8)
    largest = max(sum(r.nbytes for r in on_chip(of.recording, step)) for step in of.timeline.steps)
    assert largest < 64 * 64 * 4


@pytest.mark.parametrize(("follow", "watched"), [(True, {6, 9}), (False, {9})])
def test_a_row_chosen_in_a_longer_trace_watches_one_that_is_there(*, follow: bool, watched: set[int]) -> None:
    every = moments(story(n=10, block=8), 14, follow=follow)
    assert {view.row for view in every} == watched
    assert {view.history.row for view in every} == watched


def test_a_trace_that_is_shown_no_more_is_let_go() -> None:
    gone = story()
    first, *_, last = moments(gone, follow=False)
    assert first.history is last.history
    recording = weakref.ref(gone.recording)
    del gone, first, last, _
    gc.collect()
    assert recording() is None


def test_events_follow_the_row_watched() -> None:
    of = story(n=32, block=8, seed=3)
    pinned = RowChoice(row=9, follow=False)
    tiles = {of.timeline.steps[event.at].i for event in of.events(pinned, 0.5)}
    assert tiles <= {1}
    found = row_history(of.recording, 9)
    rises = [e for e in of.events(pinned, 0.5) if e.kind == "max-rises"]
    assert len(rises) == found.rises.sum()


def test_the_first_maximum_is_no_event() -> None:
    assert slide().events(RowChoice(), 0.5) == ()
    reversed_events = slide(reverse=True).events(RowChoice(), 0.5)
    assert {event.kind for event in reversed_events} == {"max-rises", "alpha-below"}
    assert slide(reverse=True).events(RowChoice(), 0.3)[0].kind == "max-rises"
    assert len(slide(reverse=True).events(RowChoice(), 0.3)) == 1


def test_a_value_that_is_not_finite_is_an_event() -> None:
    trace = slide_trace()
    spoiled = trace.l.numpy().copy()
    spoiled[1] = np.nan
    broken = SteppedTrace.of(dataclasses.replace(Recording.of(trace), l=spoiled))
    assert [e.kind for e in broken.events(RowChoice(), 0.5)] == ["non-finite"]


def test_playing_stops_where_it_was_asked_to() -> None:
    of = slide(reverse=True)
    events = of.events(RowChoice(), 0.5)
    at = [
        k
        for k in range(len(of.timeline.steps))
        if Breakpoints(frozenset({"max-rises"})).stops_at(Cursor(of.timeline, k), events)
    ]
    assert [of.timeline.steps[k].phase for k in at] == ["maximum"]
    ends = [
        k
        for k in range(len(of.timeline.steps))
        if Breakpoints(tile=True).stops_at(Cursor(of.timeline, k), ())
    ]
    assert tuple(ends) == of.timeline.tile_ends
    assert not Breakpoints().stops_at(Cursor(of.timeline, at[0]), events)


def test_masked_tiles_are_skipped_and_known_as_such() -> None:
    of = story(n=32, block=8, causal=True)
    ran = of.recording.order_of_tile
    assert (ran[np.triu_indices(4, 1)] == -1).all()
    assert of.recording.tiles == 10


def test_a_trace_is_laid_out_without_a_look_at_each_of_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    recording, made = Recording.of(random_trace(64, causal=True)), Mock(wraps=Snapshot)
    monkeypatch.setattr(snapshots, "Snapshot", made)
    of = SteppedTrace.of(recording)
    Cursor(of.timeline).next_tile()
    assert of.events(RowChoice(), 0.5)
    assert of.traffic[-1].total > of.busiest > 0
    made.assert_not_called()
    assert len(list(of.timeline.steps)) == made.call_count > recording.tiles


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("local_max", [False, True])
def test_every_step_executes_a_line_of_the_algorithm(order: LoopOrder, local_max: bool) -> None:
    code = lines(order, local_max=local_max, reverse=False, memory="HBM")
    for step in story(order=order).timeline.steps:
        assert any(line.active(step) for line in code), step


def test_the_slides_notation_has_their_beta() -> None:
    of = slide()
    last = StepView(of, Cursor(of.timeline).to(10_000), RowChoice(), local_max=True)
    text = " ".join(f.numbers for f in formulas(last))
    assert "0.368" in text
    assert "1.223" in text
    assert "1.585" in text


def rising(kernel: TimedKernel) -> SteppedTrace:
    """One query whose scores are 1, 3, 20 and 2, a key to a tile."""
    asked = score_row((1.0, 3.0, 20.0, 2.0), (1.0, 2.0, 3.0, 4.0), 1, order="flash2")
    return SteppedTrace.of(Recording.of(build_trace(replace(asked, kernel=kernel))))


def test_a_timed_kernel_lets_its_reference_point_lag_and_the_formulas_say_so() -> None:
    of = rising("flash2")
    assert of.recording.m.ravel().tolist() == [1, 1, 20, 20]
    assert of.recording.max_error < 1e-6
    assert of.recording.weight_limit == pytest.approx(np.exp(2))  # of 3 over 1
    told = [f.numbers for view in moments(of) for f in formulas(view) if f.active and f.phase == "maximum"]
    assert [one for one in told if "above" in one] == [
        "1.000 is above −∞ + 5.545: <m>1.000</m>",
        "3.000 is not above 1.000 + 5.545: <m>1.000</m>",
        "20.000 is above 1.000 + 5.545: <m>20.000</m>",
        "2.000 is not above 20.000 + 5.545: <m>20.000</m>",
    ]
    code = " ".join(
        line.text for line in lines("flash2", local_max=False, reverse=True, memory="HBM", lazy=True)
    )
    assert "m′ = rowmax S if that is above m + 8 ln 2, else m" in code
    assert rising("").recording.m.ravel().tolist() == [1, 3, 20, 20]
    assert rising("").recording.weight_limit == 1
    for absurd in (np.inf, np.nan, -1.0, 1e300):
        assert Recording.of(replace(of.recording.trace, headroom=absurd)).weight_limit == 1


@pytest.mark.parametrize("preset", PRESETS, ids=lambda p: p.key)
@pytest.mark.parametrize("order", ORDERS)
def test_every_preset_makes_a_trace_that_ends_exactly(preset: object, order: LoopOrder) -> None:
    request = preset.make("cpu", order)  # type: ignore[attr-defined]  # parametrize hides the type
    recording = Recording.of(build_trace(request))
    assert recording.max_error < 1e-4
    assert recording.finite.all()


def test_an_own_problem_never_has_a_tile_larger_than_itself() -> None:
    request = own(Options(seqlen=4, block_q=16, block_k=16))
    assert (request.block_q, request.block_k) == (4, 4)
