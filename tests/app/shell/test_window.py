import threading
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDropEvent, QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QFileDialog,
    QHeaderView,
    QLineEdit,
    QMenu,
    QMessageBox,
    QPlainTextEdit,
    QScrollArea,
    QScrollBar,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.main_window import CLOSE_QUESTION, MainWindow
from app.pages.profile import ProfilePage
from app.plots.style import make_plot, restyle
from app.theme import DARK, LIGHT
from app.widgets.palette import CommandPalette
from app.widgets.shortcut_sheet import ShortcutSheet
from profiles.events import LogLine, MachineFound
from profiles.plan import Protocol
from profiles.store import sessions_dir
from tests.app.fakes import CPU_MACHINE, PLAN, sweep
from tests.app.shell.conftest import Rig, Save

INTERACTIVE = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
)


@pytest.fixture
def window(rig: Rig) -> MainWindow:
    return rig.window()


def answer(monkeypatch: pytest.MonkeyPatch, words: str) -> list[str]:
    asked: list[str] = []

    def run(box: QMessageBox) -> int:
        asked.append(box.text())
        assert box.defaultButton().text() == "Keep running"
        next(button for button in box.buttons() if button.text() == words).click()
        return 0

    monkeypatch.setattr(QMessageBox, "exec", run)
    return asked


def leaves(menu: QMenu) -> set[str]:
    found: set[str] = set()
    for action in menu.actions():
        submenu = action.menu()
        if isinstance(submenu, QMenu):
            found |= leaves(submenu)
        else:
            found.add(action.objectName())
    return found


def test_the_machine_is_looked_at_only_after_the_window_is_shown(rig: Rig, qtbot: QtBot) -> None:
    assert rig.controller.machine is None
    window = rig.window()
    assert window.isVisible()
    assert rig.controller.machine is not None


def test_every_action_stands_in_the_menu_and_in_the_palette(window: MainWindow) -> None:
    keys = {action.key for action in window.registry}
    assert {"run", "cancel", "open", "export", "palette", "log", "page.profile"} <= keys
    assert leaves(window.top_bar.menu()) == keys
    palette = CommandPalette(window.registry, window)
    assert len(palette.titles()) == len(keys)


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


def test_the_palette_finds_a_command_by_a_few_letters_and_runs_it(window: MainWindow) -> None:
    window._commands._open_palette()
    palette = window._commands._palette
    assert palette is not None
    QTest.keyClicks(palette._query, "shwstep")
    assert "Stepper" in palette.titles()[0]
    QTest.keyClick(palette._query, Qt.Key.Key_Return)
    assert window.page.key == "stepper"


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


def test_every_interactive_widget_has_an_accessible_name(window: MainWindow) -> None:
    ours = [w for w in window.findChildren(QWidget) if isinstance(w, INTERACTIVE) and not made_by_qt(w)]
    nameless = [
        w for w in ours if not w.accessibleName() and not (isinstance(w, QAbstractButton) and w.text())
    ]
    assert len(ours) > 20
    assert [f"{type(w).__name__} in {type(w.parent()).__name__}" for w in nameless] == []


def made_by_qt(widget: QWidget) -> bool:
    """Parts that Qt builds into its own compound widgets: they speak with their owner's name."""
    if isinstance(widget, QScrollBar | QHeaderView):
        return True
    parent = widget.parent()
    owners = (QComboBox, QAbstractSpinBox, QAbstractItemView, QTabBar, QLineEdit)
    return isinstance(parent, owners) or (parent is not None and isinstance(parent.parent(), QComboBox))


def test_a_theme_switch_recolours_existing_plots_and_the_window(window: MainWindow, qtbot: QtBot) -> None:
    plot = make_plot(DARK)
    qtbot.addWidget(plot)
    restyle(plot, LIGHT)
    assert plot.backgroundBrush().color() == QColor(LIGHT.panel)
    assert plot.getPlotItem().getAxis("left").textPen().color() == QColor(LIGHT.dim)
    window._commands._toggle_theme()
    assert window.appearance.theme == LIGHT
    assert all(page.theme == LIGHT for page in window.pages.values())
    assert window.palette().window().color() == QColor(LIGHT.bg)
    assert window.settings.appearance == "light"
    window._commands._toggle_theme()
    assert window.appearance.theme == DARK


def test_drop_dialog_and_argument_all_open_a_file(
    window: MainWindow, rig: Rig, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [save(sweep(), name) for name in ("dropped", "chosen", "given")]
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(paths[0]))])
    copy, button, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(9, 9), copy, mime, button, none))
    assert rig.controller.path == paths[0]
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(paths[1]), ""))
    _trigger(window, "open")
    assert rig.controller.path == paths[1]
    window.open_path(paths[2])
    assert rig.controller.path == paths[2]
    assert window.page.key == "profile"
    assert window.settings.recents == [path.absolute() for path in reversed(paths)]


