"""The mode Lanes in the window: three lanes in step, chosen and moved as everything else on the page."""

from typing import Any

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QApplication, QScrollBar
from pytestqt.qtbot import QtBot

from flashscope.app.control.settings import Settings
from flashscope.app.look.theme import CONTRAST, DARK, LIGHT
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.pages.stepper.lanes_board import FAILED, LanesBoard
from flashscope.app.plots.stepper import held, lane_memory, lane_panel, panel
from flashscope.app.plots.stepper.panel import SMALL, put
from flashscope.app.shell.full_screen import FullScreen
from flashscope.app.shell.presenter import venue
from flashscope.app.shell.shots import grab_whole
from flashscope.app.stage.blanks import fill
from flashscope.app.stage.story import Stop
from flashscope.app.stepper.lock_step import LockStep
from flashscope.app.words.units import traffic_text
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.wire.events import TraceReady
from tests.app.pages.stepper.conftest import Bench
from tests.app.rig import Rig
from tests.app.shell.presenter.conftest import answer
from tests.app.shell.presenter.test_legible import clipped, letters
from tests.app.stepper.builders import build_trace, random_trace
from tests.matrix import chosen


def lanes(page: StepperPage) -> LanesBoard:
    board = page.modes.board
    assert isinstance(board, LanesBoard)
    return board


def story(page: StepperPage) -> LockStep:
    assert isinstance(page.story, LockStep)
    return page.story


def told(page: StepperPage, key: str) -> str:
    """What a screen reader says of a lane."""
    return next(one.accessibleDescription() for one in lanes(page).panels if one.key == key)


@pytest.fixture
def walked(bench: Bench) -> Bench:
    """Lanes over eight by eight tiles, with both traces there."""
    page = bench.show("random")
    bench.click(page.bar.modes.buttons["lanes"])
    bench.qtbot.waitUntil(lambda: "trace is being recorded" not in page.words())
    return bench


def test_a_click_on_lanes_has_the_other_order_traced_on_the_same_problem(walked: Bench) -> None:
    mine, beside = walked.engine.requests[-2:]
    assert (mine.order, beside.order) == ("flash2", "flash1")
    assert beside == replace(mine, order="flash1")
    assert walked.page.story is not None
    assert walked.page.story.recording.order == "flash2"


def test_the_transport_moves_all_lanes_by_the_same_work(walked: Bench) -> None:
    page = walked.page
    page.seek(0)
    for _ in range(3):
        walked.press(Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert page.position is not None
    assert page.position.at == 18
    assert (
        lanes(page).said.text().startswith("With tile 3 of 64 done by flash1 and flash2, standard has moved ")
    )
    assert "tile 1,0: writes" in told(page, "standard")  # three tiles of 64, of S, each read and written
    assert "tile 2,0" in told(page, "flash1")
    assert "tile 0,2" in told(page, "flash2")
    walked.press(Qt.Key.Key_Left)
    assert page.position.at == 17
    page.transport.scrubber.setValue(6 * 33 + 1)
    assert "loads, tile 4,1" in told(page, "flash2")
    assert "loads, tile 1,4" in told(page, "flash1")


def test_at_the_end_each_lane_says_that_it_has_moved_all_that_it_moves(walked: Bench) -> None:
    page = walked.page
    walked.press(Qt.Key.Key_End)
    for key, lane in story(page).lanes.items():
        assert f"so far {traffic_text(lane.total)} of {traffic_text(lane.total)} (model)" in told(page, key)


def test_n_steps_forward_and_n_back_say_the_same_of_every_lane(walked: Bench) -> None:
    page = walked.page
    page.seek(100)
    before = page.words()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Left):
        for _ in range(9):
            walked.press(key)
    assert page.words() == before


