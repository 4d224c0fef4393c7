"""What a user can do: in the menu, in the palette, by a key, and on the sheet of keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QMenu,
    QScrollArea,
    QWidget,
)
from pytestqt.qtbot import QtBot

from flashscope.app.control.settings import Settings
from flashscope.app.pages.registry import VIEWS, place_of
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.frame.palette import CommandPalette
from flashscope.app.widgets.frame.shortcut_sheet import ShortcutSheet
from flashscope.app.words.matching import match
from tests.app.pixels import pixels
from tests.app.rig import Rig


@pytest.fixture
def window(shared_window: MainWindow) -> MainWindow:
    """The same for all tests that run no command."""
    return shared_window


def leaves(menu: QMenu) -> set[str]:
    found: set[str] = set()
    for action in menu.actions():
        submenu = action.menu()
        if isinstance(submenu, QMenu):
            found |= leaves(submenu)
        else:
            found.add(action.objectName())
    return found


def titles(palette: CommandPalette) -> list[str]:
    return [palette._list.item(row).text() for row in range(palette._list.count())]


def opened_palette(window: MainWindow) -> CommandPalette:
    window._help._open_palette()
    palette = window._help._palette
    assert palette is not None
    return palette


@pytest.mark.matrix
def test_every_action_stands_in_the_menu_and_in_the_palette(window: MainWindow) -> None:
    keys = {action.key for action in window.registry}
    assert {"run", "cancel", "open", "export", "palette", "log", "page.profile"} <= keys
    assert leaves(window.top_bar.menu()) == keys
    palette = CommandPalette(window.registry, window)
    assert len(titles(palette)) == len(keys)


@pytest.mark.matrix
def test_no_two_actions_of_one_page_share_a_key(window: MainWindow) -> None:
    for page in window.pages:
        window.show_page(page)
        taken: dict[str, str] = {}
        for action in window.registry:
            qaction = window.registry.find(action.key)
            assert qaction is not None
            for keys in qaction.shortcuts() if qaction.isEnabled() else []:
                text = keys.toString(QKeySequence.SequenceFormat.PortableText)
                assert text, f"{action.key} has a key that Qt cannot read: {action.shortcut}"
                assert text not in taken, f"{text} is {taken.get(text)} and {action.key} on {page}"
                taken[text] = action.key


@pytest.mark.matrix
def test_the_keys_of_a_sessions_views_work_in_all_of_them_and_nowhere_else(window: MainWindow) -> None:
    for page, works in (("profile", True), ("traffic", True), ("roofline", True), ("compare", False)):
        window.show_page(page)
        for view, keys in (("telemetry", "T"), ("results", "R"), ("notes", "N")):
            qaction = window.registry.find(f"page.{view}")
            assert qaction is not None
            assert (QKeySequence(keys) in qaction.shortcuts()) is works, (page, keys)


def test_a_command_that_cannot_be_used_now_is_dim_in_the_palette(window: MainWindow) -> None:
    window.show_page("claims")
    palette = CommandPalette(window.registry, window)
    palette.resize(600, 600)
    palette._fill("go on in the source")
    items = palette._list
    (row,) = range(items.count())
    assert not items.item(row).flags() & Qt.ItemFlag.ItemIsEnabled
    brightest = max(QColor(int(one)).lightness() for one in set(pixels(items.grab().toImage()).ravel()))
    ground, dim = (
        QColor(one).lightness() for one in (window.appearance.theme.panel, window.appearance.theme.dim)
    )
    assert (ground + dim) / 2 < brightest <= dim


@pytest.mark.matrix  # it takes a second
def test_the_palette_finds_a_command_by_a_few_letters_and_runs_it(rig: Rig) -> None:
    window = rig.window()
    palette = opened_palette(window)
    QTest.keyClicks(palette._query, "shwstep")
    assert "Stepper" in titles(palette)[0]
    QTest.keyClick(palette._query, Qt.Key.Key_Return)
    assert window.page.key == "stepper"


@pytest.mark.matrix
def test_the_palette_lists_first_what_was_run_last_also_in_the_next_window(rig: Rig, qtbot: QtBot) -> None:
    window = rig.window()
    for query in ("shwplan", "shwstep"):
        palette = opened_palette(window)
        QTest.keyClicks(palette._query, query)
        QTest.keyClick(palette._query, Qt.Key.Key_Return)
    palette = CommandPalette(window.registry, window, lambda: Settings().commands)
    qtbot.addWidget(palette)
    assert ["Stepper" in titles(palette)[0], "Planner" in titles(palette)[1]] == [True, True]
    assert len(titles(palette)) == len(list(window.registry))


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("zoom in", "View: Make everything larger"),
        ("font", "View: Make everything larger"),
        ("theme", "View: Switch between light and dark"),
        ("exit", "File: Quit"),
        ("redo", "Edit: Make the undone change again"),
    ],
)
def test_a_command_is_found_by_other_words_for_it(window: MainWindow, query: str, title: str) -> None:
    palette = CommandPalette(window.registry, window)
    palette._query.setText(query)
    assert any(line.startswith(title) for line in titles(palette)[:2])


def test_what_has_the_word_in_its_text_comes_before_what_is_found_by_another_word(window: MainWindow) -> None:
    palette = CommandPalette(window.registry, window)
    palette._query.setText("zoom")
    found = titles(palette)
    first = next(place for place, line in enumerate(found) if line.startswith("View: Make everything"))
    assert all("zoom" in line.casefold() for line in found[:first])
    assert {"View: Make everything larger", "View: Make everything smaller"} <= {
        line.partition("   ")[0] for line in found
    }


@pytest.mark.matrix
def test_a_word_typed_in_the_palette_finds_the_command_of_this_word_on_every_page(rig: Rig) -> None:
    window = rig.window()
    window.show_page("claims")
    palette = opened_palette(window)
    QTest.keyClicks(palette._query, "tour")
    assert titles(palette)[0].startswith("Help: Take the tour")
    QTest.keyClick(palette._query, Qt.Key.Key_Return)
    assert palette.isHidden()
    assert window.tour.at is not None


@pytest.mark.matrix
@pytest.mark.parametrize("page", ["claims", "profile", "ladder"])
def test_commands_that_cannot_be_run_now_stand_last_and_the_first_that_can_is_chosen(
    window: MainWindow, page: str
) -> None:
    window.show_page(page)
    palette = opened_palette(window)
    for query in ("", "t", "go", "source"):
        palette._query.setText(query)
        items = [palette._list.item(row) for row in range(palette._list.count())]
        usable = [bool(item.flags() & Qt.ItemFlag.ItemIsEnabled) for item in items]
        assert usable == sorted(usable, reverse=True)
        assert palette._list.currentRow() == 0


def test_return_does_nothing_where_no_command_found_can_be_run(window: MainWindow) -> None:
    window.show_page("claims")
    palette = opened_palette(window)
    QTest.keyClicks(palette._query, "go on in the source")
    assert titles(palette)[0].startswith("Source: Go on in the source")
    QTest.keyClick(palette._query, Qt.Key.Key_Return)
    assert palette.isVisible()
    palette.close()


@given(
    st.text("ab", min_size=1, max_size=3),
    st.text("ab: ", max_size=6),
    st.text("ab: ", max_size=6),
    st.text("ab: ", max_size=8),
)
def test_a_query_found_at_the_begin_of_a_word_ranks_before_one_within_it_and_that_before_scattered_letters(
    query: str, before: str, after: str, other: str
) -> None:
    begun, within = match(query, f"{before} {query}{after}"), match(query, f"b{query}{after}")
    scattered = None if query in other else match(query, other)
    assert begun == 0
    assert within is not None
    assert within <= 1
    assert scattered is None or scattered > 1


def test_the_menu_has_the_pages_in_the_order_of_the_rail_between_files_and_help(window: MainWindow) -> None:
    groups = list(window.registry.groups())
    assert groups[:2] == ["File", "Edit"]
    assert groups[-2:] == ["View", "Help"]
    titles_of_pages = [view.title for view in VIEWS.values()]
    places = [titles_of_pages.index(group) for group in groups if group in titles_of_pages]
    assert places == sorted(places)


def test_the_group_of_what_is_done_with_stories_is_called_as_its_button_is(window: MainWindow) -> None:
    groups = window.registry.groups()
    keys = {action.key for action in groups[window.top_bar.present.text()]}
    assert {"stage", "stage.open", "stage.next", "story.edit", "stage.add"} <= keys
    assert "Stage" not in groups


def test_commands_of_a_view_inside_a_kernel_stand_under_the_name_of_its_tab(window: MainWindow) -> None:
    titles_inside = {view.key: view.title for view in place_of("ladder").views}
    told = [(one.key.partition(".")[0], one.group) for one in window.registry]
    groups = {(key, group) for key, group in told if key in titles_inside}
    assert groups == {(key, titles_inside[key]) for key, _group in groups}


def test_the_sheet_lists_every_key(window: MainWindow, qtbot: QtBot) -> None:
    sheet = ShortcutSheet(window.registry, window)
    qtbot.addWidget(sheet)
    texts = {label.text() for label in sheet.findChildren(QWidget) if hasattr(label, "text")}
    for action in window.registry:
        assert not action.shortcut or action.title in texts


def test_the_sheet_shows_its_keys_whole(window: MainWindow, qtbot: QtBot) -> None:
    sheet = ShortcutSheet(window.registry, window)
    qtbot.addWidget(sheet)
    with qtbot.waitExposed(sheet):
        sheet.show()
    area = sheet.findChild(QScrollArea)
    assert area is not None
    assert area.horizontalScrollBar().maximum() == 0
