"""A folder of thousands of sessions, in the window: pytest -m benchmark -s library_bench.py.

As it is met for the first time, then as at every other start: first rows, the whole list, the longest block;
then sorting, searching and choosing all of it. Prints, and gates on nothing.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.profiles.store import Recorder
from flashscope.profiles.wire.events import Event
from tests.app.fakes import FakeEngine, sweep
from tests.benchmarks.heart import PATIENCE_MS, Heart, line, now, shown

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(600)]

SESSIONS = 5000
OLD_NS = 1_700_000_000_000_000_000  # when they were written last: long ago


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "sessions"
    first = made / "0000.flashscope"
    recorder = Recorder(first)
    for event in sweep():
        recorder.record(event)
    recorder.close()
    for k in range(SESSIONS):
        path = made / f"{k:04}.flashscope"
        if k:
            shutil.copyfile(first, path)
        os.utime(path, ns=(OLD_NS + k, OLD_NS + k))
    return made


@pytest.mark.parametrize("run", ["first", "later"])
def test_listing(
    *, qtbot: QtBot, qapp: QApplication, folder: Path, monkeypatch: pytest.MonkeyPatch, run: str
) -> None:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(folder.parent / "home"))
    if run == "later":
        listed(qtbot, folder)
    page = listed(qtbot, folder, told=f"listing {SESSIONS} sessions, {run} start")
    for what, act in acts(page).items():
        heart = Heart()
        with heart.beating():
            act()
            qtbot.wait(200)
        line(f"{what} of {SESSIONS}", heart.longest)


def listed(qtbot: QtBot, folder: Path, told: str = "") -> SessionsPage:
    def make(sink: Callable[[Event], None]) -> FakeEngine:
        return FakeEngine(sink)

    window = shown(qtbot, Controller(make, folder / "none yet"))
    page = window.pages["sessions"]
    assert isinstance(page, SessionsPage)
    window.show_page("sessions")
    qtbot.waitUntil(lambda: page.words.text() != "Reading the sessions …", timeout=PATIENCE_MS)
    page.controller.sessions_dir = folder
    heart = Heart()
    with heart.beating(), qtbot.waitSignal(page._listing.ended, timeout=PATIENCE_MS):
        begun = now()
        page.refresh()
        before = page.model.known
        qtbot.waitUntil(lambda: page.model.known > before, timeout=PATIENCE_MS)
        first = now()
    whole = now()
    if told:
        line(told, heart.longest)
        print(f"  first rows {first.wall - begun.wall:.0f} ms, whole {whole.wall - begun.wall:.0f} ms")  # noqa: T201 - the table
    return page


def acts(page: SessionsPage) -> dict[str, Callable[[], object]]:
    return {
        "sorting": lambda: page.table.sortByColumn(0, Qt.SortOrder.AscendingOrder),
        "searching": lambda: page.search.setText("49"),
        "finding all again": page.search.clear,
        "choosing all": page.table.selectAll,
        "reading again": page.refresh,
    }