def test_the_moments_when_s_and_p_leave_and_come_back_are_marked_and_said(walked: Bench) -> None:
    page = walked.page
    page.seek(0)
    said = []
    for _ in range(500):
        walked.press(Qt.Key.Key_BracketRight)
        assert page.position is not None
        if any(event.at == page.position.at and event.kind == "passes" for event in page.events):
            said.append(lanes(page).said.text().partition(". With ")[0])
        if page.position.at > 4 * 64:
            break
    assert said == [
        "S leaves for memory",
        "S comes back from memory",
        "S comes back from memory. P leaves for memory",
        "P comes back from memory",
    ]
    assert {event.at for event in page.transport.scrubber._events if event.kind == "passes"} == {
        2,
        129,
        130,
        257,
    }


def test_each_lane_reads_out_what_is_on_the_chip_in_memory_and_moved(walked: Bench) -> None:
    page = walked.page
    page.seek(6 * 12 + 3)
    standard, flash1, flash2 = (told(page, key) for key in ("standard", "flash1", "flash2"))
    assert standard.startswith("standard: S = QKᵀ, tile 4,5: reads. On core’s cache: Q4, K5, S4,5, 1.25 KiB.")
    assert "In memory: Q 4.00 KiB, K 4.00 KiB, V 4.00 KiB, S 9.25 KiB so far." in standard
    assert "This step reads 1.02 kB and writes 0 B" in standard
    assert "On core’s cache: Q4, K1, V1, m ℓ O, S4,1, 2.31 KiB." in flash1
    assert "m ℓ O 4.50 KiB" in flash1
    assert "S 9.25" not in flash1 + flash2
    assert "flash2: m′ = max(m, S), tile 1,4." in flash2
    assert all("(model)" in one and "row " in one for one in (standard, flash1, flash2))
    assert "<" not in page.words()


def test_the_state_of_each_lane_is_that_of_its_trace_and_in_the_end_the_same(walked: Bench) -> None:
    page = walked.page
    page.transport.follow.setChecked(False)
    page.transport.row.setValue(63)
    walked.press(Qt.Key.Key_End)
    view = page.view
    assert view is not None
    exact = float(view.recording.exact[63, 0])
    standard, flash1, flash2 = lanes(page).panels
    ends = [one._row_now(view) for one in (standard, flash1, flash2)]
    assert all(end is not None and end.o is not None and end.l for end in ends)
    first, second, third = ends
    assert first
    assert second
    assert third
    assert first.o == pytest.approx(exact, abs=1e-5)
    assert second.o == pytest.approx(exact, abs=1e-5)
    assert (third.o or 0.0) / (third.l or 1.0) == pytest.approx(exact, abs=1e-5)
    assert first.m == pytest.approx(second.m) == pytest.approx(third.m)


@pytest.mark.matrix
def test_a_trace_that_cannot_be_recorded_is_said_and_the_bytes_are_there_all_the_same(bench: Bench) -> None:
    page = bench.show("random")
    bench.engine.refusal = "The worker has gone."
    page.choose_mode("lanes")
    bench.qtbot.waitUntil(lambda: FAILED in page.words())
    assert told(page, "flash1").endswith("m, ℓ, O: there is no trace.")
    assert "row " in told(page, "standard")
    page.seek(10_000)
    assert f"so far {traffic_text(story(page).lanes['flash1'].total)}" in told(page, "flash1")


@pytest.mark.matrix
def test_another_trace_has_another_one_beside_it_and_a_late_answer_is_passed_over(bench: Bench) -> None:
    page = bench.show("random")
    bench.engine.silent = True
    page.choose_mode("lanes")
    bench.qtbot.waitUntil(lambda: bench.engine.requests[-1].order == "flash1")
    late = bench.engine.requests[-1]
    page.show_preset("causal")
    bench.engine.silent = False
    bench.engine.answer(late)
    bench.qtbot.waitUntil(lambda: page.story is not None and page.story.recording.problem.causal)
    bench.qtbot.waitUntil(lambda: "trace is being recorded" not in page.words())
    asked = [(one.problem.causal, one.order) for one in bench.engine.requests[-2:]]
    assert asked == [(True, "flash2"), (True, "flash1")]


