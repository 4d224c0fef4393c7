"""At 1280 x 720 the modes fit at every zoom: no text is cut off, and none scrolls sideways."""

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication, QLabel, QScrollArea

from flashscope.app.pages.stepper import StepperPage
from flashscope.app.pages.stepper.predict_board import PredictBoard
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.shots import grab_whole
from flashscope.app.stage.numbers import raised
from flashscope.app.stepper.modes import BACKWARD
from flashscope.app.stepper.numbers import power
from flashscope.app.stepper.presets import Options, own
from flashscope.kernels.cpu.backward_trace import record as record_backward
from flashscope.kernels.cpu.trace import record
from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import FAULTS, Fault, TraceRequest
from tests.app.rig import Rig
from tests.app.shell.layout.test_fits import is_cut, texts
from tests.matrix import chosen

ZOOMS = (80, 100, 150, 200, 250)
REQUEST = own(Options(seqlen=512, head_dim=4, block_q=64, block_k=64, causal=True))

BACKWARD_REQUEST = BackwardTraceRequest(
    problem=Problem(seqlen_q=64, seqlen_k=64, heads=1, head_dim=16, passes="backward"),
    block_q=16,
    block_k=16,
)


@pytest.fixture
def window(rig: Rig) -> MainWindow:
    made = rig.window()
    made.resize(1280, 720)
    return made


def shown_result(page: StepperPage) -> str:
    """What the bar says of the end, as it is drawn."""
    return QLabel.text(page.bar.result)


@chosen("mode", ["blocks", "lanes"], {"lanes"})
def test_the_result_at_the_end_is_a_whole_number_beside_the_controls(window: MainWindow, mode: str) -> None:
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    window.show_page("stepper")
    page.show_trace(record(REQUEST))
    page.choose_mode(mode)
    page.seek(10**6)
    grab_whole(window)
    told, error = shown_result(page), raised(power(page.story.recording.max_error))  # type: ignore[union-attr]
    assert told.startswith(f"max |O − exact| = {error}")
    assert "…" not in told
    assert "512 rows, measured" in page.bar.result.toolTip() + told
    assert not page.modes.findChildren(QScrollArea)[0].verticalScrollBar().maximum(), "its line took room"


@chosen("fault", FAULTS, FAULTS[:1])
def test_what_a_fault_does_at_the_end_is_a_whole_number(window: MainWindow, fault: Fault) -> None:
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    window.show_page("stepper")
    page.show_trace(record(REQUEST))
    page.choose_mode("broken")
    page.commands.show_fault(fault)
    page.modes.board.take_beside(record(replace(REQUEST, fault=fault)))
    page.seek(10**6)
    grab_whole(window)
    whole = page.bar.result.text()
    assert shown_result(page) in {whole, whole.partition(" over ")[0]} - {""}


@pytest.mark.matrix
@pytest.mark.parametrize("percent", ZOOMS)
@pytest.mark.parametrize("mode", ["broken", "predict"])
def test_no_text_of_a_mode_is_cut_off_at_any_zoom(window: MainWindow, mode: str, percent: int) -> None:
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    window.show_page("stepper")
    page.show_trace(record(REQUEST))
    page.choose_mode(mode)
    board = page.modes.board
    board.take_beside(record(_broken(REQUEST)))
    window.appearance.zoom(percent)
    window.appearance.finish()
    wrong = []
    for at in (0, 40, 10**6):
        page.seek(at)
        if isinstance(board, PredictBoard):
            board.answer(0)
        for _ in range(2):
            QApplication.processEvents()
            grab_whole(window)
        wrong += [
            f"{at}: {one.accessibleName() or one!r} {one.size()}" for one in texts(window) if is_cut(one)
        ]
        areas = [area for area in page.findChildren(QScrollArea) if area.isVisible()]
        wrong += [f"{at}: {area!r} scrolls" for area in areas if area.horizontalScrollBar().maximum()]
    assert board.settled
    assert not wrong, "\n".join(wrong)


def test_the_controls_of_a_backward_pass_stay_in_view_at_200_percent(window: MainWindow) -> None:
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    window.show_page("stepper")
    page.show_trace(record(REQUEST))
    page.show_mode(BACKWARD)
    board = page.backwards.board
    board.show_trace(record_backward(BACKWARD_REQUEST))
    window.appearance.zoom(200)
    window.appearance.finish()
    for _ in range(2):
        QApplication.processEvents()
        grab_whole(window)
    transport = board.transport
    assert transport.visibleRegion().boundingRect() == transport.rect()


def _broken(request: TraceRequest) -> TraceRequest:
    return replace(request, fault="no-rescale")
