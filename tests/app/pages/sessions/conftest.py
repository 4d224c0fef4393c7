"""The page of sessions over files that a test saves."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.pages.sessions import page as sessions
from flashscope.app.pages.sessions.columns import COLUMNS
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.shell.main_window import MainWindow
from tests.app.fakes import sweep
from tests.app.rig import Rig, Save

NAME, POINTS = 0, next(i for i, column in enumerate(COLUMNS) if column.title == "Points")


@pytest.fixture(autouse=True)
def nothing_comes_with_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "BUNDLED", tmp_path / "none")


@pytest.fixture
def window(rig: Rig) -> MainWindow:
    return rig.window()


@pytest.fixture
def page(window: MainWindow) -> SessionsPage:
    window.show_page("sessions")
    found = window.pages["sessions"]
    assert isinstance(found, SessionsPage)
    return found


def fill(page: SessionsPage, save: Save, qtbot: QtBot, *names: str) -> None:
    for place, name in enumerate(names, 1):
        save(sweep(points=None if place == 1 else place), name)
    listed(page, qtbot, len(names))


def listed(page: SessionsPage, qtbot: QtBot, count: int) -> None:
    page.refresh()
    qtbot.waitUntil(lambda: page.model.rowCount() == count, timeout=60_000)


def names(page: SessionsPage) -> list[str]:
    return [page.model.index(row, NAME).data() for row in range(page.model.rowCount())]


def choose(page: SessionsPage, name: str) -> None:
    page.table.selectRow(names(page).index(name))


def choose_all(page: SessionsPage, *wanted: str) -> None:
    infos = {names(page)[row]: info for row, info in enumerate(page.model.infos())}
    page.table.choose({infos[name].path for name in wanted})
