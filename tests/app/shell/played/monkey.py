"""Does at random what a user can do with a window: keys, clicks, drags, commands, files, sweeps.

    python -m tests.app.shell.played.monkey [ACTIONS] [SEED]

Plays with a window over a real engine on the CPU and with recordings open. Prints the memory in use and the
longest action ten times on the way; exits with 1 when anything was raised.
"""

import faulthandler
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from traceback import format_exception
from typing import Any

import psutil
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QWidget

from flashscope.app.control.actions import Action
from flashscope.app.control.controller import Controller
from flashscope.app.control.quick import quick_plan
from flashscope.app.look.theme import DARK
from flashscope.app.shell.main_window import MainWindow, build_window
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.store import sessions_dir
from tests.app.shell.played import sandbox

CLOSING = {"quit"}  # ends the game
MOST_SESSIONS = 20  # kept of those that the sweeps leave: a listing grows with them
HANG_S = 60  # an action that takes longer ends the process, and tells where it was
IMPATIENCE_MS = 20  # after which a menu that an action waits for is answered
PIECES = 10  # of a game, after each of which its memory is looked at
KEYS = [
    *(Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Space),
    *(Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End),
    *(Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Delete, Qt.Key.Key_Backspace, Qt.Key.Key_F2),
    *map(Qt.Key, range(Qt.Key.Key_0, Qt.Key.Key_9 + 1)),
    *map(Qt.Key, range(Qt.Key.Key_A, Qt.Key.Key_Z + 1)),
    *(Qt.Key.Key_Plus, Qt.Key.Key_Minus, Qt.Key.Key_BracketLeft, Qt.Key.Key_BracketRight, Qt.Key.Key_Comma),
]
MODIFIERS = [
    *[Qt.KeyboardModifier.NoModifier] * 6,
    *[Qt.KeyboardModifier.ControlModifier] * 2,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
]
BUTTONS = [*[Qt.MouseButton.LeftButton] * 8, Qt.MouseButton.MiddleButton, Qt.MouseButton.RightButton]


