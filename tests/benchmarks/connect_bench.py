"""What it takes from *Connect* to the first point: python -m tests.benchmarks.connect_bench [--ssh] [PICTURE]

A window is led to a host that lends its CPU on the loopback, by keys and clicks alone. `--ssh`: a real sshd
on the loopback, where ssh starts the host; else a connection file that is known here, of a host that calls
itself gpu-host (needs unshare). PICTURE is a PNG of two steps: the dialog, and the first points of a sweep
that runs there.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK
from flashscope.app.pages.registry import SHOWING
from flashscope.app.shell.connect_dialog import ConnectDialog
from flashscope.app.shell.main_window import MainWindow, build_window
from flashscope.app.shell.shots import grab_whole, run_loop
from flashscope.app.shell.start_up.application import make_application
from flashscope.profiles.cluster.connection import connections_dir, write_connection
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.store import sessions_dir
from tests.end_to_end.hosts import running_host
from tests.end_to_end.sshd import lab

SIZE, GAP_PX, SHADE, EDGE = (1280, 720), 16, 110, "#58a6ff"
POLL_MS, SETTLE_MS, POINTS = 20, 300, 6
MOST_COLOURS = 256
CTRL = Qt.KeyboardModifier.ControlModifier
NAMED = ("unshare", "--user", "--map-root-user", "--uts", "sh", "-c", 'hostname gpu-host; exec "$@"', "sh")


class Walk:
    """A window that is led to another machine.

    Attributes:
        done: How far it was, with the seconds since the first key.
        drawn: Pictures of the steps.
    """

    def __init__(self, window: MainWindow) -> None:
        self.done: list[tuple[str, float]] = []
        self.drawn: list[QPixmap] = []
        self._window = window
        self._begun = 0.0

    def walk(self, address: str, *, picture: bool) -> None:
        """From the key to the first point; without an address, by the first that is known."""
        window, controller = self._window, self._window.controller
        self._begun = time.monotonic()
        QTest.keyClick(window, Qt.Key.Key_M, CTRL | Qt.KeyboardModifier.ShiftModifier)
        dialog = next(one for one in window.findChildren(ConnectDialog) if one.isVisible())
        if picture:
            self.drawn.append(_with_dialog(window, dialog))
        if address:
            QTest.keyClicks(dialog.field, address)
        else:
            QTest.mouseClick(dialog.list.viewport(), Qt.MouseButton.LeftButton, pos=_first_of(dialog))
        self._note("named")
        QTest.keyClick(dialog, Qt.Key.Key_Return)
        _wait(lambda: controller.devices.place is not None and controller.machine is not None)
        self._note("connected")
        for button in (window.top_bar.new, window.top_bar.run):
            if button.isVisible():
                QTest.mouseClick(button, Qt.MouseButton.LeftButton)
                run_loop(POLL_MS)
        _wait(lambda: _measured(controller) > 0)
        self._note("the first point")
        if picture:
            _wait(lambda: _measured(controller) >= POINTS)
            self.drawn.append(grab_whole(window))

    def _note(self, words: str) -> None:
        self.done.append((words, time.monotonic() - self._begun))


def _wait(there: Callable[[], bool]) -> None:
    while not there():
        run_loop(POLL_MS)


def _measured(controller: Controller) -> int:
    return 0 if controller.sweep is None else sum(one.status == "done" for one in controller.sweep.points)


def _first_of(dialog: ConnectDialog) -> QPoint:
    return dialog.list.visualItemRect(dialog.list.item(0)).center()


def _with_dialog(window: QWidget, dialog: QWidget) -> QPixmap:
    """The window with the dialog in its middle, as it stands on a screen."""
    run_loop(SETTLE_MS)
    whole, front = grab_whole(window), dialog.grab()
    at = QPoint((whole.width() - front.width()) // 2, (whole.height() - front.height()) // 2)
    painter = QPainter(whole)
    painter.fillRect(whole.rect(), QColor(0, 0, 0, SHADE))
    painter.drawPixmap(at, front)
    painter.setPen(QColor(EDGE))
    painter.drawRect(at.x() - 1, at.y() - 1, front.width() + 1, front.height() + 1)
    painter.end()
    return whole


def _save(drawn: list[QPixmap], path: Path) -> None:
    """The steps, one above the other, in the colours that they have most of."""
    width, height = SIZE
    both = QImage(width, height * len(drawn) + GAP_PX * (len(drawn) - 1), QImage.Format.Format_RGB32)
    both.fill(QColor(EDGE))
    painter = QPainter(both)
    for place, one in enumerate(drawn):
        painter.drawPixmap(0, place * (height + GAP_PX), one)
    painter.end()
    pixels = np.frombuffer(both.constBits(), np.uint32)
    shades, counts = np.unique(pixels, return_counts=True)
    most = shades[np.argsort(counts)[-MOST_COLOURS:]].tolist()
    if not both.convertToFormat(QImage.Format.Format_Indexed8, most).save(str(path)):
        raise SystemExit(f"{path} cannot be written")


@contextmanager
def _address(folder: Path, *, by_ssh: bool) -> Iterator[str]:
    """What leads to a host: an address of ssh, or nothing where a file of it is known."""
    if by_ssh:
        with lab(folder) as far:
            os.environ["PATH"] = far.path
            yield f"ssh://lab/{far.checkout}"
        return
    with running_host(folder, inside=NAMED) as host:
        write_connection(host.connection, connections_dir() / "gpu-host.connection")
        yield ""


def main(words: list[str]) -> int:
    """Walk, and print what it took."""
    parser = argparse.ArgumentParser(description="From Connect to the first point.")
    parser.add_argument("picture", type=Path, nargs="?", help="a PNG of the steps")
    parser.add_argument("--ssh", action="store_true", help="have ssh start the host")
    asked = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as ends:
        os.environ["FLASHSCOPE_HOME"] = str(Path(folder) / "here")
        make_application()
        window = build_window(Controller(LocalEngine, sessions_dir()), DARK)
        ends.callback(window.close_unasked)
        window.resize(*SIZE)
        window.show()
        window.show_page(SHOWING)
        window.activateWindow()
        _wait(lambda: window.controller.machine is not None)
        walk = Walk(window)
        with _address(Path(folder), by_ssh=asked.ssh) as address:
            walk.walk(address, picture=asked.picture is not None)
            window.controller.cancel()
            _wait(lambda: not window.controller.measuring)
            window.close_unasked()
    for step, seconds in walk.done:
        print(f"{seconds:6.2f} s  {step}")  # noqa: T201 - the result
    if asked.picture is not None:
        _save(walk.drawn, asked.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
