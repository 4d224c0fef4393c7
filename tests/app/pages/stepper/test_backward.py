"""The mode Backward: it follows the problem on show, walks its steps, and shows what a session has."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from flashscope.app.pages.registry import VIEWS
from flashscope.app.pages.stepper.backward_bar import ADDED, SO_FAR
from flashscope.app.pages.stepper.backward_board import NOTHING_KEPT, WAITS, BackwardBoard
from flashscope.app.stage.story import Stop
from flashscope.app.stepper.backward.requests import GIVEN, PointBackward
from flashscope.app.stepper.modes import BACKWARD
from flashscope.kernels.cpu.backward_trace import record
from flashscope.kernels.workload.backward_trace import BackwardTrace, BackwardTraceRequest
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import Array, TraceRequest
from flashscope.profiles.store import load
from flashscope.profiles.store.blobs.backward_traces import decode_backward_trace
from flashscope.profiles.wire.events import BackwardTraceReady, Event
from tests.app.fakes import CPU_MACHINE
from tests.app.pages.stepper.conftest import Bench
from tests.app.rig import Rig
from tests.app.stepper.builders import random_trace
from tests.profiles.store import builders

GROUPED = Problem(seqlen_q=24, seqlen_k=20, heads=4, kv_heads=2, head_dim=16, passes="backward")


def board_of(bench: Bench) -> BackwardBoard:
    board = bench.page.modes.board_of(BACKWARD)
    assert isinstance(board, BackwardBoard)
    return board


def shown(bench: Bench, preset: str = "causal") -> BackwardBoard:
    """The mode with the backward pass of a preset."""
    page = bench.show(preset)
    page.choose_mode(BACKWARD)
    board = board_of(bench)
    bench.qtbot.waitUntil(lambda: board.view is not None)
    return board


def grouped(head: int = 0) -> BackwardTrace:
    return record(BackwardTraceRequest(problem=GROUPED, head=head, block_q=8, block_k=8))


def test_another_session_leaves_the_source_of_the_backward_pass_that_stays_on_show(bench: Bench) -> None:
    board = shown(bench)
    assert board.own is not None
    bench.page.controller.session_changed.emit(None)
    assert board.own is not None
    assert bench.page.bar.source.text() == board.own.source


def test_the_mode_asks_for_the_backward_pass_of_the_problem_on_show_and_says_where_it_came_from(
    bench: Bench,
) -> None:
    board = shown(bench)
    (request,) = bench.engine.backwards
    assert bench.page.story is not None
    asked = bench.page.story.recording.trace.request
    assert request.problem == replace(asked.problem, passes="backward")
    assert (request.kernel, request.block_q, request.block_k) == ("flash2", asked.block_q, asked.block_k)
    assert "flash2 backward on a CPU, N = 64, causal" in bench.page.bar.source.text()
    assert "Tiles: 1 of 36 done · 28 masked" in board.words()
    bench.page.choose_mode("blocks")
    assert "backward" not in bench.page.bar.source.text()
    assert bench.page.transport.isVisible()


def test_the_keys_walk_its_steps_and_as_many_back_show_the_same(bench: Bench) -> None:
    board = shown(bench)
    assert board.position is not None
    before, at = board.words(), board.position.at
    forward = bench.page.position
    for _ in range(9):
        bench.press(Qt.Key.Key_Right)
    assert board.position.at == at + 9
    assert board.words() != before
    for _ in range(9):
        bench.press(Qt.Key.Key_Left)
    assert board.words() == before
    assert bench.page.position == forward, "the forward pass stays where it was"


@pytest.mark.matrix
def test_events_are_the_blocks_that_are_whole_and_the_end_says_how_exact_the_gradients_are(
    bench: Bench,
) -> None:
    board = shown(bench)
    assert board.story is not None
    writes = [k for k, step in enumerate(board.story.timeline.steps) if step.phase == "write"]
    for expected in writes[:2]:
        bench.press(Qt.Key.Key_BracketRight)
        assert board.position is not None
        assert board.position.at == expected
    bench.press(Qt.Key.Key_End)
    assert bench.page.bar.result.text().startswith("max |gradient − exact|: dQ ")


def test_the_tile_that_is_clicked_and_the_pair_are_shown(bench: Bench) -> None:
    board = shown(bench)
    assert board.view is not None
    tiles, frame = board.panels.tiles, board.panels.tiles.frame(board.view)
    grid = tiles._grid(frame)
    place = grid.rect(3, 1).center().toPoint()
    QTest.mouseClick(tiles, Qt.MouseButton.LeftButton, pos=place)
    assert (board.view.place.i, board.view.place.j) == (3, 1)
    QApplication.processEvents()  # what is said of the tile may take another line
    p = board.panels.pairs[0]
    area = p._area(p.frame(board.view))
    cell = area.rect(2, 5).center().toPoint()
    QTest.mouseMove(p, QPoint(cell))
    p.set_hovered((2, 5))
    QTest.mouseClick(p, Qt.MouseButton.LeftButton, pos=cell)
    assert board.view.pair == (2, 5)
    assert f"dQ{board.view.area[0].start + 2},0" in board.panels.formulas.accessibleDescription()


def test_what_a_tile_adds_is_the_difference_of_the_sums(bench: Bench) -> None:
    board = shown(bench)
    assert board.story is not None
    board.seek(board.story.timeline.tile_ends[2])
    assert board.view is not None
    t, recording = board.view.tile, board.story.recording
    after, before = recording.after("dk", t), recording.before("dk", t)
    assert after is not None
    assert before is not None
    assert np.array_equal(board.view.sums("dk"), after)  # type: ignore[arg-type]
    bench.click(board.bar.shown.buttons[ADDED])
    assert np.array_equal(board.view.sums("dk"), after - before)  # type: ignore[arg-type]
    bench.click(board.bar.shown.buttons[SO_FAR])
    assert np.array_equal(board.view.sums("dk"), after)  # type: ignore[arg-type]


@pytest.mark.matrix
def test_another_kernel_is_traced_and_one_of_the_gpu_says_why_not_here(bench: Bench) -> None:
    board = shown(bench)
    board.bar.kernel.setCurrentIndex(board.bar.kernel.findData("flash1"))
    bench.qtbot.waitUntil(lambda: board.trace is not None and board.trace.request.kernel == "flash1")
    board.seek(1)
    assert "rowsum" in board.panels.code.accessibleDescription(), "flash1 takes delta in every tile"
    board.bar.kernel.setCurrentIndex(board.bar.kernel.findData("flash3"))
    assert "flash3" in board.words()
    assert "cpu" in board.words()


def test_what_cannot_be_played_has_no_button_to_press_and_says_why_in_its_tip(bench: Bench) -> None:
    page = bench.show("slide")
    page.choose_mode(BACKWARD)
    board = board_of(bench)
    controls = (*board.transport.buttons.values(), board.transport.speed)
    assert not any(one.isEnabled() for one in controls)
    assert {" ".join(one.toolTip().split()) for one in controls} == {GIVEN}
    page.show_preset("random")
    bench.qtbot.waitUntil(lambda: board.view is not None)
    assert all(one.isEnabled() for one in controls)
    assert board.transport.buttons["stepper.play"].toolTip().startswith("Play or pause")
    assert board.transport.speed.toolTip() == "Playing speed"


@pytest.mark.matrix
def test_given_scores_say_why_there_is_nothing_to_see_and_another_problem_is_followed(bench: Bench) -> None:
    page = bench.show("slide")
    page.choose_mode(BACKWARD)
    board = board_of(bench)
    assert board.words() == GIVEN
    bench.qtbot.waitUntil(board.transport.scrubber.hasFocus)  # not the kernel, which the arrows would change
    assert bench.engine.backwards == []
    page.show_preset("random")
    bench.qtbot.waitUntil(lambda: board.view is not None)
    assert "N = 64" in page.bar.source.text()


def test_another_head_of_what_is_on_show_is_traced(bench: Bench) -> None:
    page = bench.show()
    page.choose_mode(BACKWARD)
    board = board_of(bench)
    board.show_trace(grouped())
    assert board.bar.head.isVisible()
    board.bar.head.setValue(1)
    bench.qtbot.waitUntil(lambda: board.trace is not None and board.trace.request.head == 1)
    assert bench.engine.backwards[-1] == replace(grouped().request, head=1)


def test_a_mask_that_keeps_nothing_is_said(bench: Bench) -> None:
    trace = grouped()
    none = {name: Array.of(getattr(trace, name).numpy()[:0]) for name in ("tile", "p", "dp", "ds", "delta")}
    sums = {name: Array.of(getattr(trace, name).numpy()[:0]) for name in ("dq", "dk", "dv")}
    bench.show().choose_mode(BACKWARD)
    board_of(bench).show_trace(replace(trace, **none, **sums))
    assert board_of(bench).words() == NOTHING_KEPT


def test_a_point_is_shown_with_its_words_and_the_way_back_leads_to_what_was_there(bench: Bench) -> None:
    page = bench.show("random")
    found = PointBackward("flash2 at N = 24", grouped().request, ("One K/V head of 2.",))
    bench.controller.insides.origin = next(iter(VIEWS))
    bench.controller.insides.backward_asked.emit(found)
    board = board_of(bench)
    bench.qtbot.waitUntil(lambda: board.trace is not None)
    assert board.trace is not None
    assert board.trace.request == found.request
    assert bench.engine.backwards == [found.request], "what was on show is not traced as well"
    assert page.visits.line.words.text() == "Inside the backward pass of flash2 at N = 24. One K/V head of 2."
    page.visits.leave()
    assert page.modes.key == "blocks"
    assert page.visits.line.isHidden()


def test_a_tile_that_is_asked_for_is_shown_though_the_first_trace_comes_later(bench: Bench) -> None:
    bench.engine.silent = True
    bench.page.show()
    bench.controller.timelines.backward_tile_asked.emit(grouped(1).request, (1, 2, 0))
    bench.engine.answer_backward(bench.engine.backwards[-1])
    board = board_of(bench)
    bench.qtbot.waitUntil(lambda: board.view is not None)
    assert board.view is not None
    assert board.view.place == (1, 2, 0)
    assert board.view.step.phase in {"dq", "write"}
    bench.engine.answer(bench.engine.requests[-1])
    bench.qtbot.waitUntil(lambda: bench.page.story is not None)
    assert board.view.place == (1, 2, 0)
    assert len(bench.engine.backwards) == 1


@pytest.mark.matrix
def test_a_tile_of_a_forward_pass_is_shown_in_blocks_again(bench: Bench) -> None:
    shown(bench)
    request = random_trace(16, block=4, head_dim=2).request
    bench.controller.timelines.tile_asked.emit(request, (2, 1))
    bench.qtbot.waitUntil(lambda: bench.page.story is not None and _request(bench) == request)
    assert bench.page.modes.key == "blocks"
    assert bench.page.position is not None
    assert (bench.page.position.snapshot.i, bench.page.position.snapshot.j) == (2, 1)


def _request(bench: Bench) -> TraceRequest | None:
    story = bench.page.story
    return None if story is None else story.recording.trace.request


def test_a_trace_on_the_gpu_waits_for_the_end_of_a_sweep(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.show().choose_mode(BACKWARD)
    monkeypatch.setattr(type(bench.controller), "measuring", True)
    request = replace(grouped().request, backend="cuda")
    bench.page.backwards.step_to(request, None)
    assert board_of(bench).words() == WAITS
    monkeypatch.setattr(type(bench.controller), "measuring", False)
    bench.controller.running_changed.emit(False)
    bench.qtbot.waitUntil(lambda: board_of(bench).trace is not None)
    assert bench.engine.backwards[-1] == request


def test_without_a_gpu_what_was_launched_on_one_is_traced_on_the_cpu(bench: Bench) -> None:
    bench.show().choose_mode(BACKWARD)
    bench.controller.machine = CPU_MACHINE
    problem = replace(GROUPED, dtype="float16", deterministic=True)
    bench.page.backwards.step_to(replace(grouped().request, problem=problem, backend="cuda"), None)
    bench.qtbot.waitUntil(lambda: board_of(bench).trace is not None)
    (*_, request) = bench.engine.backwards
    assert (request.backend, request.problem.dtype) == ("cpu", "float32")


@pytest.mark.matrix
def test_a_session_offers_its_traces_and_one_like_what_is_wanted_is_not_traced_again(
    rig: Rig, tmp_path: Path
) -> None:
    window = rig.window()
    kept = grouped(1)
    rig.open(builders.recorded(tmp_path / "a.flashscope", *with_trace(kept)))
    window.show_page("stepper")
    page = window.pages["stepper"]
    page.choose_mode(BACKWARD)  # type: ignore[attr-defined]
    board = page.modes.board_of(BACKWARD)  # type: ignore[attr-defined]
    assert board.bar.recorded.isVisible()
    board.bar.recorded.setCurrentIndex(1)
    assert board.trace == kept
    rig.controller.timelines.backward_tile_asked.emit(kept.request, (0, 1, 1))
    assert board.view.place == (0, 1, 1)
    assert not page.visits._unkept  # type: ignore[attr-defined]


def with_trace(trace: BackwardTrace) -> list[Event]:
    """The events of a whole sweep, with this trace in the place of its own."""
    return [
        BackwardTraceReady(trace=trace) if isinstance(one, BackwardTraceReady) else one
        for one in builders.whole_sweep()
    ]


def test_a_trace_is_kept_in_the_session_on_show_and_undone(rig: Rig, qapp: QApplication) -> None:
    from flashscope.profiles.store import sessions_dir  # noqa: PLC0415 - the rig's own folder

    sessions_dir().mkdir(parents=True, exist_ok=True)
    path = builders.recorded(sessions_dir() / "a.flashscope")
    window = rig.window()
    rig.open(path)
    window.show_page("stepper")
    page = window.pages["stepper"]
    page.choose_mode(BACKWARD)  # type: ignore[attr-defined]
    board, trace = page.modes.board_of(BACKWARD), grouped()  # type: ignore[attr-defined]
    board.show_trace(trace)
    page.visits.keep()  # type: ignore[attr-defined]
    rig.controller.edits.wait()
    qapp.processEvents()
    assert load(path).backward_traces[-1] == trace


def test_a_stop_of_a_story_goes_to_its_step_of_the_backward_pass(bench: Bench) -> None:
    page = bench.show("random")
    stop = Stop(page="stepper", preset="causal", mode=BACKWARD, step=31)
    page.staging.show_stop(stop)
    board = board_of(bench)
    bench.qtbot.waitUntil(lambda: board.view is not None and page.staging.settled)
    assert board.position is not None
    assert board.position.at == 31
    assert page.staging.sentence == "Step 31 of 260: tile i = 4, j = 0."
    assert page.staging.stop.step == 31
    assert page.staging.stop.mode == BACKWARD
    assert "backward" in page.staging.provenance.of
    assert not board.transport.isVisible()
    assert [card.isHidden() for card in board.cards].count(False) == 3
    page.staging.leave()
    assert page.modes.key == "blocks"
    assert not any(card.isHidden() for card in board.cards)


@pytest.mark.matrix
def test_a_stop_may_be_of_a_backward_trace_of_its_session(rig: Rig, tmp_path: Path) -> None:
    window = rig.window()
    kept = grouped(1)
    rig.open(builders.recorded(tmp_path / "a.flashscope", *with_trace(kept)))
    window.show_page("stepper")
    page = window.pages["stepper"]
    page.staging.show_stop(Stop(page="stepper", session="a", mode=BACKWARD, kernels=("flash2",), step=5))
    board = page.modes.board_of(BACKWARD)  # type: ignore[attr-defined]
    assert (board.trace, board.position.at) == (kept, 5)
    assert page.staging.provenance.badge.startswith("SAVED")
    page.staging.leave()


@pytest.mark.matrix
def test_the_panels_have_room_in_a_small_window_whether_they_are_on_show_or_not(bench: Bench) -> None:
    bench.page.resize(1200, 640)
    bench.show("slide").choose_mode(BACKWARD)
    bench.page.grab()
    assert board_of(bench).minimumSizeHint().height() < 560
    board = shown(bench)
    bench.page.grab()
    assert board.minimumSizeHint().height() < 560
    cards = [card.geometry() for card in board.cards]
    assert all(one.width() >= 160 for one in cards)


@pytest.mark.matrix  # it takes a second or more
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e38])
def test_a_trace_with_any_numbers_is_shown_at_every_step(bench: Bench, value: float) -> None:
    trace = grouped()
    names = ("p", "dp", "ds", "delta", "dq", "dk", "dv", "lse", "grad_q", "exact_k")
    arrays = {name: getattr(trace, name).numpy().copy() for name in names}
    for array in arrays.values():
        array.ravel()[::3] = value
    hostile = replace(trace, **{name: Array.of(array) for name, array in arrays.items()})
    assert decode_backward_trace(msgspec.msgpack.encode(hostile)) is not None
    bench.show().choose_mode(BACKWARD)
    board = board_of(bench)
    board.show_trace(hostile)
    assert board.position is not None
    for at in range(0, board.position.last + 1, 3):
        board.seek(at)
        board.grab()
    assert board.words()
    bench.press(Qt.Key.Key_End)
    assert bench.page.bar.result.text().startswith("max |gradient")
