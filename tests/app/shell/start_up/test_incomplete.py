"""The window of a copy without the files that come with the program."""

import signal
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from flashscope.app.control.settings import Settings
from flashscope.app.look import assets
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.start_up import run
from tests.app.rig import Rig


def test_the_window_of_an_incomplete_copy_says_so_in_its_message_line(
    rig: Rig, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def loop(*_: object) -> int:
        windows = (one for one in qapp.topLevelWidgets() if isinstance(one, MainWindow) and one.isVisible())
        window = next(windows)
        seen.append(window.errors.text)
        window.close_unasked()
        return 0

    monkeypatch.setattr(assets, "ASSETS", tmp_path)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(QApplication, "exec", loop)
    run._until_closed(qapp, run._open(rig.controller, Settings(), None))
    assert seen == [assets.why_incomplete()]
