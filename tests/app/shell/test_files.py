"""Session files in the window: opened, copied, exported, or what is wrong with them told."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDropEvent, QImage
from PySide6.QtWidgets import (
    QFileDialog,
)
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.control.chores import wait_for_all
from flashscope.app.control.controller import Controller
from flashscope.app.look.picture import PictureOptions
from flashscope.app.look.theme import LIGHT
from flashscope.app.report.kinds import KINDS, report_bytes
from flashscope.app.shell import file_actions
from flashscope.app.shell.elsewhere import draw_elsewhere
from flashscope.app.shell.export_dialog import ExportDialog
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.words.results.provenance import Provenance
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import SessionFileError, load, sessions_dir
from tests.app.fakes import PLAN, sweep
from tests.app.rig import Rig, Save
from tests.matrix import chosen
from tests.profiles.store.test_reading_writes_nothing import KILLED_MID_WRITE, run


def test_drop_dialog_and_argument_all_open_a_file(
    window: MainWindow, rig: Rig, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [save(sweep(), name) for name in ("dropped", "chosen", "given")]
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(paths[0]))])
    copy, button, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    drop = QDropEvent(QPointF(9, 9), copy, mime, button, none)
    rig.opening(lambda: window.dropEvent(drop))
    assert rig.controller.path == paths[0]
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(paths[1]), ""))
    rig.opening(lambda: _trigger(window, "open"))
    assert rig.controller.path == paths[1]
    rig.open(paths[2])
    assert rig.controller.path == paths[2]
    assert window.page.key == "profile"
    assert window.settings.recents == [path.absolute() for path in reversed(paths)]


@pytest.mark.matrix
@pytest.mark.parametrize("key", ["export", "save-copy"])
def test_that_there_is_no_session_is_said_until_there_is_one(
    window: MainWindow, rig: Rig, save: Save, key: str
) -> None:
    action = window.registry.find(key)
    assert action is not None
    action.trigger()
    assert window.errors.text.startswith("There is no")
    rig.open(save(sweep(), "saved"))
    assert window.errors.isHidden()


def _trigger(window: MainWindow, key: str, kind: str = "csv") -> None:
    """Trigger an action; of an export, this format is chosen."""
    action = window.registry.find(key)
    assert action is not None
    action.trigger()
    if key == "export":
        dialog = window.findChildren(ExportDialog)[-1]
        dialog.kind.setCurrentIndex(dialog.kind.findData(kind))
        dialog.accept()


def _write(window: MainWindow, key: str, kind: str = "csv") -> None:
    """Trigger what writes a file, and return once it is written or refused, and said."""
    _trigger(window, key, kind)
    wait_for_all(window)
    QCoreApplication.processEvents()


def test_a_corrupt_file_is_explained_in_one_line(window: MainWindow, rig: Rig, save: Save) -> None:
    path = save(sweep(), "damaged")
    content = bytearray(path.read_bytes())
    content[4096:8192] = bytes(4096)
    path.write_bytes(content)
    rig.open(path)
    assert "damaged" in window.errors.text
    assert "database main" not in window.errors.text
    assert window.errors._details.count("\n") >= 2  # what SQLite found
    assert "Traceback" not in window.errors.text
    assert "\n" not in window.errors.text


def test_a_missing_file_is_explained(window: MainWindow, rig: Rig) -> None:
    rig.open(sessions_dir() / "gone.flashscope")
    assert "gone.flashscope" in window.errors.text


@pytest.mark.matrix
def test_opening_a_file_that_failed_can_be_tried_again(window: MainWindow, rig: Rig, save: Save) -> None:
    path = sessions_dir() / "later.flashscope"
    rig.open(path)
    assert window.errors._act_button.text() == "Retry"
    save(sweep(), "later")
    rig.opening(window.errors._act_button.click)
    assert window.controller.path == path


@pytest.mark.matrix
def test_export_writes_a_table_with_its_provenance(
    window: MainWindow, rig: Rig, save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.open(save(sweep(), "saved"))
    for kind in (key for key, kind in KINDS.items() if not kind.picture):
        name = f"table{KINDS[kind].suffix}"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, n=name: (str(tmp_path / n), ""))
        _write(window, "export", kind)
        assert window.errors.text == f"Exported 6 points to {name}."
    rig.open(BUNDLED / "h100-ranks-longest.flashscope")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "ranks.csv"), ""))
    _write(window, "export")
    assert window.errors.text == "Exported 2 results of ranks (zigzag) to ranks.csv."
    assert "# provenance: SAVED · CPU Test CPU · 2026-11-21\n" in (tmp_path / "table.csv").read_text()
    said = json.loads((tmp_path / "table.json").read_bytes())["session"]["provenance"]
    assert said == "SAVED · CPU Test CPU · 2026-11-21"


@pytest.mark.matrix
@chosen(
    "case",
    [
        ("export", "csv", "table.csv"),
        ("export", "json", "table.json"),
        ("export", "perfetto", "table.trace.json"),
        ("save-copy", "", "table.flashscope"),
    ],
    {("export", "perfetto", "table.trace.json"), ("save-copy", "", "table.flashscope")},
)
def test_a_file_named_without_its_ending_gets_the_right_one_and_replaces_nothing(
    *,
    window: MainWindow,
    rig: Rig,
    save: Save,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    case: tuple[str, str, str],
) -> None:
    key, kind, name = case
    rig.open(save(sweep(), "saved"))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "table"), ""))
    _write(window, key, kind)
    assert [path.name for path in tmp_path.glob("table*")] == [name]
    (tmp_path / name).write_text("mine")
    _write(window, key, kind)
    assert "exists already" in window.errors.text
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.matrix
@pytest.mark.parametrize("key", ["export", "save-copy"])
def test_a_file_that_cannot_be_written_is_named_with_a_remedy(
    *, window: MainWindow, rig: Rig, save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    rig.open(save(sweep(), "saved"))
    (tmp_path / "file").touch()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "file" / "a"), ""))
    _write(window, key)
    assert "cannot be used" in window.errors.text
    assert "choose another place" in window.errors.text


@pytest.mark.matrix
def test_a_copy_of_a_session_whose_writer_was_killed_shows_what_the_window_shows(
    window: MainWindow, rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, target = tmp_path / "cut-off.flashscope", tmp_path / "copy.flashscope"
    run(KILLED_MID_WRITE, path)
    rig.open(path)
    shown = rig.controller.session
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    _write(window, "save-copy")
    assert window.errors.text == "Saved a copy as copy.flashscope."
    assert load(target) == shown


class Slow:
    """In place of what writes a file: begins, and ends only when it is let to."""

    def __init__(self) -> None:
        self.begun, self.let = threading.Event(), threading.Event()

    def __call__(self, *arguments: object, **_others: object) -> bytes:
        self.begun.set()
        assert threading.current_thread() is not threading.main_thread()
        assert self.let.wait(60)
        if isinstance(arguments[-1], Path):
            arguments[-1].write_text("whole")
        return b"whole"


@pytest.fixture(params=["export", "save-copy"])
def writing(
    *,
    window: MainWindow,
    rig: Rig,
    save: Save,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Iterator[tuple[Slow, Path]]:
    """A session is being written into this file, and takes its time."""
    slow, target = Slow(), tmp_path / ("table.csv" if request.param == "export" else "table.flashscope")
    rig.open(save(sweep(), "saved"))
    for name in ("report_bytes", "copy_session"):
        monkeypatch.setattr(file_actions, name, slow)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    _trigger(window, request.param)
    assert slow.begun.wait(60)
    yield slow, target
    slow.let.set()


@pytest.mark.matrix
def test_a_file_that_takes_long_to_write_does_not_hold_the_window_which_says_so(
    window: MainWindow, writing: tuple[Slow, Path], qtbot: QtBot
) -> None:
    slow, target = writing
    assert window.errors.text == f"Writing {target.name} …"
    slow.let.set()
    qtbot.waitUntil(lambda: window.errors.text.endswith(f" {target.name}."))
    assert target.read_text().endswith("whole")


@pytest.mark.matrix
def test_a_window_closed_meanwhile_is_gone_at_once_and_the_file_is_whole(
    window: MainWindow, writing: tuple[Slow, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, target = writing
    closed = Controller.close

    def close(controller: Controller) -> None:
        assert not window.isVisible()
        slow.let.set()
        closed(controller)

    monkeypatch.setattr(Controller, "close", close)
    assert window.close()
    assert target.read_text().endswith("whole")


@pytest.mark.matrix
def test_an_export_of_a_running_sweep_is_of_the_moment_at_which_it_was_asked_for(
    window: MainWindow, rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.controller.run(PLAN)
    rig.say(sweep(points=1))
    target, let = tmp_path / "table.csv", threading.Event()

    def late(kind: str, session: Session, path: str | None, source: Provenance) -> bytes:
        assert let.wait(60)
        return report_bytes(kind, session, path, source)

    monkeypatch.setattr(file_actions, "report_bytes", late)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    _trigger(window, "export")
    rig.say(sweep()[len(sweep(points=1)) :])
    let.set()
    wait_for_all(window)
    assert target.read_text().count(",done,") == 1


@pytest.mark.matrix
def test_a_picture_is_drawn_in_the_colours_asked_for_while_the_window_goes_on(
    window: MainWindow, rig: Rig, save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.open(save(sweep(), "saved"))
    target = tmp_path / "picture.png"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    action = window.registry.find("export")
    assert action is not None
    action.trigger()
    dialog = window.findChildren(ExportDialog)[-1]
    for box, value in ((dialog.kind, "png"), (dialog.plot, "runtime"), (dialog.theme, "light")):
        box.setCurrentIndex(box.findData(value))
    dialog.scale.setCurrentIndex(0)
    dialog.accept()
    assert window.errors.text == "Writing picture.png …"
    wait_for_all(window)
    QCoreApplication.processEvents()
    assert window.errors.text == "Exported 6 points to picture.png."
    drawn = QImage(str(target))
    assert drawn.pixelColor(1, 1).name() == QColor(LIGHT.panel).name()
    assert drawn.text("source").startswith("SAVED · CPU Test CPU")


@pytest.mark.matrix
def test_the_dialog_offers_of_a_picture_alone_what_a_picture_can_be(
    window: MainWindow, rig: Rig, save: Save
) -> None:
    rig.open(save(sweep(), "saved"))
    session = window.controller.session
    assert session is not None
    dialog = ExportDialog(session, "dark", window)
    offered = (dialog.plot, dialog.theme, dialog.scale, dialog.transparent)
    for kind, shown in (("csv", [False] * 4), ("svg", [True, True, False, True]), ("png", [True] * 4)):
        dialog.kind.setCurrentIndex(dialog.kind.findData(kind))
        assert [field.isVisibleTo(dialog) for field in offered] == shown
        assert KINDS[kind].about[1:] in dialog.about.text()


@pytest.mark.matrix
def test_a_session_without_points_has_no_picture_and_what_asks_for_one_is_told_so(
    window: MainWindow, rig: Rig, tmp_path: Path
) -> None:
    path = BUNDLED / "h100-ranks-longest.flashscope"
    rig.open(path)
    dialog = ExportDialog(window.controller.session, "dark", window)
    offered = {dialog.kind.itemData(place) for place in range(dialog.kind.count())}
    assert offered == {key for key, kind in KINDS.items() if not kind.picture}
    with pytest.raises(SessionFileError, match=r"^Nothing was drawn: the session has no points to draw"):
        draw_elsewhere(path, "png", PictureOptions(), tmp_path / "a.png")


@pytest.mark.matrix
def test_a_session_that_is_being_measured_has_no_picture_yet(window: MainWindow, rig: Rig) -> None:
    rig.controller.run(PLAN)
    rig.say(sweep(points=1))
    _trigger(window, "export", "png")
    assert "wait for the end" in window.errors.text