def _trigger(window: MainWindow, key: str) -> None:
    action = window.registry.find(key)
    assert action is not None
    action.trigger()


def test_a_corrupt_file_is_explained_in_one_line(window: MainWindow, save: Save) -> None:
    path = save(sweep(), "damaged")
    content = bytearray(path.read_bytes())
    content[4096:8192] = bytes(4096)
    path.write_bytes(content)
    window.open_path(path)
    assert "damaged" in window.errors.text
    assert "database main" not in window.errors.text
    assert window.errors._details.count("\n") >= 2  # what SQLite found
    assert "Traceback" not in window.errors.text
    assert "\n" not in window.errors.text


def test_a_missing_file_is_explained(window: MainWindow) -> None:
    window.open_path(sessions_dir() / "gone.flashscope")
    assert "gone.flashscope" in window.errors.text


def test_the_error_line_is_copied_with_its_details_and_dismissed(window: MainWindow, rig: Rig) -> None:
    rig.controller.error_raised.emit("It broke.", "the long story")
    assert window.errors.isVisible()
    window.errors._copy()
    assert QGuiApplication.clipboard().text() == "It broke.\n\nthe long story"
    window.errors._close.click()
    assert not window.errors.isVisible()


def test_the_badge_tells_where_the_figures_come_from(window: MainWindow, rig: Rig, save: Save) -> None:
    assert window.top_bar.badge.full_text == "CPU"
    window.open_path(save(sweep(), "saved"))
    assert window.top_bar.badge.full_text == "SAVED · CPU Test CPU · 2026-11-21"
    rig.controller.run(PLAN)
    rig.say(sweep(points=1))
    assert window.top_bar.badge.full_text == "CPU"


def test_run_and_cancel_follow_the_sweep(window: MainWindow, rig: Rig) -> None:
    assert window.top_bar.run.isEnabled()
    assert not window.top_bar.cancel.isEnabled()
    window.start_page.quick.click()
    assert window.page.key == "profile"
    assert len(rig.engine.plans) == 1
    assert not window.top_bar.run.isEnabled()
    window.top_bar.cancel.click()
    assert rig.engine.cancelled == 1


def test_the_status_bar_tells_job_count_and_file(window: MainWindow, rig: Rig) -> None:
    rig.controller.run(PLAN)
    rig.say(sweep(points=3)[:-1])
    window.status.refresh()
    assert "standard · N = 512 · measure 3 of 10" in window.status.job.full_text
    assert window.status.count.full_text == "2 of 6 points"
    assert rig.controller.path is not None
    assert rig.controller.path.name in window.status.file.full_text


def test_the_drift_check_is_told_in_the_status_bar_and_the_log_and_counts_as_no_point(
    window: MainWindow, rig: Rig
) -> None:
    plan = replace(PLAN, protocol=Protocol(drift_check=True))
    rig.controller.run(plan)
    rig.say(sweep(plan))
    status = window.status
    status.refresh()
    assert status.job.full_text == "Sweep finished · drift 1.000×"
    assert status.count.full_text == "6 of 6 points"
    assert "drift check: At the end N = 256 took" in window.log.text


