"""What the palette finds beside the actions, and how that is shown."""

import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.control import session_names
from flashscope.app.control.actions import ActionRegistry
from flashscope.app.control.bundled import BUNDLED
from flashscope.app.control.findable import Findable
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.registry import VIEWS
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.frame.glossary_sheet import GlossarySheet
from flashscope.app.widgets.frame.palette import CommandPalette
from flashscope.app.widgets.pick_list import ASIDE_ROLE
from flashscope.profiles.store import SessionInfo, latest
from tests.app.rig import Rig, Save
from tests.profiles.sessions import make_plan, script

ONE = make_plan(("standard", "flash2"), (512, 1024))
PLAN = replace(ONE, problems=(*ONE.problems, *(replace(problem, causal=True) for problem in ONE.problems)))


@pytest.fixture
def window(rig: Rig, save: Save) -> MainWindow:
    """With a session on show that has two curves, and another page in front."""
    made = rig.window()
    rig.begin_to_open(save(script(PLAN), "Tuesday's run"))
    made.show_page("claims")
    return made


def opened(window: MainWindow) -> CommandPalette:
    window._help._open_palette()
    palette = window._help._palette
    assert palette is not None
    return palette


def found(palette: CommandPalette, query: str) -> list[tuple[str, str]]:
    """The lines of the list: text and kind."""
    palette._query.setText(query)
    items = [palette._list.item(place) for place in range(palette._list.count())]
    return [(item.text(), item.data(ASIDE_ROLE)) for item in items]


def pick(window: MainWindow, kind: str, title: str) -> None:
    """Type a name, choose the line of this kind, press Return."""
    palette = opened(window)
    palette._list.setCurrentRow(found(palette, title).index((title, kind)))
    QTest.keyClick(palette._query, Qt.Key.Key_Return)
    assert palette.isHidden()


def profile(window: MainWindow) -> ProfilePage:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    return page


@pytest.mark.matrix
def test_quantities_kernels_problems_and_terms_are_found_by_name_and_shown(window: MainWindow) -> None:
    plots = profile(window).plots
    pick(window, "quantity", "SM clock")
    assert window.page is profile(window)
    assert plots.cells[0].quantity.key == "sm_clock_mhz"
    window.show_page("claims")
    pick(window, "kernel", "flash2")
    assert (window.page.key, plots.kernels) == ("profile", ("flash2",))
    pick(window, "problem", "d 64, causal")
    assert plots.curve is not None
    assert plots.curve.label == "d 64, causal"
    pick(window, "term", "drift check")
    (sheet,) = window.findChildren(GlossarySheet)
    assert (sheet.isVisible(), sheet.query.text()) == (True, "drift check")
    sheet.reject()


