"""The mode Broken: a fault beside the right trace, by mouse and by keys, on a stage and from a file."""

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from flashscope.app.pages.stepper import StepperPage
from flashscope.app.pages.stepper.broken_board import RECORDING, BrokenBoard
from flashscope.app.stage.story import Stop, StoryError, story_of
from flashscope.app.stepper.comparison import FaultComparison
from flashscope.app.stepper.lock_step import is_beside
from flashscope.app.stepper.modes import MODES
from flashscope.app.stepper.presets import Options, own
from flashscope.app.stepper.recording import Recording
from flashscope.app.words.inside.faults import WORDS
from flashscope.app.words.inside.tracing import broken
from flashscope.kernels.cpu.trace import record
from flashscope.kernels.workload.trace import FAULTS, Fault
from flashscope.profiles.wire.events import PlanFinished, TraceReady
from tests.app.pages.stepper.conftest import Bench
from tests.app.rig import Rig
from tests.matrix import chosen
from tests.profiles.store import builders


@pytest.fixture
def real(bench: Bench) -> Bench:
    """The page over traces of the CPU backend."""
    bench.engine.real = True
    return bench


def board_of(page: StepperPage) -> BrokenBoard:
    board = page.modes.board
    assert isinstance(board, BrokenBoard)
    return board


def broken_page(bench: Bench, preset: str, fault: Fault) -> tuple[StepperPage, BrokenBoard]:
    """The page in the mode, with both traces."""
    page = bench.show(preset)
    page.commands.show_fault(fault)
    board = board_of(page)
    bench.qtbot.waitUntil(lambda: board.pair.comparison is not None)
    return page, board


def both(board: BrokenBoard) -> FaultComparison:
    assert board.pair.comparison is not None
    return board.pair.comparison


def test_the_mode_asks_for_the_same_trace_with_the_fault_and_shows_both(real: Bench) -> None:
    page = real.show("random")
    real.click(page.bar.modes.buttons["broken"])
    board = board_of(page)
    real.qtbot.waitUntil(lambda: board.pair.comparison is not None)
    right, wrong = real.engine.requests[-2:]
    assert wrong == replace(right, fault="no-rescale")
    assert page.story is not None
    assert page.story.recording.fault == ""
    assert both(board).broken.recording.fault == "no-rescale"


def test_a_fault_is_picked_in_the_list_and_recorded_once(real: Bench) -> None:
    _, board = broken_page(real, "random", "no-rescale")
    before = len(real.engine.requests)
    for fault in ("softmax-per-tile", "no-rescale", "softmax-per-tile"):
        board.faults.setCurrentIndex(FAULTS.index(fault))
        real.qtbot.waitUntil(lambda: board.pair.comparison is not None)
        assert both(board).broken.recording.fault == fault
    assert len(real.engine.requests) == before + 1


@chosen("fault", FAULTS, [*FAULTS][:2])
def test_every_fault_is_named_in_words_title_and_badge(real: Bench, fault: Fault) -> None:
    page, board = broken_page(real, "causal", fault)
    assert broken(fault) in page.words()
    assert WORDS[fault].does in board.does.text()
    assert page.staging.provenance.badge.endswith(f"beside {broken(fault)}")
    assert board._lesson._title.text() == broken(fault)


@pytest.mark.matrix
def test_the_model_of_a_race_says_that_it_is_one(real: Bench) -> None:
    _, board = broken_page(real, "random", "stale-keys")
    assert "A model of a race" in board.does.text()


def test_the_key_w_goes_to_the_first_wrong_tile_of_the_row_watched(real: Bench) -> None:
    page, board = broken_page(real, "random", "no-rescale")
    page.transport.row.setValue(3)
    page.seek(0)
    real.press(Qt.Key.Key_W)
    wrong = both(board).row(3).first_wrong
    assert wrong is not None
    assert page.position is not None
    assert page.position.at == page.position.timeline.tile_ends[wrong.t]
    assert page.view is not None
    assert page.view.row == 3


@pytest.mark.matrix
def test_the_button_leads_to_another_row_where_the_one_watched_stays_right(
    real: Bench,
) -> None:
    page, board = broken_page(real, "causal", "no-rescale")
    page.transport.row.setValue(0)
    assert both(board).row(0).first_wrong is None
    real.click(board.first)
    wrong = both(board).first_wrong
    assert wrong is not None
    assert page.view is not None
    assert (page.view.row, page.view.step.tile) == (wrong.row, wrong.t)


@pytest.mark.matrix
def test_w_in_another_mode_leads_there_once_both_traces_are_recorded(real: Bench) -> None:
    page = real.show("rising")
    real.press(Qt.Key.Key_W)
    board = board_of(page)
    real.qtbot.waitUntil(lambda: board.pair.comparison is not None)
    assert page.view is not None
    assert page.view.step.tile == both(board).row(page.view.row).first_wrong[0]  # type: ignore[index]


