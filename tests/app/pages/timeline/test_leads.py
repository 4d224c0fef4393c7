"""Where a bar leads: to its tile in the Stepper, its stage in the source; a timeline into a session."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.pages.ladder import LadderPage
from flashscope.app.pages.ladder.numpy_source import NUMPY_STEPS, numpy_source
from flashscope.app.pages.ladder.source_diff import PROBLEMS, passes_of
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.pages.timeline import TimelinePage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.marking import marked_lines
from flashscope.app.stepper.backward.requests import place_of_bar
from flashscope.app.stepper.one_tile import SHARED, trace_of_bar, trace_of_head, why_no_trace
from flashscope.app.words.inside.timelines import CUDA_LINES, NUMPY, NUMPY_LINES, source_lines
from flashscope.kernels.cpu.backward_trace import record as record_backward
from flashscope.kernels.cpu.trace import record
from flashscope.kernels.cuda.reading.step import source_of
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import STAGES, StageTimeline, TimelineRequest, stages_of
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.store import load, sessions_dir
from flashscope.profiles.wire.events import BackwardTraceReady, TimelineReady, TraceReady
from tests.app.fakes import CPU_MACHINE, HOPPER_MACHINE
from tests.app.rig import Rig
from tests.app.timelines import made_timeline
from tests.profiles.store import builders


def page_of(window: MainWindow) -> TimelinePage:
    window.show_page("timeline")
    page = window.pages["timeline"]
    assert isinstance(page, TimelinePage)
    return page


def record_one(rig: Rig, page: TimelinePage, qtbot: QtBot) -> None:
    """Have a timeline recorded, and drawn."""
    timeline = made_timeline()
    rig.engine.say([TimelineReady(timeline=timeline)])
    qtbot.waitUntil(lambda: any(one.rows.timeline == timeline for one in page.lineup.drawn))


@pytest.fixture
def saved() -> Path:
    sessions_dir().mkdir(parents=True, exist_ok=True)
    return builders.recorded(sessions_dir() / "a.flashscope")


def test_a_timeline_is_kept_in_the_session_on_show_and_one_undo_takes_it_out(
    rig: Rig, qtbot: QtBot, saved: Path
) -> None:
    page = page_of(rig.window())
    rig.open(saved)
    record_one(rig, page, qtbot)
    assert page.keep_button.isVisible()
    with qtbot.waitSignal(rig.controller.keeping.kept):
        page.keep()
    assert len(load(saved).timelines) == 2
    session = rig.controller.session
    assert session is not None
    assert session.timelines == load(saved).timelines
    qtbot.waitUntil(lambda: not page.keep_button.isVisible())
    with qtbot.waitSignal(rig.controller.keeping.kept):
        rig.controller.edits.undo()
    assert load(saved).timelines == session.timelines == [builders.timeline()]
    qtbot.waitUntil(page.keep_button.isVisible)
    with qtbot.waitSignal(rig.controller.keeping.kept):
        rig.controller.edits.redo()
    assert len(load(saved).timelines) == 2


def test_a_session_that_has_timelines_shows_them_when_it_is_opened(
    rig: Rig, qtbot: QtBot, saved: Path
) -> None:
    page = page_of(rig.window())
    with qtbot.waitSignal(page.lineup.changed):
        rig.open(saved)
    qtbot.waitUntil(lambda: [card.kernel for card in page.shown] == ["flash2"])
    assert "timeline of flash2" in page.staging.provenance.badge
    assert page.staging.provenance.kind == "saved"


def test_a_timeline_keeps_its_badge_until_that_of_the_next_session_is_ready(
    rig: Rig, qtbot: QtBot, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_of(rig.window())
    rig.open(saved)
    qtbot.waitUntil(lambda: bool(page.lineup.drawn))
    before = page.staging.provenance
    monkeypatch.setattr(page.lineup, "draw", lambda: None)
    page.lineup.take_session([made_timeline("flash1")])
    assert page.lineup.drawn[0].rows.timeline.request.kernel == "flash2"
    assert page.staging.provenance == before


@pytest.mark.matrix
def test_the_badge_says_that_a_timeline_is_of_a_backward_pass(rig: Rig, qtbot: QtBot) -> None:
    page = page_of(rig.window())
    page.lineup.take_recorded(made_timeline(passes="backward"))
    qtbot.waitUntil(lambda: bool(page.shown))
    assert page.staging.provenance.badge.endswith("timeline of flash2 backward")


@pytest.mark.matrix
def test_a_recording_that_comes_with_the_program_takes_none_and_says_why(rig: Rig, qtbot: QtBot) -> None:
    page = page_of(rig.window())
    rig.open(BUNDLED / "h200-inside.flashscope")
    record_one(rig, page, qtbot)
    assert not page.keep_button.isEnabled()
    assert "duplicate it in the Library" in page.keep_button.toolTip()


def bar_of(page: TimelinePage, tile: tuple[int, int, int], stage: str) -> int:
    """The place of the first bar of a tile's stage in the first timeline on show."""
    rows = page.lineup.drawn[0].rows
    found = np.flatnonzero((rows.tile == tile).all(axis=1) & (rows.bars.stage == STAGES.index(stage)))
    return int(found[0])


