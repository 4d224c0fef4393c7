"""The part of an exercise that takes place in Inside: modes, machine code, a launch in slow motion."""

from unittest.mock import patch

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from flashscope.app.control.chores import Chores
from flashscope.app.pages.ladder import LadderPage
from flashscope.app.pages.ladder.sass import job
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.pages.stepper.backward_board import BackwardBoard
from flashscope.app.pages.timeline import TimelinePage
from flashscope.app.plots.stepper.distance_panel import DistancePanel
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.shots import grab_whole
from flashscope.app.stepper.modes import BACKWARD, MODES
from flashscope.kernels.cpu.backward_trace import record
from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.events import RequestFailed
from flashscope.profiles.wire.live_events import LiveStarted
from tests.app.pages.ladder.sass.builds import Builds

PASS = BackwardTraceRequest(
    problem=Problem(seqlen_q=24, seqlen_k=20, heads=2, head_dim=16, passes="backward"), block_q=8, block_k=8
)


def settle() -> None:
    """Let Qt do what is due."""
    QApplication.processEvents()
    QApplication.sendPostedEvents()


def turn_modes(window: MainWindow) -> None:
    """Look at each mode of the Stepper, and come back to the first."""
    stepper = window.pages["stepper"]
    assert isinstance(stepper, StepperPage)
    window.show_page("stepper")
    for mode in (*MODES[1:], MODES[0]):
        stepper.show_mode(mode.key)
        if mode.key == BACKWARD:
            board = stepper.modes.board_of(BACKWARD)
            assert isinstance(board, BackwardBoard)
            board.show_trace(record(PASS))
        settle()
        grab_whole(window)
        for panel in stepper.findChildren(DistancePanel):
            QTest.mouseClick(panel, Qt.MouseButton.LeftButton)


def read_machine_code(window: MainWindow) -> None:
    """Show a build beside its source, choose a line of it and an instruction, and ask for the menu."""
    ladder = window.pages["ladder"]
    assert isinstance(ladder, LadderPage)
    window.show_page("ladder")
    board = ladder.sass_board
    with patch.object(job, "ListingRun", Builds()):
        ladder.sass.setChecked(True)
        for chores in (board.chores, board.job):
            Chores.wait(chores)  # to the end: a job's own way gives up
            settle()
    grab_whole(window)
    QTest.mouseClick(board.source.gutter, Qt.MouseButton.LeftButton)
    QTest.keyClick(board.code, Qt.Key.Key_Down)
    place = QPoint(5, 5)
    asked = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, board.code.mapToGlobal(place))
    QApplication.sendEvent(board.code.viewport(), asked)
    for menu in board.findChildren(QMenu):
        menu.close()
    ladder.sass.setChecked(False)


def launch(window: MainWindow) -> None:
    """Launch a kernel in slow motion, look at its tiles, and put them away."""
    page = window.pages["timeline"]
    assert isinstance(page, TimelinePage)
    window.show_page("timeline")
    page.bar.launch()
    live = window.controller.live
    assert live.asked is not None
    shape = {"block_q": 128, "block_k": 256, "tiles": 24, "multiprocessors": 4, "tile_ns": 10**9}
    live.take(LiveStarted(request=live.asked, **shape))
    settle()
    grab_whole(window)
    live.take(RequestFailed(request="live", reason="it was ended"))
    page.live.put_away()
