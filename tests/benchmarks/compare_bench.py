"""How long a large comparison holds the event loop up: pytest -m benchmark -s compare_bench.py.

Six sessions of 2,000 points each, on 40 curves and on one. Prints the longest block of each act in ms, of the
wall (and of the thread's own processor time); gates on nothing. No GPU is needed. Recording the sessions
takes longest: --basetemp in memory spares the disk.
"""

from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.appearance import ThemeChoice
from flashscope.app.control.controller import Controller
from flashscope.app.pages.compare import ComparePage
from flashscope.app.pages.compare.findings import Findings
from flashscope.app.shell.main_window import MainWindow
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.quantities.registry import FOOTPRINT, RUNTIME
from tests.app.fakes import FakeEngine
from tests.app.pages.compare.conftest import GPU_PLAN, recorded
from tests.benchmarks.heart import PATIENCE_MS, Block, Heart, line, settle, shown

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1200)]

TRIES = 3
SESSIONS = 6
KERNELS = ("standard", "flash1", "flash2", "flash3", "torch-flash")
SHAPES = {
    "40 curves": [
        (head_dim, causal, heads, 256 * (k + 1))
        for head_dim in (32, 64, 80, 128, 256)
        for causal in (False, True)
        for heads in (1, 2, 4, 8)
        for k in range(10)
    ],
    "one curve": [(64, False, 2, 64 * (k + 1)) for k in range(400)],
}


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path / "home"))
    return shown(qtbot, Controller(FakeEngine, tmp_path / "home"))


@pytest.mark.parametrize("name", SHAPES)
def test_comparing_six_sessions_of_two_thousand_points(window: MainWindow, qtbot: QtBot, name: str) -> None:
    files = [recorded(f"run {k}", plan_of(name), times=1 + k / 20) for k in range(SESSIONS)]
    visit = Visit(window, qtbot, files)
    for what, act in visit.acts().items():
        line(f"{name}: {what}", *[visit.beaten(act) for _ in range(TRIES)])


def plan_of(name: str) -> Plan:
    problems = tuple(
        Problem(seqlen_q=n, seqlen_k=n, heads=heads, head_dim=head_dim, causal=causal, dtype="float16")
        for head_dim, causal, heads, n in SHAPES[name]
    )
    return replace(GPU_PLAN, kernels=KERNELS, problems=problems)


class Visit:
    """What a user does on the Compare page."""

    def __init__(self, window: MainWindow, qtbot: QtBot, files: list[Path]) -> None:
        page = window.pages["compare"]
        assert isinstance(page, ComparePage)
        self.window, self.qtbot, self.files = window, qtbot, files
        self.page, self.board = page, page.board
        self._quantities = cycle((FOOTPRINT, RUNTIME))
        self._themes: Iterator[ThemeChoice] = cycle(("light", "dark"))
        window.show_page("compare")
        settle(qtbot, window)

    def acts(self) -> dict[str, Callable[[], object]]:
        """By name, in the order in which they make sense."""
        lineup, board, table = self.page.lineup, self.board, self.board.tables.pairs
        return {
            "choosing them": lambda: self.found(lambda: self.page.choose(self.files)),
            "another baseline": lambda: self.found(lambda: lineup.make_baseline(lineup.paths[1])),
            "another quantity": lambda: self.found(lambda: lineup.compare_by(next(self._quantities))),
            "turning the view": board.turn_view,
            "another session": lambda: board.show_current(board.current % (SESSIONS - 1) + 1),
            "another pair": lambda: board.choose((board.place + 777) % len(self.findings.pairs)),
            "another curve": self.turn_curve,
            "sorting the table": lambda: table.sortByColumn(6, Qt.SortOrder.DescendingOrder),
            "filtering the table": self.filter,
            "scrolling the table": self.scroll,
            "hiding a kernel": lambda: board.legend.toggled.emit("standard", "standard" in board._hidden),
            "leaving and showing the page": self.leave_and_return,
            "another theme": self.turn_theme,
        }

    def beaten(self, act: Callable[[], object]) -> Block:
        """The longest block while this is done, and drawn."""
        heart = Heart()
        with heart.beating():
            act()
            settle(self.qtbot, self.window)
        return heart.longest

    @property
    def findings(self) -> Findings:
        assert self.board.findings is not None
        return self.board.findings

    def found(self, act: Callable[[], object]) -> None:
        with self.qtbot.waitSignal(self.page.lineup.found, timeout=PATIENCE_MS):
            act()

    def turn_curve(self) -> None:
        curves = list(self.findings.sheets)
        here = curves.index(self.findings.curve_at(self.board.place))
        self.board.curves.curve_chosen.emit(curves[here - 1])

    def filter(self) -> None:
        tables = self.board.tables
        tables.verdicts.setCurrentIndex(1 - tables.verdicts.currentIndex())
        tables.verdicts.activated.emit(tables.verdicts.currentIndex())

    def scroll(self) -> None:
        bar = self.board.tables.pairs.verticalScrollBar()
        for step in range(20):
            bar.setValue(bar.maximum() * step // 19)
            self.qtbot.wait(10)

    def leave_and_return(self) -> None:
        self.window.show_page("start")
        settle(self.qtbot, self.window)
        self.window.show_page("compare")

    def turn_theme(self) -> None:
        appearance = self.window.appearance
        appearance.choose(next(self._themes))
        self.qtbot.waitUntil(lambda: not appearance.busy, timeout=PATIENCE_MS)
