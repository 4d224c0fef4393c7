"""What a sentence says is what is on show: its figures, their order, or why there is none."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.app.pages.ladder.stalls.shelf import Shelved
from flashscope.app.pages.ladder.stalls.stops import NONE, stalls_scene
from flashscope.app.pages.timeline.stops import curve_label, scene_of_timelines, timelines_of
from flashscope.app.stage.blanks import fill
from flashscope.app.stage.numbers import NUMBERS, OF_STALLS, OF_TIMELINE, step_numbers
from flashscope.app.stage.scene import Scene, scene_of
from flashscope.app.stage.story import Stop
from flashscope.app.stepper.choice import RowChoice
from flashscope.app.stepper.cursor import Cursor
from flashscope.app.stepper.lock_step import LockStep
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.step_view import StepView
from flashscope.app.words.results.provenance import Provenance
from flashscope.kernels.catalogue.ladder import FLASH2
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan, Point, Protocol
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.timeline_facts import TimelineFacts
from flashscope.profiles.wire.events import PointStatus
from tests.app.fakes import measurement
from tests.app.stall_profiles import DEVICE, FEWER, profile
from tests.app.stepper.builders import slide_trace
from tests.app.timelines import made_timeline

TIMES = st.floats(1e-3, 1e4)


def row(
    kernel: str, ms: float, seqlen: int = 1024, status: PointStatus = "done", nbytes: int = 3 << 20
) -> PointRow:
    problem = Problem(seqlen_q=seqlen, seqlen_k=seqlen)
    plan = Plan(backend="cpu", kernels=(kernel,), problems=(problem,), protocol=Protocol(drift_check=False))
    point: Point = plan.points()[0]
    known = measurement(ms, nbytes) if status == "done" else None
    return PointRow(point, "cpu", status, "", 5 << 30, None, known)


def scene(*rows: PointRow, seqlen: int | None = 1024) -> Scene:
    return Scene(rows, seqlen, rows[-1].kernel if rows else "", "standard")


BOTH = scene(row("standard", 8.0), row("flash2", 2.0))


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("{runtime of flash2}", "1.99 ms"),
        ("{runtime}", "1.99 ms"),
        ("{speedup}", "4.00×"),
        ("{runtime against}", "4.00× faster"),
        ("{runtime of standard against flash2}", "4.00× slower"),
        ("{throughput against standard}", "4.00× more"),
        ("{footprint against}", "as much"),
        ("{runtime of flash2 against flash2}", "as fast"),
        ("N = {n}", "N = 1k"),
        ("flash2 {fate of flash2}.", "flash2 takes 1.99 ms."),
        (
            "{idea of flash2}",
            "Q outer, K/V inner: m, ℓ and O never leave the chip either, normalised once at the end",
        ),
        ("no blank } at all {", "no blank } at all {"),
    ],
)
def test_a_blank_is_filled_from_the_points_on_show(sentence: str, told: str) -> None:
    assert fill(sentence, BOTH) == told


def test_the_idea_is_that_of_the_pass_that_is_run() -> None:
    plain = row("flash2", 2.0)
    problem = replace(plain.problem, passes="backward")
    backward = dataclasses.replace(plain, point=replace(plain.point, problem=problem))
    assert FLASH2.backward is not None
    assert fill("{idea of flash2}", scene(backward)) == FLASH2.backward.idea
    assert fill("{idea of flash2}", Scene(passes="backward")) == FLASH2.backward.idea
    assert fill("{idea of flash2}", Scene()) == FLASH2.idea


@given(mine=TIMES, other=TIMES)
def test_the_faster_one_is_never_called_slower(mine: float, other: float) -> None:
    told = fill("{runtime of flash2 against standard}", scene(row("standard", other), row("flash2", mine)))
    assert ("faster" in told) <= (mine < other)
    assert ("slower" in told) <= (mine > other)


def test_where_the_spreads_meet_neither_is_called_faster() -> None:
    near = scene(row("standard", 1.02), row("flash2", 1.0))
    assert fill("{runtime of flash2 against standard}", near) == "as fast"


def test_growth_is_beside_half_of_the_n() -> None:
    grown = scene(row("standard", 1.0, 512), row("standard", 4.0, 1024))
    assert fill("{growth of runtime of standard}", grown) == "4.00×"
    assert fill("{growth of runtime of standard at 512}", grown) == "standard was not measured at N = 256."


@pytest.mark.parametrize(
    ("status", "fate"),
    [
        ("will-not-fit", "will not fit: it needs 5.00 GiB"),
        ("failed", "failed"),
        ("pending", "is still to come"),
    ],
)
def test_a_sentence_that_cannot_be_told_says_why_instead(status: PointStatus, fate: str) -> None:
    lost = scene(row("flash2", 2.0), row("standard", 8.0, status=status))
    assert fill("Look: {runtime of standard}!", lost) == f"standard has no runtime at N = 1k: it {fate}."
    assert fill("standard {fate of standard}", lost) == f"standard {fate}"


def test_without_a_session_nothing_is_claimed() -> None:
    nothing = scene_of(None, None)
    assert fill("{runtime of flash2}", nothing) == "Nothing has been measured yet."
    assert fill("At N = {n}", nothing) == "Nothing has been measured yet."
    assert fill("{m}", nothing) == "This step is still being computed."
    assert fill("{idea of rocket}", nothing) == "rocket is not one of this program's kernels."


def test_a_kernel_that_was_not_measured_has_no_figure() -> None:
    assert fill("{runtime of flash3}", BOTH) == "flash3 was not measured at N = 1k."


def test_the_numbers_of_a_step_are_those_that_the_algorithm_has_computed_by_then() -> None:
    walk = LockStep.of(Recording.of(slide_trace(reverse=True)))
    seen: set[str] = set()
    for at in range(len(walk.timeline.steps)):
        numbers = step_numbers(StepView(walk, Cursor(walk.timeline, at), RowChoice()))
        assert ("m" in numbers) <= ("m-tile" in numbers)
        assert ("l" in numbers) <= ("m" in numbers)
        assert ("o" in numbers) <= ("l" in numbers)
        seen |= set(numbers)
    assert seen == set(NUMBERS) - {*OF_TIMELINE, *OF_STALLS}
    assert (numbers["o"], numbers["exact"], numbers["l"]) == ("2.250", "2.250", "1.585")


def test_a_number_of_a_timeline_is_of_the_kernel_that_the_blank_names_or_of_the_last_one_on_show() -> None:
    timelines = made_timeline("flash1", rows=3, row_kind="SM"), made_timeline("flash2", rows=9, row_kind="SM")
    scene = scene_of_timelines(timelines, [TimelineFacts.of(one) for one in timelines])
    assert fill("{idle of flash1} of {rows of flash1}, {idle} of {rows}", scene) == "0 of 3, 1 of 9"
    assert fill("{tail of flash1}, {waits of flash1}", scene) == "4.25 µs, 11.1%"
    assert fill("N = {n}: {span of flash2}", scene) == "N = 64: 4.25 µs"
    assert {name.split()[0] for name in scene.numbers} == set(OF_TIMELINE) - {"covered"}
    assert fill("{covered}", scene) == "No timeline on show tells covered of flash2."
    assert fill("{span of flash3}", scene) == "No timeline on show tells span of flash3."


def test_a_stop_of_stalls_tells_the_reason_and_what_changed_from_the_step_before() -> None:
    before, after = profile("flash3-a", samples=FEWER), profile("flash3-b")
    there = [Shelved(one, Provenance("saved", "cuda", DEVICE)) for one in (before, after)]
    stop = Stop("ladder", kernels=("flash3-b",), curve="d 64, no mask", mode="stalls")
    scene = stalls_scene(stop, there)
    assert fill("{stall}, {stall-share of flash3-a} to {stall-share}", scene) == "barrier, 60.0% to 50.0%"
    assert fill("{stall-change} at N = {n}", scene) == "long scoreboard, 5.00% to 20.0% at N = 4k"
    assert fill("{issued of flash3-a}, {issued}", scene) == "35.0%, 25.0%"
    assert {name.split()[0] for name in scene.numbers} == set(OF_STALLS)
    assert fill("{stall of flash2}", scene) == "No stalls on show tell stall of flash2."
    alone = stalls_scene(stop, there[1:])
    assert fill("{stall-change}", alone) == "No stalls on show tell stall-change of flash3-b."
    assert fill("{stall}", stalls_scene(replace(stop, kernels=("flash2",)), there)) == NONE


def test_a_stop_shows_the_newest_timelines_of_its_kernels_and_of_its_length() -> None:
    short, long = made_timeline("flash2"), made_timeline("flash2", seqlen=128)
    other = made_timeline("flash1")
    every = [long, short, other]
    assert timelines_of(every, ("flash1", "flash2"), None) == [other, short]
    assert timelines_of(every, ("flash2",), 128) == [long]
    assert timelines_of(every, ("flash3",), None) == []
    longer = made_timeline("flash2", seqlen=128)
    assert timelines_of([*every, longer], ("flash1", "flash2"), None) == [other, short], "of one problem"
    problem = replace(short.request.problem, window=(8, 0))
    windowed = replace(short, request=replace(short.request, problem=problem))
    assert timelines_of([*every, windowed], ("flash2",), None) == [short]
    backward = made_timeline("flash2", passes="backward")
    assert timelines_of([*every, backward], ("flash2",), None) == [short]
    assert timelines_of([backward], ("flash2",), None) == [backward]


def test_a_stop_that_names_pass_and_masks_shows_timelines_of_these_alone() -> None:
    forward, backward = made_timeline("flash2"), made_timeline("flash2", passes="backward")
    windowed = replace(forward.request.problem, window=(8, 0), passes="backward")
    narrow = replace(backward, request=replace(backward.request, problem=windowed))
    every = [backward, narrow, forward]
    for one in every:
        assert timelines_of(every, ("flash2",), None, curve_label(one)) == [one]
    assert timelines_of([forward], ("flash2",), None, curve_label(backward)) == []


def test_as_long_as_nothing_is_there_a_sentence_with_blanks_says_what_is_waited_for() -> None:
    scene = Scene(waiting="Reading the recording…")
    assert fill("{runtime of flash2}", scene) == "Reading the recording…"
    assert fill("No blank.", scene) == "No blank."
