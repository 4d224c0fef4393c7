"""Pages are made when they are wanted, or ahead of that while nothing happens; then they show what is so."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.look.theme import LIGHT
from flashscope.app.pages.planner import PlannerPage
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.roofline import RooflinePage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.start_up import ahead
from flashscope.app.widgets.frame.shortcut_sheet import ShortcutSheet
from tests.app.fakes import reading, sweep
from tests.app.rig import Rig, Save


def open_menu(window: MainWindow) -> object:
    return window.top_bar.menu()


def open_sheet(window: MainWindow) -> object:
    return ShortcutSheet(window.registry, window)


def test_a_window_opens_with_its_start_page_alone(window: MainWindow) -> None:
    assert [page.key for page in window.pages.made] == ["start"]


def test_the_keys_of_the_pages_are_known_before_there_is_a_page(window: MainWindow) -> None:
    assert list(window.pages)[:2] == ["start", "profile"]
    assert "planner" in window.pages
    assert "nowhere" not in window.pages
    with pytest.raises(KeyError):
        window.pages["nowhere"]
    assert len(window.pages.made) == 1


class Windows(QObject):
    """Counts what is shown without a parent."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.shown.append(watched.accessibleName() or type(watched).__name__)
        return False


@pytest.mark.matrix
def test_nothing_of_a_page_is_a_window_of_its_own_while_it_is_made(
    window: MainWindow, qapp: QApplication
) -> None:
    windows = Windows()
    qapp.installEventFilter(windows)
    window.pages.complete()
    qapp.removeEventFilter(windows)
    assert windows.shown == [], "it would flash up, take the focus and close what is open"


@pytest.mark.matrix
def test_while_nothing_happens_all_are_made_and_then_nothing_goes_on(
    rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "IDLE_MS", 1)
    window = rig.window()
    qtbot.waitUntil(lambda: not window.pages.missing and not window.ahead.busy)
    assert [page.key for page in window.pages.made] == list(window.pages)
    assert window.page.key == "start"


@pytest.mark.matrix
@pytest.mark.parametrize("look", [open_menu, open_sheet])
def test_whoever_looks_for_commands_finds_those_of_every_page(
    window: MainWindow, look: Callable[[MainWindow], object]
) -> None:
    look(window)
    assert not window.pages.missing


@pytest.mark.matrix
def test_commands_stand_in_the_order_of_the_rail_whichever_page_was_made_first(window: MainWindow) -> None:
    window.pages.make("roofline", "planner", "profile")
    owners = [action.key.partition(".")[0] for action in window.registry]
    ranks = [list(window.pages).index(owner) for owner in owners if owner in window.pages]
    assert ranks == sorted(ranks)


@pytest.mark.matrix
def test_a_command_of_a_page_that_is_not_in_front_cannot_be_triggered(window: MainWindow) -> None:
    found = window.registry.find("planner.model")
    assert found is not None
    assert not found.isEnabled()
    window.show_page("planner")
    assert found.isEnabled()


def test_a_page_made_after_a_session_was_opened_shows_it(
    window: MainWindow, rig: Rig, qtbot: QtBot, save: Save
) -> None:
    rig.open(save(sweep(), "swept"))
    roofline, planner = window.pages["roofline"], window.pages["planner"]
    assert isinstance(roofline, RooflinePage)
    assert isinstance(planner, PlannerPage)
    with qtbot.waitSignal(roofline.drawn):
        window.show_page("roofline")
    assert roofline.found.spots
    assert planner._session is rig.controller.session


@pytest.mark.matrix
def test_a_page_made_in_the_middle_of_a_theme_switch_is_in_the_new_theme(window: MainWindow) -> None:
    window.appearance.choose("light")
    page = window.pages["profile"]
    assert page.theme is LIGHT
    assert isinstance(page, ProfilePage)
    assert page.form.styleSheet() == window.top_bar.styleSheet()
    assert LIGHT.bg in page.form.styleSheet()


def test_a_profile_page_made_late_has_the_telemetry_so_far(window: MainWindow, rig: Rig) -> None:
    rig.say([reading(1), reading(2)])
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    assert len(page.bottom.strip.ring) == len(rig.controller.live_readings) > 1


@pytest.mark.matrix
def test_run_says_why_it_cannot_start_as_soon_as_there_is_a_form(window: MainWindow) -> None:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    assert window.top_bar.run.isEnabled() is (page.form.blocked_reason is None)