@pytest.mark.matrix
def test_a_click_on_a_tile_of_the_distances_goes_there(real: Bench) -> None:
    page, board = broken_page(real, "random", "no-rescale")
    place = board.distance._slot(5).center()
    where = board.distance.mapToGlobal(place)
    release = QMouseEvent(
        QMouseEvent.Type.MouseButtonRelease,
        QPointF(place),
        QPointF(where),
        Qt.MouseButton.LeftButton,
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
    )
    board.distance.mouseReleaseEvent(release)
    assert page.view is not None
    assert page.view.step.tile == int(both(board).row(page.view.row).tiles[5])


def test_where_a_fault_does_not_show_it_says_why_and_leads_nowhere(real: Bench) -> None:
    page, board = broken_page(real, "falling", "no-rescale")
    assert "no tile raises a maximum that was there before" in page.words()
    assert not board.first.isEnabled()
    assert page.bar.result.property("role") == "ok"
    at = page.position
    real.press(Qt.Key.Key_W)
    assert page.position == at


def test_how_far_it_is_off_at_the_end_is_said_from_the_first_step_on(real: Bench) -> None:
    page, board = broken_page(real, "rising", "no-rescale")
    page.seek(0)
    recording = both(board).broken.recording
    error = float(np.abs(recording.output - recording.exact).max())
    assert f"= {error:.3f} over 32 rows" in page.bar.result.text()
    assert page.bar.result.property("role") == "error"


def test_both_states_stand_side_by_side_at_the_same_step(real: Bench) -> None:
    page, board = broken_page(real, "slide-reversed", "no-rescale")
    page.seek(10**6)
    assert board.table.accessibleDescription() == (
        "m: 3.000 right, 3.000 broken; α: 0.368 right, 0.368 broken; ℓ: 1.585 right, 2.358 broken; "
        "O: 2.250 right, 2.556 broken"
    )


@pytest.mark.matrix
def test_another_preset_is_broken_in_the_same_way(real: Bench) -> None:
    page, board = broken_page(real, "random", "no-maximum")
    page.show_preset("overflow")
    real.qtbot.waitUntil(
        lambda: board.pair.comparison is not None and both(board).right.recording.seqlen_q == 32
    )
    assert both(board).broken.recording.fault == "no-maximum"
    assert "NaN" in page.words()


def test_while_the_broken_trace_is_recorded_it_says_so(real: Bench) -> None:
    page = real.show("random")
    real.engine.silent = True
    page.choose_mode("broken")
    assert RECORDING in page.words()
    real.engine.answer(real.engine.requests[-1])
    real.qtbot.waitUntil(lambda: RECORDING not in page.words())


def test_a_broken_trace_that_is_refused_leaves_the_right_one_on_show(real: Bench) -> None:
    page = real.show("random")
    story = page.story
    real.engine.refusal = "No room."
    page.choose_mode("broken")
    real.qtbot.waitUntil(lambda: "could not be recorded" in page.words())
    assert page.story is not None
    assert story is not None
    assert page.story.recording is story.recording


def test_a_trace_that_nobody_waits_for_is_not_shown_where_it_has_a_fault(real: Bench) -> None:
    page = real.show("random")
    before = page.story
    real.controller.trace_ready.emit(record(replace(own(Options()), fault="no-rescale")))
    assert page.story is before


@pytest.mark.matrix
def test_what_was_asked_for_beside_a_trace_is_not_shown_in_its_place(real: Bench) -> None:
    page = real.show("random")
    real.engine.silent = True
    request = own(Options(seqlen=8))
    page._tracing.ask_beside(request)
    page._tracing.ask_beside(replace(request, fault="no-rescale"))
    before = page.story
    real.engine.answer(real.engine.requests[-1])
    real.qtbot.waitUntil(lambda: bool(real.engine.requests[-1].fault))
    assert page.story is before


def test_the_lanes_take_no_broken_trace_for_the_right_one_of_the_other_loop_order() -> None:
    right = record(own(Options(seqlen=8, head_dim=4, order="flash2")))
    other = replace(right.request, order="flash1")
    assert is_beside(right, record(other))
    assert not is_beside(right, record(replace(other, fault="no-rescale")))


@pytest.mark.matrix
def test_a_theme_and_a_narrow_window_change_nothing_in_words(real: Bench) -> None:
    page, _ = broken_page(real, "random", "no-rescale")
    before = page.words()
    page.resize(500, 900)
    page.apply_theme(page.theme)
    assert page.words() == before


@pytest.mark.matrix
def test_on_a_stage_the_sentence_names_the_fault_and_the_controls_are_away(real: Bench) -> None:
    page, board = broken_page(real, "rising", "no-rescale")
    page.staging.show_stop(Stop("stepper", mode="broken"))
    assert page.staging.sentence.startswith(
        "BROKEN: forget the rescale. Row 0 leaves the truth at tile 2 of 4"
    )
    assert board.faults.isHidden()
    assert len(page.staging.exhibits) == 3
    page.choose_mode("predict")
    page.staging.leave()
    assert not board.faults.isHidden()
    assert len(board.shown) == 6