def test_closing_during_a_sweep_asks_once_and_may_be_declined(
    window: MainWindow, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.controller.run(PLAN)
    asked = answer(monkeypatch, "Keep running")
    assert not window.close()
    assert window.isVisible()
    assert rig.engine.closed == 0
    answered = answer(monkeypatch, "Stop and close")
    assert window.close()
    assert asked == answered == [CLOSE_QUESTION]
    assert rig.engine.closed == 1


def test_closing_without_a_sweep_asks_nothing_and_leaves_no_thread(window: MainWindow, rig: Rig) -> None:
    assert window.close()
    assert rig.engine.closed == 1
    assert [thread for thread in threading.enumerate() if not thread.daemon] == [threading.main_thread()]


def test_a_signal_of_the_system_closes_without_asking(window: MainWindow, rig: Rig) -> None:
    rig.controller.run(PLAN)
    window.close_unasked()
    assert rig.engine.closed == 1


def test_log_lines_survive_a_change_of_theme(window: MainWindow, rig: Rig) -> None:
    rig.say([LogLine(source="worker", text="one"), LogLine(source="worker", text="two", level="error")])
    window.apply_theme(LIGHT)
    assert window.log.text.splitlines() == ["worker: one", "worker: two"]


def test_keys_are_silent_while_something_is_typed(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("sessions")
    search = window.pages["sessions"].findChild(QLineEdit)
    assert search is not None
    window.activateWindow()
    search.setFocus()
    qtbot.waitUntil(search.hasFocus)
    QTest.keyClicks(search, "rn?/")
    assert search.text() == "rn?/"


@pytest.mark.parametrize("size", [(1280, 720), (640, 360)])
@pytest.mark.parametrize("page", ["start", "sessions"])
def test_nothing_is_wider_than_the_window(window: MainWindow, page: str, size: tuple[int, int]) -> None:
    window.resize(*size)
    window.show_page(page)
    assert window.size().toTuple() == size
    assert window.top_bar.width() <= size[0]
    assert window.status.width() <= size[0]
    assert window.top_bar.run.geometry().right() <= window.top_bar.width()


def test_a_reason_under_the_form_leaves_the_page_as_high_as_the_window(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    window.resize(1440, 870)
    window.show_page("profile")
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    rig.engine.say([MachineFound(machine=CPU_MACHINE)])
    qtbot.waitUntil(lambda: page.form.blocked_reason is None)
    height = page.height()
    page.form.kernels.choose(())
    qtbot.waitUntil(page.form.message.isVisible)
    for _ in range(5):
        QTest.qWait(0)
    assert page.height() == height
    place = page.form.message.mapTo(window, page.form.message.rect().bottomLeft())
    assert place.y() < window.height()


def test_export_writes_a_table_with_its_provenance(
    window: MainWindow, save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.open_path(save(sweep(), "saved"))
    for name in ("table.csv", "table.json"):
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, n=name: (str(tmp_path / n), ""))
        _trigger(window, "export")
    assert (
        (tmp_path / "table.csv").read_text().startswith("# provenance: SAVED · CPU Test CPU · 2026-11-21\n")
    )
    assert (tmp_path / "table.json").read_bytes().startswith(b"{")


@pytest.mark.parametrize(
    "case",
    [
        ("export", "CSV table (*.csv)", "table.csv"),
        ("export", "JSON document (*.json)", "table.json"),
        ("save-copy", "", "table.flashscope"),
    ],
)
def test_a_file_named_without_its_ending_gets_the_right_one_and_replaces_nothing(
    window: MainWindow,
    save: Save,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    case: tuple[str, str, str],
) -> None:
    key, kind, name = case
    window.open_path(save(sweep(), "saved"))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "table"), kind))
    _trigger(window, key)
    assert [path.name for path in tmp_path.glob("table*")] == [name]
    (tmp_path / name).write_text("mine")
    _trigger(window, key)
    assert "exists already" in window.errors.text
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize("key", ["export", "save-copy"])
def test_a_file_that_cannot_be_written_is_named_with_a_remedy(
    window: MainWindow, save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    window.open_path(save(sweep(), "saved"))
    (tmp_path / "file").touch()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "file" / "a"), ""))
    _trigger(window, key)
    assert "cannot be used" in window.errors.text
    assert "choose another place" in window.errors.text


def test_opening_a_file_that_failed_can_be_tried_again(window: MainWindow, save: Save) -> None:
    path = sessions_dir() / "later.flashscope"
    window.open_path(path)
    assert window.errors._act_button.text() == "Retry"
    save(sweep(), "later")
    window.errors._act_button.click()
    assert window.controller.path == path


def test_errors_are_kept_in_the_log(window: MainWindow, rig: Rig) -> None:
    rig.controller.error_raised.emit("It broke.", "")
    assert "It broke." in window.log.text


def test_space_presses_the_focused_button_and_is_no_shortcut_there(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("stepper")
    window.activateWindow()
    button = window.rail._buttons["sessions"]
    button.setFocus()
    qtbot.waitUntil(button.hasFocus)
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert window.page.key == "sessions"


def test_tab_reaches_every_button_of_the_start_page(window: MainWindow, qtbot: QtBot) -> None:
    window.activateWindow()
    start = window.start_page
    qtbot.waitUntil(start.quick.hasFocus)
    reached = set()
    for _ in range(60):
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
        reached.add(window.focusWidget())
    buttons = [b for b in start.findChildren(QAbstractButton) if b.isEnabled()]
    assert set(buttons) <= reached
    assert set(window.rail._buttons.values()) <= reached
    assert window.top_bar.backend in reached


def test_an_old_error_is_gone_once_a_new_sweep_starts(window: MainWindow, rig: Rig) -> None:
    rig.controller.error_raised.emit("The sweep failed.", "")
    assert window.errors.isVisible()
    rig.controller.run(PLAN)
    assert not window.errors.isVisible()
