"""The modes of the page: one is on show, all walk the same trace by the same keys."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from flashscope.app.control.settings import Settings
from flashscope.app.look.theme import DARK, Theme
from flashscope.app.look.zoom import px
from flashscope.app.pages.stepper import StepperPage, commands, modes, options_bar, staging
from flashscope.app.pages.stepper.mode_board import ModeBoard
from flashscope.app.stage.story import Stop, StoryError, story_of
from flashscope.app.stepper import modes as entries
from flashscope.app.stepper.cursor import Cursor, Timeline
from flashscope.app.stepper.modes import Mode
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.step_view import SteppedTrace, StepView
from flashscope.app.stepper.traffic import RunningBytes
from tests.app.pages.stepper.conftest import Bench
from tests.app.rig import Rig
from tests.app.stepper.builders import random_trace


class EndsBoard(ModeBoard):
    """Says at which tile it is."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self.label = QLabel(self)

    def show_view(self, view: StepView) -> None:
        self.label.setText(f"tile {view.step.tile}")

    def words(self) -> str:
        return self.label.text()

    def apply_theme(self, theme: Theme) -> None:
        self.theme = theme


def ends(recording: Recording) -> SteppedTrace:
    """The ends of tiles alone."""
    story = SteppedTrace.of(recording)
    kept, moved = [0, *story.timeline.tile_ends], story.traffic
    steps = Timeline(tuple(story.timeline.steps[at] for at in kept))
    return SteppedTrace(recording, steps, RunningBytes(moved.read[kept], moved.written[kept]))


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another mode beside Blocks: it steps from tile to tile."""
    both = (entries.MODES[0], Mode("ends", "Ends", "The end of each tile", ends, frozenset({"notation"})))
    for module in (entries, commands, modes, options_bar, staging):
        monkeypatch.setattr(module, "MODES", both)
    monkeypatch.setitem(modes.BOARDS, "ends", EndsBoard)


@pytest.fixture
def pair(two: None, bench: Bench) -> Bench:
    """The page when there are two modes: these are asked for first."""
    return bench


def at(bench: Bench) -> Cursor:
    assert bench.page.position is not None
    return bench.page.position


def test_a_mode_is_chosen_with_the_mouse_and_goes_on_at_the_same_tile(pair: Bench) -> None:
    page = pair.show("random")
    page.seek(at(pair).timeline.tile_ends[10])
    tile = at(pair).snapshot.tile
    pair.click(page.bar.modes.buttons["ends"])
    assert page.words().splitlines()[1] == f"tile {tile}"
    assert at(pair).last == 64
    pair.press(Qt.Key.Key_Right)
    assert at(pair).snapshot.tile == tile + 1
    pair.click(page.bar.modes.buttons["blocks"])
    assert at(pair).snapshot.tile == tile + 1
    assert at(pair).last > 64


def test_a_mode_is_chosen_with_the_arrows_where_tab_led(two: None, rig: Rig, qtbot: QtBot) -> None:
    window = rig.window()
    window.activateWindow()
    window.show_page("stepper")
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    page.show_trace(random_trace())
    qtbot.waitUntil(page.transport.scrubber.hasFocus)
    page.bar.modes.buttons["blocks"].setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(window.focusWidget(), Qt.Key.Key_Right)
    assert page.modes.key == "ends"
    assert page.bar.modes.buttons["ends"].hasFocus()
    QTest.keyClick(window.focusWidget(), Qt.Key.Key_Left)
    assert page.modes.key == "blocks"


def test_the_key_of_the_modes_goes_round(pair: Bench) -> None:
    page = pair.show("random")
    pair.press(Qt.Key.Key_M)
    assert (page.modes.key, page.bar.modes.current) == ("ends", "ends")
    pair.press(Qt.Key.Key_M)
    assert (page.modes.key, page.bar.modes.current) == ("blocks", "blocks")


def test_what_means_nothing_in_a_mode_is_put_away(pair: Bench) -> None:
    page = pair.show("random")
    page.show_mode("ends")
    assert page.bar.notation.isHidden()
    assert not page.bar.order.isHidden()
    page.show_mode("blocks")
    assert not page.bar.notation.isHidden()


def test_a_mode_is_remembered_unless_it_was_chosen_on_a_stage(pair: Bench, home: Path) -> None:
    page = pair.show("random")
    page._settings = Settings()
    page.choose_mode("ends")
    assert Settings().stepper_mode == "ends"
    page.staging.show_stop(Stop("stepper", mode="ends"))
    page.choose_mode("blocks")
    assert Settings().stepper_mode == "ends"
    page.staging.leave()
    assert page.modes.key == "ends"


def test_a_mode_that_there_is_no_more_is_passed_over(bench: Bench) -> None:
    page = bench.show("random")
    page.show_mode("of an older version")
    assert page.modes.key == "blocks"


def test_a_stop_names_the_mode_that_is_on_show_and_the_stage_gives_back_the_one_before(pair: Bench) -> None:
    page = pair.show("random")
    page.seek(5)
    page.show_mode("ends")
    stop = page.staging.stop
    assert (stop.mode, stop.step) == ("ends", 1)
    page.show_mode("blocks")
    page.staging.show_stop(replace(stop, step=7))
    assert (page.modes.key, at(pair).at) == ("ends", 7)
    page.staging.show_stop(Stop("stepper", preset="random", step=7))
    assert (page.modes.key, at(pair).snapshot.phase) == ("blocks", "scores")
    page.staging.leave()
    assert page.modes.key == "blocks"


def test_a_story_may_name_a_mode_that_there_is_and_no_other(two: None) -> None:
    story = 'title = "a"\n[[stop]]\npage = "stepper"\nmode = "{}"\n'
    assert story_of(Path("a.toml"), story.format("ends").encode()).stops[0].mode == "ends"
    with pytest.raises(StoryError, match="line 4: there is no mode 'end'; did you mean ends"):
        story_of(Path("a.toml"), story.format("end").encode())
    with pytest.raises(StoryError, match="the profile page shows no mode"):
        story_of(Path("a.toml"), story.format("ends").replace("stepper", "profile").encode())


def test_a_single_mode_is_not_offered(bench: Bench) -> None:
    offered = [action.key for action in bench.page.actions_offered()]
    alone = len(entries.MODES) == 1
    assert alone == bench.page.bar.modes.isHidden()
    assert alone == (not any(key.startswith("stepper.mode") for key in offered))


class SidesBoard(EndsBoard):
    """Counts how often it was laid out."""

    narrowest = 200

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.widths: list[int] = []

    def _arrange(self) -> None:
        self.widths.append(self.width())


def test_a_mode_is_laid_out_anew_at_each_width_and_is_no_narrower_than_it_says(qtbot: QtBot) -> None:
    board = SidesBoard(DARK)
    qtbot.addWidget(board)
    board.show()
    for width in (900, 300):
        board.resize(width, 400)
    assert board.widths[-2:] == [900, 300]
    assert board.minimumSizeHint().width() == px(200)
