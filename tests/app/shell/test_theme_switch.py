"""A switch of the theme: in several turns of the event loop, and never half of it in view."""

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.look.stylesheet import stylesheet
from app.look.theme import CONTRAST, DARK, LIGHT
from app.shell.main_window import MainWindow


@pytest.fixture
def switches(
    window: MainWindow, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[int, str]]:
    """Every stylesheet that is set from now on, with the turn of the event loop in which it was."""
    window.appearance.use(DARK)
    turns = [0]
    timer = QTimer(window, interval=0)
    timer.timeout.connect(lambda: turns.append(turns.pop() + 1))
    timer.start()
    made: list[tuple[int, str]] = []
    dress = qapp.setStyleSheet

    def counting(_app: QApplication, sheet: str) -> None:
        assert not window.updatesEnabled(), "a window in neither theme would be painted"
        made.append((turns[0], sheet))
        dress(sheet)

    monkeypatch.setattr(QApplication, "setStyleSheet", counting)
    return made


def test_a_switch_takes_the_old_stylesheet_away_in_a_turn_of_its_own(
    window: MainWindow, qtbot: QtBot, switches: list[tuple[int, str]]
) -> None:
    window.appearance.choose("light")
    assert switches == []
    with qtbot.waitSignal(window.appearance.changed):
        pass
    qtbot.waitUntil(window.updatesEnabled)
    (first, bare), (second, dressed) = switches
    assert (bare, dressed) == ("", stylesheet(LIGHT))
    assert first < second
    assert window.palette().window().color().name() == LIGHT.bg.lower()


def test_another_choice_in_the_middle_of_a_switch_is_the_one_that_is_seen(
    window: MainWindow, qtbot: QtBot, switches: list[tuple[int, str]]
) -> None:
    window.appearance.choose("light")
    window.appearance.choose("contrast")
    qtbot.waitUntil(lambda: len(switches) == 4 and window.updatesEnabled())
    assert switches[-1][1] == stylesheet(CONTRAST)
    assert window.appearance.theme is CONTRAST
