"""Several sessions chosen on the Sessions page are exported into one folder, a file each."""

from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.shell import export_each
from flashscope.app.shell.export_dialog import ExportDialog
from flashscope.app.shell.main_window import MainWindow
from flashscope.profiles.store import SessionFileError, change
from tests.app.fakes import sweep
from tests.app.rig import Save


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "exports"
    made.mkdir()
    return made


@pytest.fixture
def files(save: Save) -> list[Path]:
    """Two sessions of one name, and one that cannot be read."""
    found = [save(sweep(points=1), f"file-{number}") for number in range(3)]
    for path in found[:2]:
        change(path, "name", "the fan / on")
    found[2].write_bytes(found[2].read_bytes()[:5000])
    return found


def _export(window: MainWindow, qtbot: QtBot, files: list[Path], kind: str) -> None:
    """Choose these rows, press E, choose a format and return once all is written and said."""
    window.show_page("sessions")
    page = window.pages["sessions"]
    assert isinstance(page, SessionsPage)
    page.refresh()
    qtbot.waitUntil(lambda: set(files) <= {info.path for info in page.model.infos()})
    qtbot.waitUntil(page.table.isVisible)
    page.table.choose(set(files))
    page.table.setFocus()
    QTest.keyClick(page.table, Qt.Key.Key_E)
    (dialog,) = window.findChildren(ExportDialog)
    dialog.kind.setCurrentIndex(dialog.kind.findData(kind))
    dialog.accept()
    window._files._chores.wait()
    QCoreApplication.processEvents()


@pytest.fixture
def chosen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(folder))


@pytest.mark.matrix
@pytest.mark.usefixtures("chosen")
def test_each_gets_a_file_under_its_name_and_none_is_written_over(
    window: MainWindow, qtbot: QtBot, files: list[Path], folder: Path
) -> None:
    kept = folder / "the fan - on.trace.json"
    kept.write_text("kept")
    _export(window, qtbot, files[:2], "perfetto")
    assert kept.read_text() == "kept"
    assert sorted(path.name for path in folder.iterdir()) == [
        "the fan - on-2.trace.json",
        "the fan - on-3.trace.json",
        "the fan - on.trace.json",
    ]
    assert window.errors.text == f"Exported 2 sessions to {folder}."


@pytest.mark.matrix  # it takes a second
@pytest.mark.usefixtures("chosen")
def test_what_cannot_be_exported_is_named_and_keeps_no_other_from_it(
    window: MainWindow, qtbot: QtBot, files: list[Path], folder: Path
) -> None:
    _export(window, qtbot, files, "csv")
    assert len(list(folder.iterdir())) == 2
    assert window.errors.text.startswith(f"Exported 2 of 3 sessions to {folder}. {files[2]} ")
    assert str(files[2]) in window.errors._details


@pytest.mark.usefixtures("chosen")
def test_pictures_are_drawn_elsewhere_and_a_full_disk_leaves_nothing(
    window: MainWindow, qtbot: QtBot, files: list[Path], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_each, "draw_elsewhere", lambda *given: given[3].write_bytes(b"drawn"))
    _export(window, qtbot, files[:1], "png")
    assert [path.read_bytes() for path in folder.iterdir()] == [b"drawn"]

    def full(*_given: object, **_named: object) -> None:
        raise SessionFileError("The disk is full.")

    monkeypatch.setattr(export_each, "write_atomically", full)
    _export(window, qtbot, files[:1], "png")
    assert window.errors.text == f"Exported 0 of 1 sessions to {folder}. {files[0]}: The disk is full."


@pytest.mark.matrix
@pytest.mark.usefixtures("files")
def test_without_a_folder_nothing_is_written(
    window: MainWindow, qtbot: QtBot, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "")
    _export(window, qtbot, files[:2], "csv")
    assert not window.errors.isVisible()