@pytest.mark.matrix
def test_who_comes_back_to_lanes_has_nothing_traced_anew(walked: Bench) -> None:
    page, asked = walked.page, len(walked.engine.requests)
    page.seek(100)
    before = page.words()
    for mode in ("blocks", "lanes"):
        page.choose_mode(mode)
    assert len(walked.engine.requests) == asked
    page.seek(100)
    assert page.words() == before


@pytest.mark.matrix
def test_a_trace_of_the_session_on_show_is_taken_where_it_is_the_one_beside(bench: Bench) -> None:
    page = bench.show("random")
    asked = len(bench.engine.requests)
    page.choose_mode("lanes")
    board = lanes(page)
    board.offer_traces([random_trace(24, block=8, order="flash1"), random_trace(24, block=8)])
    bench.qtbot.waitUntil(lambda: len(bench.engine.requests) == asked + 1)
    page.show_trace(random_trace(24, block=8))
    assert "trace is being recorded" not in page.words()
    assert len(bench.engine.requests) == asked + 1


def test_what_a_gpu_traced_is_said_in_its_own_words_and_against_its_shared_memory(bench: Bench) -> None:
    page = bench.show("random")
    page.choose_mode("lanes")
    problem = Problem(seqlen_q=16, seqlen_k=16, head_dim=8, dtype="float16")
    page.show_trace(build_trace(TraceRequest(problem=problem, backend="cuda", block_q=8, block_k=8)))
    bench.qtbot.waitUntil(lambda: "trace is being recorded" not in page.words())
    page.seek(2)
    assert "On SRAM: Q0, K0, S0,0, 512 B of 227 KiB (Hopper). In HBM: Q 256 B" in told(page, "standard")
    assert lanes(page).said.text().startswith("S leaves for HBM.")
    assert "tile 0,0: writes. S leaves for HBM. On SRAM" in told(page, "standard")
    assert bench.engine.requests[-1].backend == "cpu"
    page.modes.take_limit(100 * 1024)
    page.seek(3)
    assert "of 100 KiB" in told(page, "standard")


