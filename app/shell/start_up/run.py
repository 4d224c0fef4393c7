"""Opens the window and stays until it is closed, a signal ends the program or its display goes away."""

import gc
import signal
import sys
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import delete, isValid

from flashscope.app.control.appearance import appearance_of
from flashscope.app.control.controller import Controller
from flashscope.app.control.settings import Settings
from flashscope.app.look.assets import missing_assets, why_incomplete
from flashscope.app.shell.main_window import FIRST_SIZE, MainWindow, build_window
from flashscope.app.shell.start_up.application import make_application
from flashscope.app.shell.start_up.lost_display import left_in_order
from flashscope.app.shell.start_up.troubles import Troubles
from flashscope.app.stage.story import Story
from flashscope.installation import PROGRAM
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.store import sessions_dir
from flashscope.profiles.wire.text import harmless


def run_window(
    open_path: Path | None,
    splash: QWidget | None = None,
    story: Story | None = None,
    connect: tuple[str, ...] = (),
) -> int:
    """Open the window and stay until it is closed; returns the exit code.

    Args:
        open_path: A session file to show, or None for the start page.
        splash: What goes once the window is on the screen.
        story: What is presented at once, None for nothing.
        connect: The connection files or addresses of the machines to measure on; none: this one.
    """
    settings = Settings()
    app = make_application()
    controller = Controller(LocalEngine, sessions_dir())
    try:
        with left_in_order(app, lambda: _leave_lost_display(controller)):
            window = _open(controller, settings, open_path, story)
            if splash is not None:
                splash.close()
            if connect:
                QTimer.singleShot(0, window, lambda: window.connecting.connect_to(*connect))
            elif story is None and open_path is None:
                QTimer.singleShot(0, window, window.tour.begin_first)
            return _until_closed(app, window)
    finally:
        controller.close()  # or the engine's thread would keep the process for ever


def _open(
    controller: Controller, settings: Settings, open_path: Path | None, story: Story | None = None
) -> MainWindow:
    window = build_window(controller, appearance_of(settings.appearance).theme)
    sys.excepthook = Troubles(window.notices.show_error, window).take
    if lack := why_incomplete():
        window.notices.show_error(lack, "\n".join(missing_assets()))
    for number in (signal.SIGINT, signal.SIGTERM):
        # Python runs it at the bridge's next tick; not to close in a paint or before the loop has begun.
        signal.signal(number, lambda *_: isValid(window) and QTimer.singleShot(0, window.close_unasked))
    if settings.geometry is None or not window.restoreGeometry(settings.geometry):
        window.resize(*FIRST_SIZE)
    keep_on_screen(window)
    window.show()
    if story is not None:  # in this turn, before anything is painted: an audience may be watching
        window.stage.enter(story)
    window.ahead.loaded.connect(lambda: _spare_collections(window))
    if open_path is not None:
        QTimer.singleShot(0, window, lambda: window.open_path(open_path))
    return window


def _spare_collections(window: MainWindow) -> None:
    """Leave what is there out of full collections, which would go through all of it: 50 ms each.

    Not when it is told of while the window closes: what goes with that is to be collected.
    """
    if window.isVisible():
        gc.freeze()


def _until_closed(app: QApplication, window: MainWindow) -> int:
    """Stay, then delete the window and all it made, which its signals hold where Python collects nothing."""
    code = app.exec()
    if window.isVisible():  # the display is gone: Qt ends the loop and closes nothing
        _leave_lost_display(window.controller)
    else:
        delete(window)
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
    sys.stderr.write(harmless(f"{PROGRAM}: the display went away{kept}.\n"))
    sys.stderr.flush()
