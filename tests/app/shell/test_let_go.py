"""A window that is closed and deleted takes all it made with it."""

import gc
import weakref

from PySide6.QtCore import QCoreApplication, QEvent
from pytestqt.qtbot import QtBot

from tests.app.rig import Rig


def test_a_deleted_window_leaves_no_python_half_behind(rig: Rig, qtbot: QtBot) -> None:
    window = rig.window()
    gone = {name: weakref.ref(part) for name, part in [("window", window), *window.pages.items()]}
    window.close_unasked()
    window.deleteLater()
    del window
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def nothing_is_left() -> None:  # once what it had put off is due
        gc.collect()
        assert [name for name, part in gone.items() if part() is not None] == []

    qtbot.waitUntil(nothing_is_left)