@chosen("theme", [LIGHT, CONTRAST, DARK], [DARK])
def test_lanes_are_painted_in_every_theme_and_size(walked: Bench, theme: object) -> None:
    page = walked.page
    page.apply_theme(next(one for one in (LIGHT, CONTRAST, DARK) if one is theme))
    for width, height in ((400, 500), (1200, 646), (1900, 1000)):
        page.resize(width, height)
        for at in (0, 1, 2, 130, 257, 384):
            page.seek(at)
            grabbed = lanes(page).panels[0].grab().toImage()
            assert grabbed.pixelColor(grabbed.width() // 2, 2).isValid()


def beyond(board: LanesBoard, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of the lanes that do not stand in the room they have."""
    found: list[str] = []

    def noting(painter: QPainter, rect: QRectF, html: str, *rest: Any) -> float:
        wide = put(painter, rect, html, *rest)
        page = QRectF(painter.viewport()).adjusted(0, -1, 1, 1)
        if wide > rect.width() + 1 or rect.top() < page.top() or rect.bottom() > page.bottom() + 3:
            found.append(f"{html}: {wide:.0f} in {rect.width():.0f} x {rect.height():.0f}")
        return wide

    with monkeypatch.context() as patch:
        for module in (panel, held, lane_panel, lane_memory):
            patch.setattr(module, "put", noting)
        for one in board.panels:
            one.grab()
    return found


@chosen("size", [(300, 330), (380, 480), (640, 900)], {(300, 330)})
def test_every_text_of_a_lane_stands_in_the_room_it_has(
    walked: Bench, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    board = lanes(walked.page)
    for at in (0, 1, 2, 20, 129, 130, 257, 384):
        walked.page.seek(at)
        for one in board.panels:
            one.resize(*size)
        assert beyond(board, monkeypatch) == []


@chosen("height", range(170, 280, 10), {170})
def test_the_names_of_arrays_in_memory_never_meet(
    walked: Bench, monkeypatch: pytest.MonkeyPatch, height: int
) -> None:
    standard = lanes(walked.page).panels[0]
    walked.page.seek(130)
    standard.take_any_room(True)
    standard.resize(160, height)
    met = []

    def noting(painter: QPainter, rect: QRectF, html: str, *rest: Any) -> float:
        if html in {"Q", "K", "V", "S", "P", "O"} and painter.fontMetrics().capHeight() > rect.height():
            met.append(html)
        return put(painter, rect, html, *rest)

    monkeypatch.setattr(lane_memory, "put", noting)
    standard.grab()
    assert met == []


@pytest.mark.matrix
@pytest.mark.parametrize("height", [720, 1080])
def test_on_a_stage_the_lanes_fill_it_and_nothing_scrolls(
    rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, height: int
) -> None:
    screen = 800  # pixels of the screen that these tests have
    monkeypatch.setattr(venue, "HEIGHT", venue.HEIGHT * screen / max(height, venue.HEIGHT))
    monkeypatch.setattr(FullScreen, "toggle", lambda *_: None)
    window = rig.window()
    window.show_page("stepper")
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    page.show_preset("random")
    answer(rig)
    page.choose_mode("lanes")
    answer(rig)
    page.seek(130)
    window.trigger("stage")
    window.appearance.finish()
    window.resize(height * 16 // 9, height)
    qtbot.waitUntil(lambda: not window.stage.loading.on)
    qtbot.waitUntil(lambda: lanes(page).width() > 0.9 * window.width())
    grab_whole(window)
    assert [one for one in window.findChildren(QScrollBar) if one.isVisible()] == []
    assert {text: px for text, px in letters(window) if px < {720: 24, 1080: 27}[height]} == {}
    assert list(clipped(window)) == []
    assert beyond(lanes(page), monkeypatch) == []
    assert window.stage.frame.sentence.text().startswith("In tile 22 of 64 flash2 has moved ")
    for one in lanes(page).panels:
        assert one.visibleRegion().boundingRect() == one.rect()
        assert one.sized(SMALL).pixelSize() >= {720: 24, 1080: 27}[height]
    stop = page.staging.stop
    assert (stop.mode, stop.preset, stop.step) == ("lanes", "random", 130)
    window.trigger("stage")
    assert not window.stage.on
    assert page.modes.key == "lanes"
    assert lanes(page).said.isVisibleTo(page)


def test_a_stop_of_a_story_shows_lanes_at_its_step_and_may_say_what_they_moved(
    rig: Rig, qtbot: QtBot
) -> None:
    window = rig.window()
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    page.staging.show_stop(Stop("stepper", preset="causal", mode="lanes", step=74))
    rig.say([TraceReady(trace=build_trace(request)) for request in rig.engine.traces])
    qtbot.waitUntil(lambda: page.position is not None and page.position.at == 74)
    assert page.staging.sentence.startswith("In tile 13 of 36 flash2 has moved ")
    said = fill("{moved-standard} and {moved-flash2}: {moved-ratio}", page.staging.scene)
    moved = {key: lane.moved(74).total for key, lane in story(page).lanes.items()}
    pair = traffic_text(moved["standard"]), traffic_text(moved["flash2"])
    assert said == f"{pair[0]} and {pair[1]}: {moved['standard'] / moved['flash2']:.2f}×"
    page.staging.leave()
    QApplication.processEvents()
    assert page.modes.key == "blocks"


@pytest.mark.matrix
def test_a_window_comes_back_in_lanes_where_they_were_chosen_last(rig: Rig, qtbot: QtBot) -> None:
    Settings().stepper_mode = "lanes"
    window = rig.window()
    window.show_page("stepper")
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    assert (page.modes.key, page.bar.modes.current) == ("lanes", "lanes")
    assert page.bar.order.isHidden()
    answer(rig)
    assert "With tile 1 of 2 done by flash1 and flash2, standard has moved " in lanes(page).said.text()
    action = window.registry.find("stepper.mode.blocks")
    assert action is not None
    action.trigger()
    assert (page.modes.key, Settings().stepper_mode) == ("blocks", "blocks")