@pytest.mark.matrix
def test_sessions_are_found_by_the_names_that_they_have_and_opened(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    palette = opened(window)
    qtbot.waitUntil(lambda: ("Tuesday's run", "session") in found(palette, "tuesday"))
    rig.opening(lambda: pick(window, "session", "H200 decoding"))
    assert rig.controller.path == BUNDLED / "h200-decode.flashscope"
    rig.opening(lambda: pick(window, "session", "Tuesday's run"))
    assert rig.controller.path is not None
    assert rig.controller.path.stem == "Tuesday's run"


@pytest.mark.matrix
def test_a_session_is_found_by_words_of_its_name_and_of_its_file_in_any_order(window: MainWindow) -> None:
    palette = opened(window)
    assert found(palette, "h100 ranks")[0] == ("H100 attention on several GPUs", "session")
    assert found(palette, "session libraries h100")[0] == ("H100 beside libraries", "session")
    assert ("H200 decoding", "session") in found(palette, "decode h200")


@pytest.mark.matrix
def test_a_view_is_the_first_that_its_name_finds(window: MainWindow) -> None:
    palette = opened(window)
    for view in VIEWS.values():
        line, kind = found(palette, view.title)[0]
        assert kind == "command"
        assert line.startswith((f"View: Show {view.title}", f"View: Go to {view.title}"))


@pytest.mark.matrix
def test_sessions_are_listed_in_the_background_while_the_palette_is_on_show(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, readers = threading.Event(), []

    def slow(folder: Path, opened: Mapping[Path, int], most: int) -> list[SessionInfo]:
        readers.append(threading.current_thread())
        assert go_on.wait(60)
        return latest(folder, opened, most)

    monkeypatch.setattr(session_names, "latest", slow)
    palette = opened(window)
    assert found(palette, "tuesday") == [("Nothing found for “tuesday”.", "")]
    go_on.set()
    qtbot.waitUntil(lambda: palette._list.item(0).text() == "Tuesday's run")
    assert threading.main_thread() not in readers
    palette.close()


@pytest.mark.matrix
def test_a_stage_offers_nothing_that_would_leave_its_story(window: MainWindow) -> None:
    window.show_page("profile")
    window.trigger("stage")
    assert window.stage.on
    kinds = {kind for _, kind in found(opened(window), "a")}
    assert kinds == {"command", "term"}
    window.stage.leave()


class Bare:
    """A palette over no action, with two things that are called alike.

    Attributes:
        shown: The kinds of those that were shown.
        more: Others, by kind and title.
    """

    def __init__(self, qtbot: QtBot) -> None:
        self._parent = QWidget()
        qtbot.addWidget(self._parent)
        self.shown: list[str] = []
        self.more: list[tuple[str, str]] = []
        registry, lately = ActionRegistry(self._parent), [self._thing("session", "flash2 on\nTuesday").key]
        self.palette = CommandPalette(registry, self._parent, lambda: lately, self._things)

    def _thing(self, kind: str, title: str) -> Findable:
        return Findable(kind, title, partial(self.shown.append, kind))

    def _things(self) -> list[Findable]:
        things = [("session", "flash2 on\nTuesday"), ("kernel", "flash2"), *self.more]
        return [self._thing(kind, title) for kind, title in things]


@pytest.fixture
def bare(qtbot: QtBot) -> Bare:
    return Bare(qtbot)


def test_what_is_called_as_the_query_comes_before_what_begins_so(bare: Bare) -> None:
    assert found(bare.palette, " Flash2 ") == [("flash2", "kernel"), ("flash2 on Tuesday", "session")]
    assert found(bare.palette, "flash")[0] == ("flash2 on Tuesday", "session")  # shown last


def test_what_begins_with_the_query_comes_before_what_has_it_inside(bare: Bare) -> None:
    bare.more.append(("kernel", "on Tuesdays"))
    assert found(bare.palette, "on tue")[0] == ("on Tuesdays", "kernel")


def test_a_term_comes_after_what_does_something_and_has_it_too(bare: Bare) -> None:
    bare.more[:] = [("term", "on"), ("kernel", "xon")]
    assert found(bare.palette, "on") == [("flash2 on Tuesday", "session"), ("on", "term"), ("xon", "kernel")]


def test_without_a_query_only_what_was_shown_lately_stands_beside_the_actions(bare: Bare) -> None:
    assert found(bare.palette, "") == [("flash2 on Tuesday", "session")]


def test_the_palette_says_that_nothing_was_found_and_return_does_nothing(bare: Bare) -> None:
    assert found(bare.palette, "zzz ") == [("Nothing found for “zzz”.", "")]
    QTest.keyClick(bare.palette._query, Qt.Key.Key_Return)
    assert bare.shown == []


def test_a_click_shows_what_was_clicked_and_tells_it(bare: Bare, qtbot: QtBot) -> None:
    found(bare.palette, "flash2")
    with qtbot.waitSignal(bare.palette.ran) as ran:
        bare.palette._list.setCurrentRow(1)
        bare.palette._list.itemClicked.emit(bare.palette._list.item(1))
    assert ran.args == ["session: flash2 on\nTuesday"]
    assert bare.shown == ["session"]


@pytest.mark.matrix
def test_no_command_has_the_name_of_its_menu_twice(window: MainWindow) -> None:
    told = [text for text, _kind in found(opened(window), "")]
    assert told
    assert not [text for text in told if text.startswith(2 * f"{text.partition(': ')[0]}: ")]
