"""The menus of plots and rows: what stands in them is done by commands that there are elsewhere."""

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QContextMenuEvent, QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.paint_turns import PaintTurns
from tests.app.bench import end_saving
from tests.app.rig import Rig


def opened(at: QWidget, reason: QContextMenuEvent.Reason = QContextMenuEvent.Reason.Mouse) -> QMenu | None:
    """The menu that opens over the middle of a widget."""
    middle = at.rect().center()
    QApplication.sendEvent(at, QContextMenuEvent(reason, middle, at.mapToGlobal(middle)))
    menu = QApplication.activePopupWidget()
    return menu if isinstance(menu, QMenu) else None


def entries(menu: QMenu | None) -> list[str]:
    assert menu is not None
    texts = [action.text() for action in menu.actions() if not action.isSeparator()]
    menu.close()
    return texts


@pytest.fixture
def page(window: MainWindow, rig: Rig) -> ProfilePage:
    window.resize(1280, 800)
    rig.open(bundled_sessions()[0])
    window.show_page("profile")
    found = window.page
    assert isinstance(found, ProfilePage)
    drawn(found)
    return found


def drawn(page: QWidget) -> None:
    for turns in page.findChildren(PaintTurns):
        turns.finish()


@pytest.mark.parametrize("reason", [QContextMenuEvent.Reason.Mouse, QContextMenuEvent.Reason.Keyboard])
def test_a_plot_offers_what_can_be_done_with_it(page: ProfilePage, reason: QContextMenuEvent.Reason) -> None:
    card = page.plots.cells[1]
    assert entries(opened(card.plot.viewport(), reason)) == [
        "Show another quantity …",
        "Show all in the plots",
        "Logarithmic or linear bytes and times",
        "Show or hide the grid",
        "Fill the page with one plot, or show all",
        "Save as PNG ...",
        "Save as SVG ...",
        "Save numbers as CSV ...",
        "Copy picture",
        "Copy numbers",
    ]


def test_the_curve_that_is_pointed_at_is_shown_alone_and_all_again(page: ProfilePage) -> None:
    card = page.plots.cells[1]
    for kernels in (("flash2",), ("standard", "flash2")):
        page.plots._point_at("flash2")
        menu = opened(card.plot.viewport())
        assert menu is not None
        alone = next(action for action in menu.actions() if action.text() == "Show flash2 alone, or all")
        alone.trigger()
        menu.close()
        drawn(page)
        assert page.plots.kernels == kernels


def test_the_numbers_of_a_plot_are_copied(page: ProfilePage) -> None:
    button = page.plots.cells[1].export_button
    button.copy_numbers()
    end_saving(button)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].startswith("# title: Runtime")
    assert any(line.startswith("flash2,") for line in lines)


def test_on_a_stage_a_plot_has_no_menu(window: MainWindow, page: ProfilePage) -> None:
    window.stage.enter()
    drawn(page)
    assert opened(page.plots.cells[0].plot.viewport()) is None


@pytest.mark.parametrize("reason", [QContextMenuEvent.Reason.Mouse, QContextMenuEvent.Reason.Keyboard])
def test_a_row_of_the_results_offers_its_point(
    window: MainWindow, page: ProfilePage, reason: QContextMenuEvent.Reason
) -> None:
    window.show_page("results")
    drawn(page)
    table = page.bottom.table
    assert opened(table.viewport(), reason) is None
    table.selectRow(1)
    assert entries(opened(table.viewport(), reason)) == [
        "Show Curves",
        "Show Roofline & Why".replace("&", "&&"),
        "Note on the chosen point",
        "Copy the chosen rows of the results",
    ]
    action = window.registry.find("profile.copy_rows")
    assert action is not None
    action.trigger()
    assert len(QGuiApplication.clipboard().text().splitlines()) == 2


def test_the_folder_of_a_session_is_shown_or_named(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.show_page("sessions")
    page = window.page
    assert isinstance(page, SessionsPage)
    qtbot.waitUntil(lambda: page.model.rowCount() > 0)
    page.table.selectRow(0)
    asked: list[str] = []

    def opens(url: QUrl) -> bool:
        """A system that opens the first folder alone."""
        asked.append(url.toLocalFile())
        return len(asked) == 1

    monkeypatch.setattr(QDesktopServices, "openUrl", opens)
    page.reveal_chosen()
    page.reveal_chosen()
    info = page.chosen()
    assert info is not None
    assert asked == [str(info.path.parent)] * 2
    assert window.errors.text == f"No file manager can be opened. The file is {info.path}."
    menu = opened(page.table.viewport())
    assert "Show the chosen session's folder" in entries(menu)


@pytest.mark.matrix
def test_every_plot_with_an_export_has_the_menu_of_it(window: MainWindow, page: ProfilePage) -> None:
    for key in ("telemetry", "roofline", "traffic", "planner"):
        window.show_page(key)
        drawn(window.page)
        target = page.bottom if key == "telemetry" else window.page
        menu = next(card for card in (target, *target.findChildren(QWidget)) if hasattr(card, "plot_menu"))
        if menu.plot_menu._export.isVisible():
            assert "Copy numbers" in [action.text() for action in menu.plot_menu.menu().actions()], key
