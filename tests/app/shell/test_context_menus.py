"""The menus of plots and rows: what stands in them is done by commands that there are elsewhere."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QContextMenuEvent, QDesktopServices, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.control.chores import wait_for_all
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.plots.export.exporter import Exporter
from flashscope.app.plots.plot_menu import PlotMenu
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.paint_turns import PaintTurns
from tests.app.bench import end_saving
from tests.app.pixels import pixels
from tests.app.rig import Rig
from tests.app.stepper.builders import random_trace
from tests.matrix import chosen

REASONS = QContextMenuEvent.Reason.Mouse, QContextMenuEvent.Reason.Keyboard
INSIDE = ["Look inside the point", "Record a timeline of the point"]
WRITTEN = ["Save as PNG ...", "Save as SVG ...", "Save numbers as CSV ...", "Copy picture", "Copy numbers"]


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


@pytest.mark.matrix  # it takes a second
@chosen("reason", REASONS, REASONS[1:])
def test_a_plot_offers_what_can_be_done_with_it(page: ProfilePage, reason: QContextMenuEvent.Reason) -> None:
    card = page.plots.cells[1]
    assert entries(opened(card.plot.viewport(), reason)) == [
        "Show another quantity …",
        *INSIDE,
        "Show all in the plots",
        "Logarithmic or linear bytes and times",
        "Show or hide the grid",
        "Fill the page with one plot, or show all",
        *WRITTEN,
    ]


@pytest.mark.matrix
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


@pytest.mark.matrix
def test_the_numbers_of_a_plot_are_copied(page: ProfilePage) -> None:
    button = page.plots.cells[1].export_button
    button.exporter.copy_numbers()
    end_saving(button)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].startswith("# title: Runtime")
    assert any(line.startswith("flash2,") for line in lines)


@pytest.mark.matrix
def test_on_a_stage_a_plot_has_no_menu(window: MainWindow, page: ProfilePage) -> None:
    window.stage.enter()
    drawn(page)
    assert opened(page.plots.cells[0].plot.viewport()) is None
    window.stage.leave()


@chosen("reason", REASONS, REASONS[:1])
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
        *INSIDE,
        "Note on the chosen point",
        "Copy the chosen rows of the results",
    ]
    action = window.registry.find("profile.copy_rows")
    assert action is not None
    action.trigger()
    assert len(QGuiApplication.clipboard().text().splitlines()) == 2


@pytest.mark.matrix
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
    window.pages.complete()
    exporters = {one for page in window.pages.made for one in page.findChildren(Exporter)}
    menus = [menu for page in window.pages.made for menu in page.findChildren(PlotMenu)]
    assert {menu._exporter for menu in menus} == exporters
    assert len(exporters) > 20
    for menu in menus:
        told = [action.text() for action in menu.menu().actions()]
        assert "Copy picture" in told
        assert menu._exporter.badge()


@chosen("name", ["scores", "code"], {"code"})
def test_a_panel_of_the_stepper_is_written_as_it_is_and_the_right_button_moves_nothing(
    window: MainWindow, name: str, tmp_path: Path
) -> None:
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    page.show_trace(random_trace())
    window.show_page("stepper")
    page.seek(3)
    panel = page.board._named[name]
    middle = panel.rect().center()
    before = page.position
    QTest.mouseClick(panel, Qt.MouseButton.RightButton, pos=middle)
    assert entries(opened(panel)) == (WRITTEN if name == "scores" else [*WRITTEN[:2], WRITTEN[3]])
    assert page.position is before
    exporter = page.board._cards[panel].exporter
    for kind in ("png", "svg", *(["csv"] if name == "scores" else [])):
        exporter.save(kind, tmp_path / f"panel.{kind}")
    wait_for_all(page)
    QApplication.processEvents()
    assert QImage(str(tmp_path / "panel.png")).text("provenance") == "CPU · trace of flash2"
    assert "CPU · trace of flash2 · " in (tmp_path / "panel.svg").read_text(encoding="utf-8")
    if name == "scores":
        lines = (tmp_path / "panel.csv").read_text(encoding="utf-8").splitlines()
        assert "# provenance: CPU · trace of flash2" in lines
        assert "query,key,s" in lines


@pytest.mark.matrix
def test_a_picture_of_a_panel_has_nothing_of_the_pointer(window: MainWindow) -> None:
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    page.show_trace(random_trace())
    window.show_page("stepper")
    pictures = []
    for cell in (None, (0, 0)):
        page.board.scores.cell_hovered.emit(cell)
        page.board._cards[page.board.scores].exporter.copy()
        wait_for_all(page)
        QApplication.processEvents()
        pictures.append(pixels(QGuiApplication.clipboard().image()))
    assert (pictures[0] == pictures[1]).all()


@pytest.mark.matrix
def test_on_a_stage_a_panel_of_the_stepper_has_no_menu(window: MainWindow) -> None:
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    page.show_trace(random_trace())
    window.show_page("stepper")
    window.stage.enter()
    assert opened(page.board.scores) is None
    window.stage.leave()