def test_a_tile_is_shown_in_the_stepper_at_the_step_where_it_is_done(rig: Rig, qtbot: QtBot) -> None:
    window = rig.window()
    page = page_of(window)
    record_one(rig, page, qtbot)
    bar = bar_of(page, (1, 2, 3), "PV")
    page.choose(0, bar)
    with qtbot.waitSignal(rig.controller.timelines.tile_asked):
        page.step_through()
    assert window.view == "stepper"
    stepper = window.pages["stepper"]
    assert isinstance(stepper, StepperPage)
    answered = 0

    def at_the_tile() -> bool:
        """Answer what is asked, the page's own first trace among it, and look where the Stepper stands."""
        nonlocal answered
        if answered < len(rig.engine.traces):
            answered += 1
            rig.engine.say([TraceReady(trace=record(rig.engine.traces[answered - 1]))])
        snapshot = None if stepper.position is None else stepper.position.snapshot
        return snapshot is not None and (snapshot.i, snapshot.j) == (2, 3)

    qtbot.waitUntil(at_the_tile)
    assert stepper.story is not None
    assert stepper.story.recording.trace.request == trace_of_head(page.lineup.drawn[0].rows.timeline, 1)


def test_a_trace_of_a_head_has_the_heads_own_inputs_and_computes_its_part_of_the_output() -> None:
    timeline = made_timeline()
    problem = timeline.request.problem
    drawn = make_inputs(problem, "cpu")
    request = trace_of_head(timeline, 1)
    assert request.inputs is not None
    for given, mine in zip(request.inputs, (drawn.q[0, 1], drawn.k[0, 1], drawn.v[0, 1]), strict=True):
        assert np.array_equal(given.numpy(), mine)
    assert record(request).tile.shape == (16, 2)


@pytest.mark.parametrize(
    ("seqlen", "tile", "told"),
    [(64, (0, 1, 2), ""), (64, (0, 1, -1), "no one tile"), (8192, (0, 0, 0), "at most 64 MiB are recorded")],
)
def test_what_cannot_be_stepped_through_says_why(seqlen: int, tile: tuple[int, int, int], told: str) -> None:
    timeline = made_timeline()
    problem = replace(timeline.request.problem, seqlen_q=seqlen, seqlen_k=seqlen)
    timeline = replace(timeline, request=replace(timeline.request, problem=problem))
    why = why_no_trace(timeline, tile, None)
    assert told in why
    assert bool(why) == bool(told)


