"""What the window does in one turn of its event loop, in counts: no neighbour on the machine changes them.

A turn that does too much is a window that hangs. How long it hangs is printed by tests/benchmarks.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest
from pyqtgraph import GraphicsView
from PySide6.QtCore import QAbstractEventDispatcher
from PySide6.QtGui import QPaintEvent

from flashscope.app.control.bridge import GIVEN_PER_TICK
from flashscope.app.control.controller import Controller
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.plots.sweep.sweep_plot import SweepPlot

MOST_CALLS = 120_000  # the fullest turn of the worst flood takes 76,000
EVENTS, PLOTS, REFRESHES, CALLS = "events", "plots painted", "refreshes", "calls"


class Turns:
    """Counts by turn; to be made before a plot is painted, for PySide remembers what paints it.

    Attributes:
        done: What was counted in each turn while `counted` ran.
    """

    def __init__(self, controller: Controller, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[Counter[str]] = []
        self._turn = Counter[str]()
        self._painted: list[GraphicsView] = []  # in this turn
        controller.events_arrived.connect(lambda events: self.note(EVENTS, len(events)))
        monkeypatch.setattr(ProfilePage, "refresh", self._counting(REFRESHES, ProfilePage.refresh))
        paint = GraphicsView.paintEvent

        def painted(view: GraphicsView, event: QPaintEvent) -> None:
            if isinstance(view, SweepPlot) and view not in self._painted:
                self._painted.append(view)
                self.note(PLOTS)
            paint(view, event)

        monkeypatch.setattr(GraphicsView, "paintEvent", painted)

    def note(self, what: str, number: int = 1) -> None:
        """Something was done in this turn."""
        self._turn[what] += number

    def most(self, what: str) -> int:
        """The most of it in any one turn."""
        return max(turn[what] for turn in self.done)

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count turns, and the calls of functions in each, Python's and C's, of this thread."""
        dispatcher = QAbstractEventDispatcher.instance()
        dispatcher.awake.connect(self._next)
        self.done = []
        self._next()
        sys.setprofile(self._called)
        try:
            yield
        finally:
            sys.setprofile(None)
            dispatcher.awake.disconnect(self._next)
            self._turn = Counter()  # what comes now counts for nothing

    def _next(self) -> None:
        self._turn, self._painted = Counter(), []
        self.done.append(self._turn)

    def _called(self, _frame: object, event: str, _argument: object) -> None:
        if event in {"call", "c_call"}:
            self._turn[CALLS] += 1

    def _counting(self, what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def counting(*arguments: Any) -> Any:
            self.note(what)
            return function(*arguments)

        return counting


def assert_no_turn_does_too_much(turns: Turns) -> None:
    """A batch of events, one refresh, never all plots at once, and not many calls."""
    fullest = {what: turns.most(what) for what in (EVENTS, REFRESHES, PLOTS, CALLS)}
    assert 0 < turns.most(EVENTS) <= GIVEN_PER_TICK, fullest
    assert turns.most(REFRESHES) == 1, fullest
    assert 0 < turns.most(PLOTS) < 4, fullest  # they are four
    assert turns.most(CALLS) <= MOST_CALLS, fullest
