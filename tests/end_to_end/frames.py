"""A window that sweeps, and a program beside it that looks at the screen; each is run as a script.

python tests/end_to_end/frames.py sweep            a sweep on the CPU on the Profile page
python tests/end_to_end/frames.py look JSON COUNT  grabs so many frames and names the cards missing in each
"""

import json
import sys
from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.control.controller import Controller
from app.shell import run
from app.shell.main_window import MainWindow
from app.widgets.card import Card
from kernels.problem import Problem
from profiles.plan.plan import Plan, Protocol
from profiles.wire.events import Event, PointMeasured

PERIOD_MS = 30  # between two frames
BESIDE_PX = 3  # of a card's edge, where the page is to be seen
PROBLEMS = [Problem(seqlen_q=n, seqlen_k=n, head_dim=32, dtype="float32") for n in range(64, 2049, 64)]
PLAN = Plan(
    backend="cpu",
    kernels=("standard", "flash1", "flash2"),
    problems=tuple(PROBLEMS),
    protocol=Protocol(repeats=20, time_cap_s=0.3, drift_check=False),
)


class Sweeping(Controller):
    """Runs a sweep at once, and prints where the cards with a title are when its first point is measured."""

    def start(self) -> None:
        """Show the Profile page and begin."""
        super().start()
        (self._window,) = (one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow))
        self._window.show_page("profile")
        self._told = False
        self.events_arrived.connect(self._tell)
        self.run(PLAN)

    def _tell(self, events: Sequence[Event]) -> None:
        if self._told or not any(isinstance(event, PointMeasured) for event in events):
            return
        self._told = True
        shown = [card for card in self._window.page.findChildren(Card) if card.isVisible()]
        places = {card._title.text(): _places(card) for card in shown if card._title.text()}
        sys.stdout.write(json.dumps(places) + "\n")
        sys.stdout.flush()


def _places(card: Card) -> list[list[int]]:
    """Where a card and its title are on the screen: left, top, width, height."""
    return [
        [*one.mapToGlobal(QPoint(0, 0)).toTuple(), one.width(), one.height()] for one in (card, card._title)
    ]


def look(places: dict[str, list[list[int]]], count: int) -> None:
    """Print a line a frame: the cards whose surface or title is not to be seen in it."""
    application = QGuiApplication([])
    for _ in range(count):
        frame = application.primaryScreen().grabWindow(0).toImage()
        missing = [name for name, (card, title) in places.items() if not _seen(frame, card, title)]
        sys.stdout.write(json.dumps(missing) + "\n")
        QTest.qWait(PERIOD_MS)


def _seen(frame: QImage, card: list[int], title: list[int]) -> bool:
    """Whether a card's surface differs from the page, and something is written where its title is."""
    left, top, _width, height = card
    middle = top + height // 2
    surface = frame.pixel(left + BESIDE_PX, middle) != frame.pixel(left - BESIDE_PX, middle)
    written = frame.copy(QRect(*title))
    colours = {written.pixel(x, y) for x in range(written.width()) for y in range(written.height())}
    return surface and len(colours) > 1


if __name__ == "__main__":
    if sys.argv[1] == "sweep":
        run.Controller = Sweeping  # type: ignore[attr-defined] # in the place of the program's own
        raise SystemExit(run.run_window(None))
    look(json.loads(sys.argv[2]), int(sys.argv[3]))