@pytest.mark.parametrize("kernel", CUDA_LINES)
def test_every_stage_has_lines_in_the_cuda_source_and_a_line_is_of_two_where_it_calls_both(
    kernel: str,
) -> None:
    run, _, wide = kernel.partition(", ")
    name, _, passes = run.partition(" ")
    label = ", ".join(filter(None, ("d 256" if wide else "d 64", passes, "no mask")))
    stages = stages_of(passes_of(label))
    source = source_of(name, PROBLEMS[label])
    found = {stage: set(marked_lines(source, CUDA_LINES[kernel][stage]) or ()) for stage in stages}
    assert all(found.values())
    of_two = sum(map(len, found.values())) > len(set().union(*found.values()))
    assert of_two == (kernel in {"flash1 backward", "flash2 backward"})


@pytest.mark.parametrize("kernel", NUMPY_LINES)
def test_every_stage_has_lines_in_the_numpy_source_and_no_line_is_of_two(kernel: str) -> None:
    source = numpy_source(kernel)
    for text in (text for texts in NUMPY_LINES[kernel].values() for text in texts):
        assert text in source.text, text
    found = {stage: set(marked_lines(source, NUMPY_LINES[kernel][stage])) for stage in stages_of("forward")}
    assert sum(map(len, found.values())) == len(set().union(*found.values()))


