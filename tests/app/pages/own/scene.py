"""The form of a window in which kernels of one's own are brought in."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.profile.form.own_rows import OwnRow
from flashscope.app.shell.main_window import MainWindow
from tests.app.mouse import drop


def profile(window: MainWindow) -> ProfilePage:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    return page


def dropped(window: MainWindow, qtbot: QtBot, *paths: Path) -> None:
    drop(window, paths)
    read(window, qtbot)


def read(window: MainWindow, qtbot: QtBot) -> None:
    """Wait until what was asked for is read, and taken in."""
    bringing = profile(window).bringing
    over: list[None] = []
    bringing._chores.do(lambda: None, over.append)
    qtbot.waitUntil(lambda: bool(over))


def row_of(window: MainWindow, name: str) -> OwnRow:
    return next(row for row in profile(window).form.kernels.own.rows if row.spec.name == name)


def names(window: MainWindow) -> list[str]:
    return [row.spec.name for row in profile(window).form.kernels.own.rows]
