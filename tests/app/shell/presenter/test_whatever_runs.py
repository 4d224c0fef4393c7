"""Every stop of every story says what its own file says, whatever the app was doing before."""

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.story import BUNDLED_STORIES, find_story, read_story
from flashscope.app.words.plain import unbroken
from tests.app.fakes import PLAN, sweep
from tests.app.rig import Rig, Save
from tests.app.shell.presenter.conftest import Key, press, settle
from tests.app.shell.presenter.test_bundled import expected
from tests.app.shell.presenter.test_failing import lose

BEGUN = 6  # events of a sweep whose first point has begun
State = Callable[[MainWindow, Rig, Save], None]


def nothing(_window: MainWindow, _rig: Rig, _save: Save) -> None: ...


def saved(_window: MainWindow, rig: Rig, save: Save) -> None:
    rig.open(save(sweep(), "saved"))


def recording(window: MainWindow, rig: Rig, _save: Save) -> None:
    rig.open(bundled_sessions()[1])
    window.show_page("roofline")


def running(_window: MainWindow, rig: Rig, _save: Save) -> None:
    rig.controller.run(PLAN)
    rig.say(sweep()[:BEGUN])


def beside(window: MainWindow, rig: Rig, save: Save) -> None:
    running(window, rig, save)
    saved(window, rig, save)


def ended(_window: MainWindow, rig: Rig, _save: Save) -> None:
    rig.controller.run(PLAN)
    rig.say(sweep())


def failing(_window: MainWindow, rig: Rig, _save: Save) -> None:
    rig.controller.run(PLAN)
    lose(rig)


def replaying(window: MainWindow, rig: Rig, save: Save) -> None:
    saved(window, rig, save)
    rig.controller.replay(1.0)


def hidden(window: MainWindow, rig: Rig, save: Save) -> None:
    saved(window, rig, save)
    rig.controller.hide_kernels(("standard",), ("standard", "flash2"))
    rig.controller.seqlen_chosen.emit(256)


def elsewhere(window: MainWindow, rig: Rig, save: Save) -> None:
    saved(window, rig, save)
    window.show_page("trash")


STATES = (nothing, saved, recording, running, beside, ended, failing, replaying, hidden, elsewhere)
FIRST, *OTHERS = BUNDLED_STORIES
WALKS = [
    *(pytest.param(FIRST, state, marks=pytest.mark.matrix) for state in STATES),
    *(pytest.param(name, running, marks=pytest.mark.matrix) for name in OTHERS),
    *(pytest.param(name, one, marks=pytest.mark.long) for name in OTHERS for one in STATES if one != running),
]


@pytest.mark.parametrize(("name", "state"), WALKS)
def test_every_stop_says_what_its_own_file_says(
    window: MainWindow, rig: Rig, qtbot: QtBot, save: Save, *, name: str, state: State
) -> None:
    window.activateWindow()
    state(window, rig, save)
    window.stage.enter(read_story(find_story(name)))
    for number, stop in enumerate(window.stage.stops):
        if number:
            press(window, Key.Key_Space)
        settle(window, rig, qtbot)
        assert window.page.key == stop.page
        assert window.stage.frame.sentence.text() == unbroken(expected(window, stop)), stop.title
        if stop.session:
            assert window.stage.frame.badge.startswith("SAVED"), stop.title
