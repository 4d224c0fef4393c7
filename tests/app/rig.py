"""A window over a scripted engine."""

from collections.abc import Callable, Iterator
from functools import partialmethod
from pathlib import Path
from weakref import WeakSet

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, SignalInstance
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from flashscope.app.control.appearance import appearance_of
from flashscope.app.control.controller import Controller
from flashscope.app.control.opening import Opener
from flashscope.app.look.theme import DARK
from flashscope.app.pages.registry import START
from flashscope.app.pages.start import StartPage
from flashscope.app.shell.main_window import MainWindow, build_window
from flashscope.app.shell.start_up import ahead
from flashscope.profiles.engine.contract import Sink
from flashscope.profiles.store import Recorder, sessions_dir
from flashscope.profiles.wire.events import Event
from tests.app.fakes import FakeEngine

Save = Callable[[list[Event], str], Path]
PATIENCE_MS = 60_000  # nobody waits for so long but on a machine that hardly gets to it
NEVER_MS = 3_600_000
WHOLE = 100  # percent


class PatientBot(QtBot):
    """Waits for as long as a machine may take that has other things to do."""

    waitUntil = partialmethod(QtBot.waitUntil, timeout=PATIENCE_MS)  # noqa: N815 - its name
    waitSignal = partialmethod(QtBot.waitSignal, timeout=PATIENCE_MS)  # noqa: N815 - as above


class Rig:
    """A controller, its scripted engine and, when asked for, a window.

    Attributes:
        now: What the controller's clock says, in seconds; it moves when a test moves it.
    """

    def __init__(self, qtbot: QtBot) -> None:
        self._qtbot = qtbot
        self._made: list[FakeEngine] = []
        self._windows = WeakSet[MainWindow]()  # a test may let go of one
        self.now = 0.0
        self.controller = Controller(self._make, sessions_dir(), clock=lambda: self.now)
        self.engine = self._made[0]

    def _make(self, sink: Sink) -> FakeEngine:
        self._made.append(FakeEngine(sink))
        return self._made[-1]

    def say(self, events: list[Event]) -> None:
        """Let the engine say these and wait until the window has heard them."""
        heard = self.controller.sweep_told
        with self._qtbot.waitSignal(heard, timeout=60_000):
            self.engine.say(events)
        self._qtbot.waitUntil(lambda: not self.controller._bridge._waiting, timeout=60_000)

    def opening(self, act: Callable[[], object]) -> None:
        """Do what opens a file, and wait until it is on show or refused."""
        heard = self._heard(self.controller.session_changed, self.controller.not_opened)
        act()
        self._qtbot.waitUntil(lambda: bool(heard), timeout=30_000)

    def pass_time(self, seconds: float) -> None:
        """Let a replay go on for so long."""
        assert self.controller.playback is not None
        self.now += seconds
        self.controller.playback.tick()

    def begin_to_open(self, path: Path) -> None:
        """Open a file and wait until it is on show; its readings still follow."""
        self.opening(lambda: self.controller.open_session(path))

    def open(self, path: Path) -> None:
        """Open a file and wait until it is read whole or refused."""
        opener = self.controller.findChild(Opener)
        assert opener is not None
        heard = self._heard(opener.ended, self.controller.not_opened)
        self.controller.open_session(path)

        def is_over() -> bool:
            """Whether this one is: the file before may end, too."""
            shown = self.controller.path == path and self.controller.session
            return any(one is shown or one == path for one in heard)

        self._qtbot.waitUntil(is_over, timeout=30_000)

    def _heard(self, *signals: SignalInstance) -> list[object]:
        """What these signals say from now on."""
        heard: list[object] = []
        for signal in signals:
            signal.connect(heard.append)
        return heard

    def window(self) -> MainWindow:
        """A window that is on show and has found its machine."""
        appearance_of()
        window = build_window(self.controller, DARK)
        self._windows.add(window)
        with self._qtbot.waitSignal(self.controller.machine_found, timeout=60_000):
            window.show()
        return window

    def close(self) -> None:
        """End all, and delete the windows: what comes after need not bring them back to a look of theirs."""
        self.controller.close()
        for window in filter(isValid, list(self._windows)):
            window.close_unasked()
            window.deleteLater()
        if isValid(self.controller):  # what its signals call would hold what is left of the pages for good
            self.controller.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def start_page(window: MainWindow) -> StartPage:
    page = window.pages[START]
    assert isinstance(page, StartPage)
    return page


@pytest.fixture
def rig(qtbot: QtBot, qapp: QApplication) -> Iterator[Rig]:
    made = Rig(qtbot)
    yield made
    made.close()
    appearance_of().zoom(WHOLE)  # what the test after finds, though this one ended on a stage
    appearance_of().finish()  # of a switch that the test did not wait for


@pytest.fixture
def window(rig: Rig) -> MainWindow:
    return rig.window()


@pytest.fixture(scope="module")
def shared_window(
    qapp: QApplication, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MainWindow]:
    """A window with all its pages for those tests of a module that only look at it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLASHSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setattr(ahead, "IDLE_MS", NEVER_MS)
        patch.setattr(ahead, "modules_of_pages", lambda: iter(()))
        made = Rig(PatientBot(request))
        window = made.window()
        window.pages.complete()
        yield window
        made.close()


@pytest.fixture
def save() -> Save:
    """Writes events to a session file."""

    def write(events: list[Event], name: str) -> Path:
        path = sessions_dir() / f"{name}.flashscope"
        recorder = Recorder(path)
        for event in events:
            recorder.record(event)
        recorder.close()
        return path

    return write
