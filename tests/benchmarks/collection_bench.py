"""A folder of 5,000 sessions and sessions of many points: pytest -m benchmark -s collection_bench.py.

Prints times, and the longest block of the event loop of each act in ms, of the wall (and of the thread's own
processor time); gates on nothing. No GPU is needed. Files are made first, which takes longest: --basetemp in
memory spares the disk.
"""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.paint_turns import waits
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.store import Headers, listing, load, sessions_dir
from flashscope.profiles.wire.events import Readings
from tests.app.fakes import PLAN, FakeEngine, sweep
from tests.benchmarks.compare_bench import KERNELS
from tests.benchmarks.heart import PATIENCE_MS, Heart, line, now, settle, shown
from tests.benchmarks.large_bench import recorded

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]

FILES = 5_000
SIZES = {1_000: 100_000, 10_000: 1_000_000, 100_000: 1_000_000}  # points, and readings beside them


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def make_window(qtbot: QtBot, qapp: QApplication, home: Path) -> Callable[[], MainWindow]:
    def make() -> MainWindow:
        window = shown(qtbot, Controller(FakeEngine, sessions_dir()))
        window.pages.make(*(key for key in window.pages if key != SessionsPage.key))
        settle(qtbot, window)
        return window

    return make


def test_a_folder_of_five_thousand_sessions(make_window: Callable[[], MainWindow], qtbot: QtBot) -> None:
    fill(sessions_dir())
    for what in ("never read", "read before"):
        window = make_window()
        listed(window, qtbot, what)
        window.close_unasked()
    begun = now()
    count = sum(map(len, listing(sessions_dir(), Headers())))
    told(f"listing {count} files from the cache", begun.wall)


def fill(folder: Path) -> None:
    """Copies of one session, each with a name of its own."""
    first = recorded(folder / "0000.flashscope", 0)
    for number in range(1, FILES):
        path = Path(shutil.copy(first, folder / f"{number:04}.flashscope"))
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("UPDATE session SET name = ?", (f"session {number}",))


def listed(window: MainWindow, qtbot: QtBot, what: str) -> None:
    """The start page, the list, and what is done with it."""
    heart = Heart()
    with heart.beating():
        begun = now()
        page = window.pages["sessions"]
        assert isinstance(page, SessionsPage)
        window.show_page("sessions")
        qtbot.waitUntil(lambda: page.model.rowCount() > 0, timeout=PATIENCE_MS)
        told(f"{FILES} files {what}, first rows", begun.wall)
        with qtbot.waitSignal(page._listing.ended, timeout=10 * PATIENCE_MS):
            pass
        told(f"{FILES} files {what}, all", begun.wall)
        settle(qtbot, window)
    line(f"{FILES} files {what}: listing", heart.longest)
    acts: dict[str, Callable[[], object]] = {
        "scrolling": lambda: scroll(page.table, qtbot),
        "sorting": lambda: page.table.sortByColumn(0, Qt.SortOrder.AscendingOrder),
        "searching": lambda: type_in(page, qtbot),
        "choosing all": page.table.selectAll,
        "reading them again": lambda: again(page, qtbot),
        "the start page": lambda: window.show_page("start"),
    }
    for name, act in acts.items():
        beat(f"{FILES} files {what}: {name}", window, qtbot, act)


def type_in(page: SessionsPage, qtbot: QtBot) -> None:
    for text in ("s", "se", "session 4", "session 49", ""):
        page.search.setText(text)
        qtbot.wait(50)


def again(page: SessionsPage, qtbot: QtBot) -> None:
    with qtbot.waitSignal(page._listing.ended, timeout=10 * PATIENCE_MS):
        page.refresh()


