"""Opens the window and stays until it is closed, a signal ends the program or its display goes away."""

import gc
import signal
import sys
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget

from app.control.controller import Controller
from app.control.settings import Settings
from app.look.appearance import appearance_of
from app.shell.application import make_application
from app.shell.lost_display import left_in_order
from app.shell.main_window import FIRST_SIZE, MainWindow, build_window
from app.shell.troubles import Troubles
from app.stage.story import Story
from profiles.engine.local import LocalEngine
from profiles.store import sessions_dir
from profiles.wire.text import harmless


def run_window(open_path: Path | None, splash: QWidget | None = None, story: Story | None = None) -> int:
    """Open the window and stay until it is closed; returns the exit code.

    Args:
        open_path: A session file to show, or None for the start page.
        splash: What goes once the window is on the screen.
        story: What is presented at once, None for nothing.
    """
    settings = Settings()
    app = make_application()
    controller = Controller(LocalEngine, sessions_dir())
    try:
        with left_in_order(app, lambda: _leave_lost_display(controller)):
            window = _open(controller, settings, open_path)
            if splash is not None:
                splash.close()
            if story is not None:
                QTimer.singleShot(0, lambda: window.stage.enter(story))
            elif open_path is None:
                QTimer.singleShot(0, window.tour.begin_first)
            return _until_closed(app, window)
    finally:
        controller.close()  # or the engine's thread would keep the process for ever


def _open(controller: Controller, settings: Settings, open_path: Path | None) -> MainWindow:
    window = build_window(controller, appearance_of(settings.appearance).theme)
    sys.excepthook = Troubles(window.notices.show_error, window).take
    for number in (signal.SIGINT, signal.SIGTERM):
        # Python runs it at the bridge's next tick; not to close in a paint or before the loop has begun.
        signal.signal(number, lambda *_: QTimer.singleShot(0, window.close_unasked))
    if settings.geometry is None or not window.restoreGeometry(settings.geometry):
        window.resize(*FIRST_SIZE)
    keep_on_screen(window)
    window.show()
    gc.enable()
    # Or each full collection would go through all that is there then: 50 ms.
    window.ahead.loaded.connect(gc.freeze)
    if open_path is not None:
        QTimer.singleShot(0, lambda: window.open_path(open_path))
    return window


def _until_closed(app: QApplication, window: MainWindow) -> int:
    code = app.exec()
    if window.isVisible():  # the display is gone: Qt ends the loop and closes nothing
        _leave_lost_display(window.controller)
    return code


def keep_on_screen(window: QWidget) -> None:
    """Make a window that is larger than its screen as large as that."""
    room = window.screen().availableGeometry()
    if not room.contains(window.geometry()):
        window.resize(window.size().boundedTo(room.size()))
        window.move(room.topLeft())


def _leave_lost_display(controller: Controller) -> None:
    """Stop everything and tell what is kept, without a word to any widget."""
    controller.blockSignals(True)
    controller.close()
    path = controller.path
    kept = f"; what was measured is in {path}" if path is not None and path.exists() else ""
    sys.stderr.write(harmless(f"flashscope: the display went away{kept}.\n"))
    sys.stderr.flush()