@pytest.mark.matrix
def test_the_source_marks_the_stage_that_was_asked_for(
    rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = rig.window()
    page = page_of(window)
    record_one(rig, page, qtbot)
    shown: list[tuple[object, ...]] = []

    def noting(show: Callable[..., None]) -> Callable[..., None]:
        def show_step(self: LadderPage, kernel: str, label: str, **told: object) -> None:
            shown.append((kernel, label, told["marked"]))
            show(self, kernel, label, **told)

        return show_step

    monkeypatch.setattr(LadderPage, "show_step", noting(LadderPage.show_step))
    page.choose(0, bar_of(page, (0, 1, 1), "PV"))
    page.show_source()
    assert window.view == "ladder"
    assert shown == [("flash2", NUMPY, NUMPY_LINES["flash2"]["PV"])]
    ladder = window.pages["ladder"]
    assert isinstance(ladder, LadderPage)
    qtbot.waitUntil(lambda: "np.matmul(p," in ladder.board.columns[1].toPlainText())
    assert (ladder.kernel, ladder.before, ladder.label) == ("flash2", "flash1", NUMPY)
    assert "flash2.py and tiles.py" in ladder.board.headings[1].text()
    assert "in no recording" in ladder.gain.text()
    assert not ladder.badge.isVisible()
    assert "H200" not in ladder.staging.provenance.badge


def test_a_timeline_of_a_gpu_leads_to_the_cuda_source() -> None:
    request = TimelineRequest(
        problem=Problem(seqlen_q=64, seqlen_k=64, head_dim=64, causal=True), backend="cuda", kernel="flash1"
    )
    assert source_lines(request, "PV") == ("d 64, causal", CUDA_LINES["flash1"]["PV"])


@pytest.mark.parametrize(
    ("head_dim", "label", "run"),
    [(96, "d 128", "flash3 backward"), (192, "d 256", "flash3 backward, wide")],
)
def test_a_stage_of_another_head_dim_leads_to_the_source_of_the_next_one(
    head_dim: int, label: str, run: str
) -> None:
    problem = Problem(seqlen_q=64, seqlen_k=64, head_dim=head_dim, dtype="float16", passes="backward")
    request = TimelineRequest(problem=problem, backend="cuda", kernel="flash3")
    found, lines = source_lines(request, "dQ")
    assert (found, lines) == (f"{label}, backward, no mask", CUDA_LINES[run]["dQ"])
    assert found in PROBLEMS


@pytest.mark.matrix
def test_from_the_numpy_source_a_problem_leads_back_to_cuda(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("ladder")
    page = window.pages["ladder"]
    assert isinstance(page, LadderPage)
    page.show_step("flash2", NUMPY)
    assert [page.kernels.itemText(k) for k in range(page.kernels.count())] == list(NUMPY_STEPS)
    page.problems.setCurrentText("d 64, causal")
    qtbot.waitUntil(lambda: "__global__" in page.board.columns[1].toPlainText())
    assert page.kernel == "flash2"
    assert page.kernels.findText("flash3") >= 0


def test_no_kernel_without_numpy_has_a_numpy_source() -> None:
    with pytest.raises(UnsupportedError, match="flash3 is not written in NumPy: choose standard"):
        numpy_source("flash3")


@pytest.mark.matrix  # it takes a second or more
def test_a_bar_of_a_backward_pass_leads_to_its_tile_in_the_mode_backward(rig: Rig, qtbot: QtBot) -> None:
    window = rig.window()
    rig.open(BUNDLED / "h200-inside.flashscope")
    page = page_of(window)
    held = load(BUNDLED / "h200-inside.flashscope").timelines
    backward = next(one for one in held if one.request.problem.passes == "backward")
    page.lineup.show_these([backward])
    qtbot.waitUntil(lambda: [one.rows.timeline for one in page.lineup.drawn] == [backward])
    rows = page.lineup.drawn[0].rows
    place = next(at for at, tile in enumerate(rows.tile.tolist()) if min(tile) >= 0 and tile[1] > 1)
    page.choose(0, place)
    assert page.detail.step.isEnabled()
    page.step_through()
    stepper = window.pages["stepper"]
    assert isinstance(stepper, StepperPage)
    assert (window.view, stepper.modes.key) == ("stepper", "backward")
    (request,) = rig.engine.backwards
    assert (request.block_q, request.block_k) == (backward.block_q, backward.block_k)
    rig.engine.say([BackwardTraceReady(trace=record_backward(request))])
    board = stepper.backwards.board
    qtbot.waitUntil(lambda: board.view is not None)
    assert board.view is not None
    assert board.view.place == place_of_bar(backward, tuple(rows.tile[place].tolist()))


def gpu_timeline(**fields: Any) -> StageTimeline:
    """One of flash3 on a GPU, of the bundled ones."""
    held = load(BUNDLED / "h200-inside.flashscope").timelines
    return next(
        one
        for one in held
        if one.request.kernel == "flash3"
        and all(getattr(one.request.problem, name) == value for name, value in fields.items())
    )


def test_a_bar_of_a_gpu_leads_to_the_timed_kernels_own_trace_where_there_is_a_gpu() -> None:
    timeline = gpu_timeline(passes="forward", seqlen_q=1024)
    found = trace_of_bar(timeline, (5, 2, 3), HOPPER_MACHINE)
    assert isinstance(found, TraceRequest)
    assert (found.backend, found.kernel, found.head) == ("cuda", "flash3", 5)
    assert found.problem == timeline.request.problem
    stepped = gpu_timeline(passes="forward", seqlen_q=1024)
    of_a = replace(stepped, request=replace(stepped.request, kernel="flash3-a"))
    assert "no trace of flash3-a" in str(trace_of_bar(of_a, (5, 2, 3), HOPPER_MACHINE))


def test_without_a_gpu_it_leads_to_the_same_tile_of_the_numpy_kernel_with_that_heads_inputs() -> None:
    timeline = gpu_timeline(passes="forward", seqlen_q=1024)
    assert why_no_trace(timeline, (5, 2, 3), CPU_MACHINE) == ""
    found = trace_of_head(timeline, 5)
    assert (found.backend, found.problem.dtype) == ("cpu", "float32")
    assert (found.block_q, found.block_k) == (timeline.block_q, timeline.block_k)
    assert found.inputs is not None
    trace = record(found)
    assert [2, 3] in trace.tile.numpy().tolist()


def test_a_tile_that_heads_share_is_left_to_a_gpu() -> None:
    decode = gpu_timeline(passes="forward", seqlen_q=1)
    beyond = replace(decode, block_q=16)
    assert why_no_trace(beyond, (0, 1, 0), CPU_MACHINE) == SHARED
