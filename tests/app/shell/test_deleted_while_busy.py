"""A window that is deleted while something is done in the background goes all the same."""

import os
import subprocess
import sys

import pytest

DELETE_WHILE_BUSY = """
import time
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QMainWindow
from flashscope.app.control.chores import Chores
from flashscope.app.shell.main_window import MainWindow

class Window(MainWindow):
    def __init__(self):
        QMainWindow.__init__(self)

def busy():
    began.append(True)
    deadline = time.monotonic() + 0.5
    while time.monotonic() < deadline:
        sum(range(1000))

app, began = QApplication([]), []
window = Window()
Chores(window).do(busy)
while not began:
    time.sleep(0.001)
window.deleteLater()
QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
print("gone")
"""


@pytest.mark.matrix
def test_a_window_is_deleted_though_python_is_at_work_in_its_background() -> None:
    child = subprocess.run(
        [sys.executable, "-c", DELETE_WHILE_BUSY],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (child.returncode, child.stdout.strip()) == (0, "gone"), child.stderr
