"""A window that sweeps, and a program beside it that looks at the screen; each is run as a script.

python tests/end_to_end/frames.py sweep            a sweep on the CPU, its curves on show
python tests/end_to_end/frames.py look JSON COUNT  says what is missing in so many frames, once one is whole
"""

import json
import sys
from collections.abc import Sequence

from PySide6.QtCore import QDeadlineTimer, QPoint, QRect
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.plots.sweep.sweep_card import SweepCard
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.start_up import run
from flashscope.app.widgets.card import Card
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.wire.events import Event, PointMeasured

Places = dict[str, list[list[int]]]

PERIOD_MS = 30  # between two frames
PATIENCE_MS = 60_000  # for the first whole frame
CARDS = 3  # at least: two plots and the panel, in a high window four
BESIDE_PX = 3  # of a card's edge, where the page is to be seen
PROBLEMS = [Problem(seqlen_q=n, seqlen_k=n, head_dim=32, dtype="float32") for n in range(64, 2049, 64)]
PLAN = Plan(
    backend="cpu",
    kernels=("standard", "flash1", "flash2"),
    problems=tuple(PROBLEMS),
    protocol=Protocol(repeats=20, time_cap_s=0.3, drift_check=False),
)


class Sweeping(Controller):
    """Runs a sweep at once; prints where the page's cards are once a measured point moves none of them."""

    def start(self) -> None:
        """Show the curves and begin."""
        super().start()
        (self._window,) = (one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow))
        self._window.show_page("profile")
        self._before: Places = {}
        self.events_arrived.connect(self._look)
        self.run(PLAN)

    def _look(self, events: Sequence[Event]) -> None:
        if not any(isinstance(event, PointMeasured) for event in events):
            return
        self._window.tour.leave()  # its callout covers cards
        places = _places(self._window.page)
        if len(places) >= CARDS and places == self._before:
            self.events_arrived.disconnect(self._look)
            sys.stdout.write(json.dumps(places) + "\n")
            sys.stdout.flush()
        self._before = places


def _places(page: QWidget) -> Places:
    """Where each card with a title, and that title, is on the screen."""
    places = {}
    for card in page.findChildren(Card):
        title = card.chooser if isinstance(card, SweepCard) else card._title
        if title.isVisible():
            places[card.title if isinstance(card, SweepCard) else "panel"] = [
                _rectangle(card),
                _rectangle(title),
            ]
    return places


def _rectangle(shown: QWidget) -> list[int]:
    """Where it is on the screen: left, top, width, height."""
    return [*shown.mapToGlobal(QPoint(0, 0)).toTuple(), shown.width(), shown.height()]


def look(places: Places, count: int) -> None:
    """Print a line a frame, from the first whole one: what of the cards is not to be seen in it."""
    application = QGuiApplication([])
    screen = application.primaryScreen()
    patience = QDeadlineTimer(PATIENCE_MS)
    while _missing(screen.grabWindow(0).toImage(), places) and not patience.hasExpired():
        QTest.qWait(PERIOD_MS)
    for _ in range(count):
        sys.stdout.write(json.dumps(_missing(screen.grabWindow(0).toImage(), places)) + "\n")
        QTest.qWait(PERIOD_MS)


def _missing(frame: QImage, places: Places) -> list[str]:
    """What is not to be seen: the surface or the title line of which cards."""
    return [
        f"{part} of {name}"
        for name, (card, title) in places.items()
        for part, seen in (("surface", _surface(frame, card)), ("title", _written(frame, title)))
        if not seen
    ]


def _surface(frame: QImage, card: list[int]) -> bool:
    """Whether a card's surface differs from the page beside it."""
    left, top, _width, height = card
    middle = top + height // 2
    return frame.pixel(left + BESIDE_PX, middle) != frame.pixel(left - BESIDE_PX, middle)


def _written(frame: QImage, title: list[int]) -> bool:
    """Whether something is written where a card's title is."""
    written = frame.copy(QRect(*title))
    return len({written.pixel(x, y) for x in range(written.width()) for y in range(written.height())}) > 1


if __name__ == "__main__":
    if sys.argv[1] == "sweep":
        run.Controller = Sweeping  # type: ignore[attr-defined] # in the place of the program's own
        raise SystemExit(run.run_window(None))
    look(json.loads(sys.argv[2]), int(sys.argv[3]))
