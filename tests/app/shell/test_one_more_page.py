"""A page is its module and its entry: the window finds it, lets it connect itself and knows it by no name."""

import sys
from types import ModuleType

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from flashscope.app.pages import registry
from flashscope.app.pages.base import Page
from flashscope.app.pages.host import Host
from flashscope.app.pages.registry import KEYS, PLACES, START, VIEWS, PlaceEntry, ViewEntry
from flashscope.app.shell import main_window, paged_window, window_actions
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.start_up import ahead
from flashscope.profiles.results.model.session import Session
from tests.app.fakes import PLAN, sweep
from tests.app.rig import Rig, Save

TENTH = ViewEntry("tenth", "Tenth", follows=True)
LEARN = PLACES[-1]


class TenthPage(Page):
    """Asks the window around it for all that it may."""

    key = "tenth"
    gives_way = True
    brought = 0
    taken: tuple[Session, ...] = ()

    def join(self, host: Host) -> None:
        super().join(host)
        host.block_run("The tenth page has its reasons.")

    def take_sweep(self, session: Session) -> None:
        self.taken += (session,)

    def come_to_front(self) -> None:
        self.brought += 1


@pytest.fixture
def window(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    """A window with a view more in its last place."""
    module = ModuleType("flashscope.app.pages.tenth")
    module.TenthPage = TenthPage  # type: ignore[attr-defined] # as a module of that name would have it
    monkeypatch.setitem(sys.modules, module.__name__, module)
    learn = PlaceEntry(LEARN.key, LEARN.title, LEARN.icon, (*LEARN.views, TENTH))
    for reader in (registry, main_window, window_actions):
        monkeypatch.setattr(reader, "PLACES", (*PLACES[:-1], learn))
    for reader in (registry, main_window, paged_window, window_actions):
        monkeypatch.setattr(reader, "VIEWS", VIEWS | {"tenth": TENTH})
    for reader in (registry, paged_window, ahead):
        monkeypatch.setattr(reader, "KEYS", (*KEYS, "tenth"))
    return rig.window()


def test_every_key_of_a_place_or_a_view_can_be_read_and_pressed(window: MainWindow) -> None:
    named = [f"place.{place.key}" for place in PLACES] + [f"page.{key}" for key in (*VIEWS, "tenth")]
    keys = {}
    for name in named:
        action = window.registry.known(name)
        assert action is not None
        keys[name] = action.keys
        for sequence in action.keys:
            assert QKeySequence(sequence).toString() == sequence
    assert {f"place.{place.key}": [f"Ctrl+{n}"] for n, place in enumerate(PLACES, 1)}.items() <= keys.items()
    assert keys["page.tenth"] == []


def test_a_tenth_page_is_reached_from_the_tabs_and_by_its_name(window: MainWindow) -> None:
    QTest.mouseClick(window.rail.button(LEARN.key), Qt.MouseButton.LeftButton)
    window.show()
    tab = window.tabs.tabRect(window.tabs.keys.index("tenth")).center()
    QTest.mouseClick(window.tabs, Qt.MouseButton.LeftButton, pos=tab)
    assert isinstance(window.page, TenthPage)
    window.show_page(START)
    action = window.registry.find("page.tenth")
    assert action is not None
    action.trigger()
    assert window.page.key == "tenth"
    assert window.page.brought == 2


def test_a_page_connects_itself_to_the_window(window: MainWindow, rig: Rig, save: Save) -> None:
    window.show_page("tenth")
    assert not window.top_bar.run.isEnabled()
    page = window.page
    page.noticed.emit("It is so.")
    assert window.errors.text == "It is so."
    rig.opening(lambda: page.file_chosen.emit(save(sweep(), "swept")))
    assert window.page.key == registry.SHOWING  # it gives way
    page.page_requested.emit("ladder")
    assert window.page.key == "ladder"


@pytest.mark.matrix
def test_a_page_that_follows_sweeps_is_made_when_one_has_ended_not_while_it_runs(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    rig.controller.run(PLAN)
    rig.say(sweep()[:-1])
    assert "tenth" in window.pages.missing
    rig.say(sweep()[-1:])
    assert rig.controller.sweep is not None
    qtbot.waitUntil(lambda: "tenth" not in window.pages.missing)
    page = window.pages["tenth"]
    assert isinstance(page, TenthPage)
    assert page.taken == (rig.controller.sweep,)
    rig.controller.replay(1.0)
    rig.controller.cancel()  # which ends no sweep
    QCoreApplication.processEvents()
    assert page.taken == (rig.controller.sweep,)
