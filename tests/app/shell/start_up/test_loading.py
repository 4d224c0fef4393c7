"""What a window loads before it is on the screen, and what only after that."""

import gc
import os
import signal
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.control.settings import Settings
from flashscope.app.pages import registry as pages
from flashscope.app.pages.base import Page
from flashscope.app.pages.registry import KEYS, VIEWS, page_class, title_of
from flashscope.app.shell import paged_window
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.start_up import ahead, run
from tests.app.fakes import PLAN, sweep
from tests.app.rig import Rig
from tests.end_to_end import program

SLOW = ("pyqtgraph", "numpy", "tsdownsample")
START = f"""
import sys
from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK
from flashscope.app.shell.start_up.ahead import Ahead
from flashscope.app.shell.start_up.application import make_application
from flashscope.app.shell.main_window import build_window
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.store import sessions_dir

begin = Ahead.begin

def watched(ahead):
    print(window.isVisible(), *(name for name in {SLOW} if name in sys.modules), sep=",")
    begin(ahead)  # from here on the rest is loaded in the background

if __name__ == "__main__":
    Ahead.begin = watched
    app = make_application()
    window = build_window(Controller(LocalEngine, sessions_dir()), DARK)
    window.show()
    app.processEvents()
    window.show_page("profile")
    app.processEvents()
    print(window.page.key, window.pages["profile"].isVisible(), "pyqtgraph" in sys.modules)
    window.close_unasked()
    window.controller.close()
"""


COLLECTING = """
import gc

from flashscope.app.commands import window
from flashscope.app.shell.start_up import run

def watched(app, shown):
    print(gc.isenabled())
    shown.ahead.loaded.connect(lambda: print(gc.get_freeze_count() > 0))
    shown.ahead.loaded.connect(shown.close_unasked)
    return app.exec()

if __name__ == "__main__":
    run._until_closed = watched
    window.run(None)
"""


def said(home: Path, script: str) -> list[str]:
    """What a program of its own prints, which says nothing else."""
    file = home / "program.py"
    file.write_text(script)
    done = subprocess.run(
        [sys.executable, str(file)],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=program.ROOT,
        env=os.environ | {"PYTHONPATH": program.PYTHONPATH, "FLASHSCOPE_HOME": str(home)},
    )
    assert not done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("key", KEYS)
def test_each_page_is_found_by_its_key(key: str) -> None:
    assert page_class(key).key == key


def test_each_view_has_a_title_of_its_own() -> None:
    assert len({title_of(key) for key in VIEWS}) == len(VIEWS)


def test_a_window_is_there_before_the_plots_are_loaded_and_a_page_asked_for_at_once_is_shown(
    tmp_path: Path,
) -> None:
    assert said(tmp_path, START) == ["True", "profile True True"]


def test_a_window_closed_before_the_pages_are_loaded_makes_none(
    rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = threading.Event()

    def after_the_end(key: str) -> type[Page]:
        assert closed.wait(60)
        return page_class(key)

    monkeypatch.setattr(ahead, "page_class", after_the_end)
    window = rig.window()
    made = [page.key for page in window.pages.made]
    loaded = QSignalSpy(window.ahead.loaded)
    monkeypatch.setattr(window.ahead, "stop", closed.set)  # called once the window is hidden
    window.close_unasked()
    qtbot.waitUntil(lambda: loaded.count() == 1)
    assert not window.ahead.busy
    assert [page.key for page in window.pages.made] == made


def test_a_window_closed_before_the_pages_are_loaded_takes_all_it_made_with_it(
    rig: Rig, qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[weakref.ref[QWidget]] = []

    def loop(*_: object) -> int:
        (window,) = (one for one in qapp.topLevelWidgets() if isinstance(one, MainWindow))
        gone.extend(map(weakref.ref, (window, *window.pages.made)))
        window.close_unasked()
        return 0

    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(QApplication, "exec", loop)
    kept = gc.get_freeze_count()
    run._until_closed(qapp, run._open(rig.controller, Settings(), None))

    def nothing_is_left() -> None:  # once what it had put off is due
        gc.collect()
        assert not any(part() is not None for part in gone)

    qtbot.waitUntil(nothing_is_left)
    assert gc.get_freeze_count() <= kept, "what was closed would never be collected"


@pytest.mark.matrix
def test_a_page_that_cannot_be_loaded_is_told_and_leaves_the_others_alone(
    rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(key: str) -> type[Page]:
        if key == "stepper":
            raise ImportError("no stepper")
        return page_class(key)

    monkeypatch.setattr(ahead, "IDLE_MS", 1)
    monkeypatch.setattr(ahead, "page_class", broken)
    monkeypatch.setattr(paged_window, "page_class", broken)
    with qtbot.captureExceptions() as caught:
        window = rig.window()
        qtbot.waitUntil(lambda: window.pages.missing == ("stepper",) and not window.ahead.busy)
        offered = {action.key.partition(".")[0] for action in window.registry}
        assert {"profile", "compare", "ladder"} <= offered  # pages before it and after it
        list(window.registry)
        for _ in range(2):
            window.errors.hide()
            window.rail.button("inside").click()
            assert window.errors.text.startswith("Stepper cannot be opened (ImportError: no stepper)")
            assert window.page.key == pages.START
            assert not window.rail.button("inside").isChecked()
        window.show_page("ladder")
        assert window.page.key == "ladder"
    told = [str(error) for _, error, _ in caught]
    assert told == ["no stepper"] * 3  # to load it, to make it, and to have all there is in the menu: once


@pytest.mark.matrix  # it takes seconds
def test_no_page_is_made_while_a_sweep_runs_and_all_are_once_it_has_ended(
    rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = rig.window()
    window.pages.make("profile")
    rig.controller.run(PLAN)
    looked: list[bool] = []
    measuring = window.ahead._measuring

    def looking() -> bool:
        looked.append(measuring())
        return looked[-1]

    monkeypatch.setattr(window.ahead, "_measuring", looking)
    window.ahead._pause.setInterval(0)
    window.show()
    qtbot.waitUntil(lambda: len(looked) > len(KEYS))
    assert {page.key for page in window.pages.made} == {pages.START, "profile"}
    rig.say(sweep())
    qtbot.waitUntil(lambda: not window.pages.missing)


@pytest.mark.matrix
def test_garbage_is_collected_once_the_window_is_there_and_not_looked_for_in_what_stays(
    tmp_path: Path,
) -> None:
    assert said(tmp_path, COLLECTING) == ["False", "True"]
