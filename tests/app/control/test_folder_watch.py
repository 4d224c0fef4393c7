"""A folder is watched, and what happened before it was is not missed."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from flashscope.app.control.folder_watch import FolderWatch


def test_a_folder_that_is_newly_watched_may_have_changed_since_it_was_looked_at(
    qtbot: QtBot, qapp: object, tmp_path: Path
) -> None:
    watch = FolderWatch()
    with qtbot.waitSignal(watch.changed):
        watch.watch([tmp_path])
    with qtbot.waitSignal(watch.changed):
        (tmp_path / "new").touch()
    watch.stop()