@pytest.mark.parametrize("points", SIZES)
def test_a_session_of_many_points(
    make_window: Callable[[], MainWindow], qtbot: QtBot, tmp_path: Path, points: int
) -> None:
    path = long_session(tmp_path / "long.flashscope", points, SIZES[points])
    begun = now()
    session = load(path)
    told(f"{points} points, {SIZES[points]} readings: load", begun.wall)
    begun = now()
    assert len(rows(session)) == points
    told(f"{points} points: rows", begun.wall)
    del session
    window = make_window()
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    opened(window, page, qtbot, path, points)
    acts: dict[str, Callable[[], object]] = {
        "to the table": lambda: page.show_view("results"),
        "scrolling the table": lambda: scroll(page.bottom.table, qtbot),
        "choosing rows": lambda: choose(page, qtbot, points),
        "to the telemetry": lambda: page.show_view("telemetry"),
        "zooming and pointing in it": lambda: look_around(page, qtbot),
        "another page and back": lambda: leave_and_return(window, qtbot),
    }
    for name, act in acts.items():
        beat(f"{points} points: {name}", window, qtbot, act)


def plan_of(points: int) -> Plan:
    """Kernels at many lengths; more of them on several curves."""
    each = points // len(KERNELS)
    heads = [1 << k for k in range(max(1, each // 2_000))][:10]
    lengths = each // len(heads)
    problems = tuple(
        Problem(seqlen_q=16 * (k + 1), seqlen_k=16 * (k + 1), heads=many)
        for many in heads
        for k in range(lengths)
    )
    return replace(PLAN, kernels=KERNELS, problems=problems)


def long_session(path: Path, points: int, readings: int) -> Path:
    return recorded(path, readings, [e for e in sweep(plan_of(points)) if not isinstance(e, Readings)])


def opened(window: MainWindow, page: ProfilePage, qtbot: QtBot, path: Path, points: int) -> None:
    """From the wish to the first paint, and until all has been read and drawn."""
    heart, readings = Heart(), SIZES[points]
    with heart.beating():
        begun = now()
        with qtbot.waitSignal(window.controller.session_changed, timeout=PATIENCE_MS):
            window.open_path(path)
        qtbot.waitUntil(lambda: not waits(page.plots.cells[0]), timeout=PATIENCE_MS)
        told(f"{points} points: headline and first plot", begun.wall)
        qtbot.waitUntil(lambda: not any(map(waits, page.plots.cells)), timeout=PATIENCE_MS)
        told(f"{points} points: all plots", begun.wall)
        qtbot.waitUntil(lambda: len(page.bottom.strip.ring) >= readings, timeout=PATIENCE_MS)
        settle(qtbot, window)
        told(f"{points} points: whole", begun.wall)
    line(f"{points} points: opening", heart.longest)


def choose(page: ProfilePage, qtbot: QtBot, points: int) -> None:
    for index in (points // 2, 3, points - 1):
        page.bottom.table.choose_point(index)
        qtbot.wait(100)


def leave_and_return(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("start")
    settle(qtbot, window)
    window.show_page("profile")


def look_around(page: ProfilePage, qtbot: QtBot) -> None:
    strip = page.bottom.strip
    lane = strip.lanes["power_w"]
    for step in range(10):
        lane.box.zoomed.emit(0.9 if step < 5 else 1 / 0.9, strip.first.shown.view[1] / 2)
        lane.pointed.emit(strip.first.shown.view[1] / 3)
        qtbot.wait(100)


def scroll(table: QAbstractItemView, qtbot: QtBot) -> None:
    bar = table.verticalScrollBar()
    for step in range(20):
        bar.setValue(bar.maximum() * step // 19)
        qtbot.wait(10)


def beat(what: str, window: MainWindow, qtbot: QtBot, act: Callable[[], object]) -> None:
    heart = Heart()
    with heart.beating():
        act()
        settle(qtbot, window)
    line(what, heart.longest)


def told(what: str, begun_ms: float) -> None:
    print(f"{what:<60} {now().wall - begun_ms:.0f} ms")  # noqa: T201 - the table
