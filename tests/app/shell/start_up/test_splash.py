"""Something is on the screen before the rest of the program is loaded."""

import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.look.theme import DARK, LIGHT
from flashscope.app.shell.start_up import run
from flashscope.app.shell.start_up.splash import show_splash
from tests.app.rig import Rig

ROOT = Path(__file__).parents[4]
HEAVY = ("numpy", "pyqtgraph", "msgspec", "flashscope.app.pages.base", "flashscope.app.control.controller")
SHOW = f"""
import sys
from flashscope.app.shell.start_up.splash import show_splash
splash = show_splash()
assert splash.isVisible()
print([name for name in {HEAVY} if name in sys.modules])
"""


def test_it_is_on_show_before_anything_heavy_is_loaded() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", SHOW], cwd=ROOT, capture_output=True, text=True, check=True, timeout=300
    )
    assert shown.stdout.strip() == "[]"


def test_it_is_a_picture_with_words_in_the_colours_of_the_desktop(qtbot: QtBot, qapp: QApplication) -> None:
    splash = show_splash()
    qtbot.addWidget(splash)
    picture = splash.pixmap().toImage()
    panel = picture.pixelColor(1, 1).name().upper()
    assert panel in {DARK.panel, LIGHT.panel}
    seen = {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}
    assert len(seen) > 20  # icon and letters


def test_it_goes_when_the_window_is_there(
    rig: Rig, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loop(*_: object) -> int:
        assert any(one.isVisible() for one in qapp.topLevelWidgets() if one is not splash)
        assert not splash.isVisible()
        for window in qapp.topLevelWidgets():
            window.close()
        return 0

    splash = show_splash()
    monkeypatch.setattr(run, "Controller", lambda *_: rig.controller)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(QApplication, "exec", loop)
    assert run.run_window(None, splash) == 0