class Monkey:
    """Plays with one window; the same with the same dice, as far as the engine's timing lets it.

    Attributes:
        window: What it plays with.
        seen: How many sessions were on show, sweeps and replays ended, and traces arrived.
    """

    def __init__(self, window: MainWindow, dice: random.Random, files: list[Path]) -> None:
        self.window, self._dice, self._files = window, dice, files
        self._commands: list[Action] = [action for action in window.registry if action.key not in CLOSING]
        self.seen = Counter[str]()
        controller = window.controller
        controller.session_changed.connect(lambda _session: self.seen.update(["sessions"]))
        controller.trace_ready.connect(lambda _trace: self.seen.update(["traces"]))
        controller.running_changed.connect(lambda running: self.seen.update([] if running else ["runs"]))
        self._held: QWidget = window
        self._impatience = QTimer(window, interval=IMPATIENCE_MS)
        self._impatience.timeout.connect(self._answer)
        for key in CLOSING:
            action = window.registry.find(key)
            assert action is not None
            action.triggered.disconnect()  # disabled it would not stay: every page enables it again
        self.acts: dict[Callable[[], None], int] = {
            self.press: 30,
            self.click: 25,
            self.click_anywhere: 12,
            self.drag: 6,
            self.turn_wheel: 6,
            self.ask_for_menu: 2,
            self.give_command: 12,
            self.show_page: 6,
            self.open_file: 2,
            self.sweep: 1,
            self.cancel: 1,
            self.trace: 1,
            self.resize: 2,
            self.wait: 2,
        }

    def act(self) -> str:
        """Do one thing and let the window answer; returns what was done."""
        (act,) = self._dice.choices([*self.acts], [*self.acts.values()])
        self._impatience.start()
        act()
        self._impatience.stop()
        QApplication.processEvents()
        return act.__name__

    def press(self) -> None:
        where = QApplication.focusWidget() or self._front()
        QTest.keyClick(where, self._dice.choice(KEYS), self._dice.choice(MODIFIERS))

    def click(self) -> None:
        """A widget that is on show, wherever it is."""
        if (widget := self._any_widget()) is None:
            return
        button, middle = self._dice.choice(BUTTONS), widget.rect().center()
        if self._dice.random() < 0.1:
            QTest.mouseDClick(widget, button, pos=middle)
        else:
            QTest.mouseClick(widget, button, self._dice.choice(MODIFIERS), middle)

    def click_anywhere(self) -> None:
        widget, place = self._any_place()
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, self._dice.choice(MODIFIERS), place)

    def drag(self) -> None:
        """From one place of a widget to another; not of a text, whose drag waits for a real mouse."""
        widget, place = self._any_place()
        if isinstance(widget, QLineEdit) or isinstance(widget.parent(), QPlainTextEdit):
            return
        QTest.mousePress(widget, Qt.MouseButton.LeftButton, pos=place)
        for _ in range(2):
            QTest.mouseMove(widget, self._point(widget))
        if widget.isVisible():
            QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, pos=self._point(widget))

    def turn_wheel(self) -> None:
        widget, place = self._any_place()
        turned = QPoint(0, self._dice.choice([-120, 120, 1200]))
        event = QWheelEvent(
            QPointF(place),
            QPointF(widget.mapToGlobal(place)),
            QPoint(),
            turned,
            Qt.MouseButton.NoButton,
            self._dice.choice(MODIFIERS),
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(widget, event)

    def ask_for_menu(self) -> None:
        widget, place = self._any_place()
        why = QContextMenuEvent.Reason.Mouse
        QApplication.sendEvent(widget, QContextMenuEvent(why, place, widget.mapToGlobal(place)))

    def give_command(self) -> None:
        action = self.window.registry.find(self._dice.choice(self._commands).key)
        assert action is not None
        action.trigger()

    def show_page(self) -> None:
        self.window.show_page(self._dice.choice([*self.window.pages]))

    def open_file(self) -> None:
        self.window.open_path(self._dice.choice(self._files))

    def sweep(self) -> None:
        self.window.controller.run(quick_plan(self.window.controller.machine))

    def cancel(self) -> None:
        self.window.controller.cancel()

    def trace(self) -> None:
        rows = self._dice.choice([8, 64])
        problem = Problem(seqlen_q=rows, seqlen_k=rows, head_dim=16, dtype="float32")
        self.window.controller.request_trace(TraceRequest(problem=problem))

    def resize(self) -> None:
        self.window.resize(self._dice.randrange(400, 1800), self._dice.randrange(300, 1100))

    def wait(self) -> None:
        """Let what runs beside the window get on."""
        QTest.qWait(self._dice.randrange(60))

    def _answer(self) -> None:
        """Choose from a menu that a click waits for, or leave it."""
        popup = QApplication.activePopupWidget()
        if popup is not None:
            QTest.keyClick(popup, self._dice.choice([Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Escape]))

    def _front(self) -> QWidget:
        """What takes keys and clicks: an open list or menu, a dialog, else the window.

        It is held until the next one: with the wrapper of one of Qt's own go those of what was found in it.
        """
        self._held = QApplication.activePopupWidget() or QApplication.activeModalWidget() or self.window
        return self._held

    def _any_widget(self) -> QWidget | None:
        """One in front; not by findChildren, which keeps what it gives for as long as the window lives."""
        front = self._front()
        shown = [
            one
            for one in QApplication.allWidgets()
            if one.isVisible() and one.isEnabled() and front.isAncestorOf(one)
        ]
        return self._dice.choice(shown) if shown else None

    def _any_place(self) -> tuple[QWidget, QPoint]:
        """A point of what is in front, and the widget that is there."""
        front = self._front()
        point = self._point(front)
        widget = front.childAt(point) or front
        return widget, widget.mapFrom(front, point)

    def _point(self, widget: QWidget) -> QPoint:
        width, height = max(1, widget.width()), max(1, widget.height())
        return QPoint(self._dice.randrange(width), self._dice.randrange(height))


def keep_few(folder: Path) -> None:
    """Remove the oldest of many recordings."""
    for path in sorted(folder.glob("*.flashscope"), key=lambda one: one.stat().st_mtime)[:-MOST_SESSIONS]:
        path.unlink()


def play(monkey: Monkey, actions: int) -> dict[str, float]:
    """Play for so many actions; returns the longest of each kind in seconds."""
    longest = dict[str, float]()
    for number in range(actions):
        faulthandler.dump_traceback_later(HANG_S, exit=True)
        began = time.monotonic()
        name = monkey.act()
        assert monkey.window.isVisible(), f"action {number}, {name}, has closed the window"
        longest[name] = max(longest.get(name, 0.0), time.monotonic() - began)
        if number % 500 == 0:
            keep_few(sessions_dir())
    faulthandler.cancel_dump_traceback_later()
    return longest


def tell(raised: list[str], *what: Any) -> None:
    """Print an error that was not printed yet, and keep it."""
    error = "".join(format_exception(*what))
    if error not in raised:
        sys.stdout.write(error)
    raised.append(error)


def main(actions: int, seed: int) -> int:
    """Play, tell of it, and return the exit code."""
    raised: list[str] = []
    dice, app = random.Random(seed), QApplication([])  # noqa: S311 - a game
    with tempfile.TemporaryDirectory() as home, pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLASHSCOPE_HOME", home)
        patch.setattr(sys, "excepthook", partial(tell, raised))
        sandbox.closed_in(patch, dice, Path(home))
        window = build_window(Controller(LocalEngine, sessions_dir()), DARK)
        window.show()
        monkey = Monkey(window, dice, sandbox.files_in(Path(home)))
        for piece in range(1, PIECES + 1):
            longest = play(monkey, actions // PIECES)
            slowest = max(longest, key=longest.__getitem__)
            used = psutil.Process().memory_info().rss >> 20
            sys.stdout.write(
                f"{piece * (actions // PIECES)} actions, {used} MiB, {len(raised)} raised; "
                f"longest: {slowest}, {longest[slowest]:.2f} s; {dict(monkey.seen)}\n"
            )
            sys.stdout.flush()
        window.close_unasked()
        app.processEvents()
    return 1 if raised else 0


if __name__ == "__main__":
    raise SystemExit(main(*(int(text) for text in [*sys.argv[1:], "100000", "0"][:2])))
