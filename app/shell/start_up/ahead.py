"""Work ahead of the user: what the pages need is loaded once a window is there, then the pages are made."""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from pkgutil import walk_packages

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QWidget

from flashscope.app.control.chores import Chores, ChoreSteps, nothing
from flashscope.app.pages.registry import KEYS, page_class
from flashscope.app.shell.pages import Pages

IDLE_MS = 50  # between two pages: paints and what the user does come before
STEP_MS = 5  # between two steps of a page
ROOMS = ("figures", "stepper", "widgets", "plots", "pages")  # of app, each after those that it stands on


def modules_of_pages() -> Iterator[str]:
    """What the pages are made of, that which needs less first, so that each adds little to what is loaded."""
    yield from ("numpy", "pyqtgraph")
    for room in ROOMS:
        package = f"flashscope.app.{room}"
        within = import_module(package).__path__
        yield from (found.name for found in walk_packages(within, f"{package}.", lambda _name: None))


class Ahead(Chores):
    """Loads while nothing else happens and makes a page in each pause, in steps; each is tried once.

    Signals:
        loaded: What every page needs is there, cannot be loaded, or is needed no more; told once.

    Args:
        window: Whose pages they are; in one that is closed none is made.
        pages: Makes them.
        ready: Is given the key of each that was made.
        measuring: Whether a sweep runs: its plots move, and no page is made then that nobody asks for.
    """

    loaded = Signal()

    def __init__(
        self,
        window: QWidget,
        pages: Pages,
        ready: Callable[[str], None],
        measuring: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(window)
        self._window, self._pages, self._ready, self._measuring = window, pages, ready, measuring
        self._due = iter(KEYS)
        self._making: list[Iterator[None]] = []  # the steps of each page that is being made
        self._told = False
        self._pause = QTimer(self, interval=IDLE_MS)
        self._pause.timeout.connect(self._make_next)
        self._turns = QTimer(self, interval=STEP_MS)
        self._turns.timeout.connect(self._step)
        self.loaded.connect(self._go_on)

    @property
    def busy(self) -> bool:
        """Whether pages are being made."""
        return self._pause.isActive() or bool(self._making)

    def begin(self) -> None:
        """Load what every page needs; one that cannot be loaded leaves the others alone.

        What has classes of Qt is loaded on this thread, a module in each turn of the event loop: PySide looks
        classes up without Python's lock, and crashes where another thread makes one at that moment.
        """
        self.do_after(self._load(), self._find_pages)

    def _load(self) -> ChoreSteps[Callable[[], None]]:
        for name in modules_of_pages():
            if name in sys.modules:
                continue
            if not self._window.isVisible():
                break
            with suppress(Exception):  # the page that needs it tells
                import_module(name)
            yield
        return partial(nothing, None)

    def _find_pages(self, _loaded: None) -> None:
        for key in KEYS:
            self.do(partial(page_class, key))
        self.do(lambda: None, lambda _: self._tell())

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            self.loaded.emit()

    def stop(self) -> None:
        """Load and make no more."""
        self._pause.stop()
        self._turns.stop()
        self._making.clear()
        self.forget()
        self._tell()

    def make(self, key: str) -> None:
        """Make a page in the turns to come, a step in each."""
        self._making.append(self._make_in_steps(key))
        self._turns.start()

    def _go_on(self) -> None:
        if self._window.isVisible():  # it may be closed by now
            self._pause.start()

    def _make_next(self) -> None:
        if self._measuring() or self._making:
            return
        key = next((key for key in self._due if key in self._pages.missing), None)
        if key is None:
            self._pause.stop()
        else:
            self.make(key)

    def _make_in_steps(self, key: str) -> Iterator[None]:
        """It is built, then taken into the window, then laid out there."""
        yield from self._pages.make_in_steps(key)
        yield
        self._ready(key)

    def _step(self) -> None:
        """One step of the page that is being made; of one that cannot be made there is none left."""
        if not self._making:
            self._turns.stop()
        elif next(self._making[0], self) is self:
            del self._making[0]
