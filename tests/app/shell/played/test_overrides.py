"""An error in a method that Qt calls is told once in words, and the window goes on."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from zlib import crc32

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.control.guard import guarded
from flashscope.app.shell.shots import grab_whole
from flashscope.app.shell.start_up.troubles import Troubles
from flashscope.profiles.store import sessions_dir
from flashscope.profiles.wire.events import TraceReady
from tests.app.hostile import hostile_file
from tests.app.rig import Rig
from tests.app.shell.played.exercise import exercise
from tests.app.shell.played.overrides import Override, overrides
from tests.app.stepper.builders import random_trace

EVERY = overrides()
BY_NAME = {f"{override.owner.__qualname__}-{override.name}": override for override in EVERY}
for box in ("TimeBox", "LanesBox"):
    del BY_NAME[f"{box}-mouseDragEvent"]  # pyqtgraph begins drags by its clock: none here is long enough

PARTS = 12
APART = (
    (
        "AuditPage-closeEvent",
        "DropSheet-paintEvent",
        "EditorFrame-resizeEvent",
        "EndLabels-paint",
        "SampleAxis-tickStrings",
        "StopDelegate-sizeHint",
    ),
    ("MainWindow-dragMoveEvent", "SassPainter-paint", "StopModel-data", "UnitAxis-tickStrings"),
    ("MainWindow-dropEvent", "MainWindow-showEvent"),
)
"""Methods that Qt does not call while another of their part is broken, in parts of their own."""


def parts() -> list[list[str]]:
    """The names of methods that are broken together: a round of all pages takes many seconds."""
    others = BY_NAME.keys() - {*chain(*APART)}
    by_part = [[name for name in others if crc32(name.encode()) % PARTS == part] for part in range(PARTS)]
    return [sorted(names) for names in (*by_part, *APART)]


class FaultError(Exception):
    """Raised in place of what a method does."""


Body = Callable[..., object]


@contextmanager
def changed(override: Override, change: Callable[[Body], Body]) -> Iterator[None]:
    """Let this method do something else inside its guard."""
    guard = override.method
    kept = (guard.__closure__ or ())[guard.__code__.co_freevars.index("method")]
    body, kept.cell_contents = kept.cell_contents, change(kept.cell_contents)
    try:
        yield
    finally:
        kept.cell_contents = body


@contextmanager
def broken(name: str) -> Iterator[list[object]]:
    """Let the body of this method raise, at a place of its own; gives a list that grows with each call."""
    calls: list[object] = []

    def fault(*_arguments: object) -> None:
        calls.append(None)
        raise FaultError(name)

    fault.__code__ = fault.__code__.replace(co_filename=name)  # what errs at one line is told once
    with changed(BY_NAME[name], lambda _body: fault):
        yield calls


def noting(name: str, called: set[str]) -> Callable[[Body], Body]:
    """A change that adds this name to a set with each call, and lets the method do what it does."""

    def change(body: Body) -> Body:
        def note(*arguments: object) -> object:
            called.add(name)
            return body(*arguments)

        return note

    return change


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What was told of errors, as the program tells it."""
    sentences: list[str] = []
    troubles = Troubles(lambda text, _details: sentences.append(text))
    monkeypatch.setattr(sys, "excepthook", troubles.take)
    yield sentences
    troubles.deleteLater()


def test_every_method_that_qt_calls_is_guarded() -> None:
    assert len(EVERY) > 40
    assert not [str(override) for override in EVERY if not hasattr(override.method, "__wrapped__")]


@pytest.mark.matrix  # it takes seconds
def test_what_is_done_with_a_window_calls_each_of_them(rig: Rig) -> None:
    file = hostile_file(sessions_dir() / "a.flashscope", "a")
    window, called = rig.window(), set[str]()
    rig.open(file)
    rig.say([TraceReady(trace=random_trace())])
    with ExitStack() as changes:
        for name, override in BY_NAME.items():
            changes.enter_context(changed(override, noting(name, called)))
        exercise(window, file)
    never = BY_NAME.keys() - called
    assert not never


@pytest.mark.qt_log_ignore(r"(Keyboard|Mouse) event .*not accepted")  # by a window that handles none any more
@pytest.mark.matrix  # each takes seconds
@pytest.mark.parametrize("names", parts(), ids=lambda names: names[0])
def test_a_window_outlives_errors_in_methods_that_qt_calls(
    names: list[str], rig: Rig, told: list[str]
) -> None:
    file = hostile_file(sessions_dir() / "a.flashscope", "a")
    window = rig.window()
    rig.open(file)
    rig.say([TraceReady(trace=random_trace())])
    with ExitStack() as faults:
        calls = {name: faults.enter_context(broken(name)) for name in names}
        exercise(window, file)
    never = [name for name in names if not calls[name]]
    assert not never
    assert sorted(re.findall(rf"{FaultError.__name__}: (\S+),", " ".join(told))) == names
    window.show()
    grab_whole(window)


def test_an_error_in_a_paint_is_told_once_and_its_painter_is_let_go(qtbot: QtBot, told: list[str]) -> None:
    class Broken(QWidget):
        @guarded()
        def paintEvent(self, event: QPaintEvent) -> None:
            del event
            painter = QPainter(self)
            painter.drawLine(0, 0, 9, 9)
            raise FaultError("no ink")

    widget = Broken()
    qtbot.addWidget(widget)
    for _ in range(5):
        assert not widget.grab().isNull()
    QCoreApplication.processEvents()
    assert len(told) == 1
    assert "FaultError: no ink" in told[0]