@pytest.mark.matrix
def test_a_stop_names_the_fault_and_gives_it_back(real: Bench) -> None:
    page, board = broken_page(real, "rising", "no-rescale")
    page.seek(12)
    stop = page.staging.stop
    assert (stop.mode, stop.fault, stop.preset, stop.step) == ("broken", "no-rescale", "rising", 12)
    page.commands.show_fault("softmax-per-tile")
    page.choose_mode("blocks")
    assert page.staging.stop.fault == ""
    page.staging.show_stop(stop)
    real.qtbot.waitUntil(lambda: page.staging.settled)
    assert both(board).broken.recording.fault == "no-rescale"
    assert page.position is not None
    assert page.position.at == 12


@pytest.mark.matrix
def test_a_stage_waits_for_the_broken_trace_and_not_for_one_that_is_refused(real: Bench) -> None:
    page = real.show("random")
    real.engine.silent = True
    page.staging.show_stop(Stop("stepper", mode="broken", fault="no-maximum"))
    assert not page.staging.settled
    real.engine.refusal = "No room."
    real.engine.answer(real.engine.requests[-1])  # of the fault that was chosen before
    real.qtbot.waitUntil(lambda: real.engine.requests[-1].fault == "no-maximum")
    assert not page.staging.settled
    real.engine.answer(real.engine.requests[-1])
    real.qtbot.waitUntil(lambda: page.staging.settled)
    assert "could not be recorded" in page.words()


def test_a_story_may_name_a_fault_that_there_is_and_no_other() -> None:
    story = 'title = "a"\n[[stop]]\npage = "stepper"\nmode = "broken"\nfault = "{}"\n'
    assert story_of(Path("a.toml"), story.format("stale-keys").encode()).stops[0].fault == "stale-keys"
    with pytest.raises(StoryError, match="there is no fault 'stale-key'; did you mean stale-keys"):
        story_of(Path("a.toml"), story.format("stale-key").encode())


@chosen("fault", ["no-rescale", "float16-accumulators"], {"no-rescale"})
def test_a_session_with_a_broken_trace_opens_with_the_fault_named(
    rig: Rig, qtbot: QtBot, tmp_path: Path, fault: Fault
) -> None:
    trace = record(replace(own(Options(seqlen=16, head_dim=4)), fault=fault))
    events = builders.plan_started(), TraceReady(trace=trace), PlanFinished(t_ns=1, outcome="finished")
    path = builders.recorded(tmp_path / "broken.flashscope", *events)
    window = rig.window()
    window.show_page("stepper")
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    window.open_path(path)
    qtbot.waitUntil(lambda: page.story is not None and page.story.recording.fault == fault)
    named = broken(fault)
    assert page.bar.preset.currentText().startswith(f"Recorded: {named}")
    assert f"{named}, trace of flash2" in page.staging.provenance.badge
    assert fault in page.bar.source.text()
    titles = [card._title.text() for card in page.board.cards]
    assert named in titles
    for mode in MODES:
        page.choose_mode(mode.key)
        for at in (0, 10**6):
            page.seek(at)
            assert page.bar.result.text().startswith(named)
            assert page.bar.result.property("role") == "error"


def test_a_broken_trace_of_a_file_is_compared_with_the_right_one(real: Bench) -> None:
    page = real.show("random")
    trace = record(replace(own(Options(seqlen=16, head_dim=4)), fault="softmax-per-tile"))
    page.show_trace(trace)
    page.choose_mode("broken")
    board = board_of(page)
    real.qtbot.waitUntil(lambda: board.pair.comparison is not None)
    pair = both(board)
    assert pair.broken.recording.trace == trace
    assert pair.right.recording.trace == record(replace(trace.request, fault=""))
    assert board.beside == "the right one"
    assert Recording.of(trace).fault == "softmax-per-tile"


@pytest.mark.matrix
def test_a_trace_whose_inputs_are_not_those_of_its_seed_is_broken_on_its_own(real: Bench) -> None:
    page = real.show("random")
    request = own(Options(seqlen=16, head_dim=4, seed=1))
    elsewhere = replace(record(replace(request, problem=replace(request.problem, seed=2))), request=request)
    page.show_trace(elsewhere)
    page.choose_mode("broken")
    board = board_of(page)
    real.qtbot.waitUntil(lambda: board.pair.comparison is not None)
    pair = both(board)
    for recording in (pair.right.recording, pair.broken.recording):
        assert (recording.trace.q, recording.trace.v) == (elsewhere.q, elsewhere.v)
    np.testing.assert_array_equal(pair.right.recording.output, elsewhere.output.numpy())


def test_keys_step_in_the_mode_as_in_blocks(rig: Rig, qtbot: QtBot) -> None:
    window = rig.window()
    window.activateWindow()
    window.show_page("stepper")
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    page.show_trace(record(own(Options(seqlen=16, head_dim=4))))
    qtbot.waitUntil(page.transport.scrubber.hasFocus)
    page.choose_mode("broken")
    page.seek(0)
    QTest.keyClick(window.focusWidget(), Qt.Key.Key_Right)
    assert page.position is not None
    assert page.position.at == 1
