"""A file of NumPy that a window watches, measured by a real worker process at each save."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.appearance import appearance_of
from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK
from flashscope.app.pages.watch import WatchPage
from flashscope.app.shell.main_window import MainWindow, build_window
from flashscope.profiles.engine import jobs
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.store import load, sessions_dir
from flashscope.profiles.watching.versions import version_of
from tests.app.own_files import python_file
from tests.app.pages.watch.scene import BROKEN, TEXT, bring

WAIT_MS = 240_000


@pytest.fixture
def real(
    qapp: QApplication, qtbot: QtBot, home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MainWindow]:
    monkeypatch.setattr(jobs, "first_tasks", lambda _device: ())
    appearance_of()
    window = build_window(Controller(LocalEngine, sessions_dir()), DARK)
    with qtbot.waitSignal(window.controller.machine_found, timeout=WAIT_MS):
        window.show()
    yield window
    window.close_unasked()
    window.deleteLater()


@pytest.mark.matrix  # it takes a second or more
def test_two_saves_are_two_versions_with_their_ratio_and_errors_in_words_between(
    real: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = python_file(tmp_path)
    bring(real, qtbot, path)
    watch = real.controller.watch_own

    def ended(number: int) -> bool:
        return any(one.version.number == number for one in watch.told)

    real.trigger("profile.watch")
    page = real.page
    assert isinstance(page, WatchPage)
    qtbot.waitUntil(lambda: ended(1), timeout=WAIT_MS)
    path.write_text(BROKEN, encoding="utf-8")
    qtbot.waitUntil(lambda: ended(2), timeout=WAIT_MS)
    path.write_text(TEXT.replace("    s = q", "    import os; os._exit(3)\n    s = q"), encoding="utf-8")
    qtbot.waitUntil(lambda: ended(3), timeout=WAIT_MS)
    path.write_text(TEXT.replace("np.exp(s -", "np.exp(1 * s -"), encoding="utf-8")
    qtbot.waitUntil(lambda: ended(4), timeout=WAIT_MS)
    first, broken, crashed, last = (one.version for one in watch.told)
    assert [one.verdict for one in (first, broken, last)] == ["right", "unreadable", "right"]
    assert "ended with exit code 3" in crashed.reason
    assert [ratio.to for ratio in last.cells[0].ratios] == ["mine-v1", "flash2"]
    assert all(ratio.interval is not None for ratio in last.cells[0].ratios)
    qtbot.waitUntil(lambda: page.comparison.sentence.text().startswith("v4 is "))
    told = watch.told[3].recording
    assert told is not None
    qtbot.waitUntil(lambda: told.finished, timeout=WAIT_MS)
    assert told.path is not None
    kept = version_of(load(told.path))
    assert kept is not None
    assert (kept.number, kept.source) == (4, last.source)
    assert real.controller.session is None  # nothing took the place of what was on show
