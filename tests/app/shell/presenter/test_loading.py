"""An audience sees a stop whole or not at all: black while it loads, or the stop before."""

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.control.settings import Settings
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.start_up import run
from flashscope.app.shell.story_shots import _is_there
from flashscope.app.stage.story import find_story, read_story
from flashscope.app.words.plain import unbroken
from tests.app.rig import Rig
from tests.app.shell.presenter.conftest import Key, press, settle

CALM_MS = 400  # in which what is half drawn would be drawn on


class Film(QObject):
    """What is on the screen, each time that it has changed."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.frames: list[QImage] = []
        self._window = window
        self._timer = QTimer(self, interval=1)
        self._timer.timeout.connect(self._take)
        self._timer.start()

    def _take(self) -> None:
        frame = self._window.screen().grabWindow(self._window.winId()).toImage()
        if not self.frames or frame != self.frames[-1]:
            self.frames.append(frame)

    def end(self, qtbot: QtBot) -> list[QImage]:
        """The frames until nothing changes any more."""
        qtbot.wait(CALM_MS)
        self._timer.stop()
        return self.frames


def is_black(frame: QImage) -> bool:
    black = QImage(frame.size(), frame.format())
    black.fill(0xFF000000)
    return frame == black


@pytest.mark.matrix
def test_a_story_is_black_until_its_first_stop_is_there_whole(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    film = Film(window)
    window.stage.enter(read_story(find_story("why-tiling-wins")))
    settle(window, rig, qtbot)
    frames = film.end(qtbot)
    assert [is_black(frame) for frame in frames[-2:]] == [True, False]
    first = next(at for at, frame in enumerate(frames) if is_black(frame))
    assert all(map(is_black, frames[first:-1]))
    assert first <= 1, "what was on show before, and then nothing else"


def test_a_story_that_the_program_begins_with_is_black_before_anything_is_painted(
    rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    story = read_story(find_story("why-tiling-wins"))
    window = run._open(rig.controller, Settings(), None, story)
    qtbot.addWidget(window, before_close_func=MainWindow.close_unasked)
    frames = Film(window)
    settle(window, rig, qtbot)
    told = frames.end(qtbot)
    assert [is_black(frame) for frame in told[-2:]] == [True, False]
    assert all(map(is_black, told[:-1]))


@pytest.mark.matrix
def test_a_view_with_seventeen_kernels_comes_onto_the_stage_whole(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    rig.open(BUNDLED / "h200-peers.flashscope")
    window.show_page("profile")
    qtbot.wait(CALM_MS)
    film = Film(window)
    window.trigger("stage")
    qtbot.waitUntil(lambda: not window.stage.loading.on)
    frames = film.end(qtbot)
    assert [is_black(frame) for frame in frames[-2:]] == [True, False]
    assert len([frame for frame in frames if not is_black(frame)]) <= 2


@pytest.mark.matrix
def test_between_two_stops_of_a_view_and_session_the_first_stays_until_the_second_is_whole(
    staged: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    film = Film(staged)
    qtbot.wait(50)
    press(staged, Key.Key_Space)
    settle(staged, rig, qtbot)
    frames = [frame for frame in film.end(qtbot) if not is_black(frame)]
    assert len(frames) == 2


@pytest.mark.matrix
def test_a_stop_of_another_view_is_black_until_it_is_whole(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    window.stage.enter(read_story(find_story("why-tiling-wins")))
    settle(window, rig, qtbot)
    qtbot.wait(CALM_MS)
    film = Film(window)
    qtbot.wait(50)
    window.stage.go(3)
    settle(window, rig, qtbot)
    frames = film.end(qtbot)
    assert [is_black(frame) for frame in frames] == [False, True, False]


@pytest.mark.matrix
def test_a_screen_that_was_blackened_stays_black_when_the_stop_is_there(
    staged: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    press(staged, Key.Key_B)
    film = Film(staged)
    frames = film.end(qtbot)
    assert all(map(is_black, frames))


@pytest.mark.matrix
def test_after_a_story_it_is_black_until_the_window_is_there_as_it_was(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    rig.open(BUNDLED / "h200-peers.flashscope")
    window.show_page("profile")
    window.stage.enter(read_story(find_story("why-tiling-wins")))
    settle(window, rig, qtbot)
    qtbot.wait(CALM_MS)
    film = Film(window)
    qtbot.wait(50)
    press(window, Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.stage.loading.on)
    assert rig.controller.path == BUNDLED / "h200-peers.flashscope"
    frames = film.end(qtbot)
    assert all(map(is_black, frames[1:-1]))
    assert [is_black(frame) for frame in frames[:: len(frames) - 1]] == [False, False]


@pytest.mark.matrix
def test_after_a_stage_it_is_black_until_the_window_has_its_own_size_again(
    staged: MainWindow, qtbot: QtBot
) -> None:
    staged.stage.leave()
    assert staged.stage.curtain.isVisible()
    assert staged.appearance.turning
    assert not staged.stage._ready()
    qtbot.waitUntil(lambda: not staged.stage.loading.on)
    assert staged.stage.curtain.isHidden()
    assert not staged.appearance.turning


@pytest.mark.matrix
def test_the_telemetry_of_a_recording_comes_with_all_its_lanes_and_says_their_peaks(
    window: MainWindow, rig: Rig, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "lanes.toml"
    path.write_text('title = "Lanes"\n[[stop]]\npage = "telemetry"\nsession = "h200-traffic"\n')
    window.stage.enter(read_story(path))
    settle(window, rig, qtbot)
    page = window.page
    assert isinstance(page, ProfilePage)
    lanes = [field for field, row in page.bottom.strip.rows.items() if row.isVisible()]
    assert lanes == ["memory_used", "tensor_share", "dram_share", "power_w"]
    said = window.stage.frame.sentence.text()
    assert said.endswith(
        unbroken("at most: memory used 17.6 GiB, power 924 W, tensor cores 86%, DRAM bandwidth 80%.")
    )


@pytest.mark.matrix
def test_a_comparison_comes_with_what_it_says(
    window: MainWindow, rig: Rig, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "beside.toml"
    stop = 'page = "compare"\nsession = "h100-peers"\nbeside = "h200-peers"\n'
    path.write_text(f'title = "Beside"\n[[stop]]\n{stop}')
    window.stage.enter(read_story(path))
    settle(window, rig, qtbot)
    said = window.stage.frame.sentence.text()
    assert said.startswith("H200 beside libraries beside H100 beside libraries: ")
    assert "of 360 points faster" in said


@pytest.mark.matrix
@pytest.mark.parametrize(
    "stop",
    ['page = "roofline"\nsession = "h100-ranks-longest"', 'page = "timeline"\nsession = "h100-caches"'],
    ids=["roofline", "timeline"],
)
def test_a_picture_does_not_wait_for_what_a_session_has_not(
    window: MainWindow, rig: Rig, qtbot: QtBot, tmp_path: Path, stop: str
) -> None:
    path = tmp_path / "one.toml"
    path.write_text(f'title = "One"\n[[stop]]\n{stop}\n')
    story = read_story(path)
    window.stage.enter(story)
    settle(window, rig, qtbot)
    assert window.staging.scene.waiting  # it says that there is nothing, and nothing comes
    assert _is_there(window, story.stops[0])
