"""Moving through a trace: by keys, playing, to breakpoints, by the scrubber and on the map of tiles."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QWidget,
)

from tests.app.pages.stepper.conftest import Bench
from tests.app.pages.stepper.position import at, here


def test_back_shows_what_forward_showed(bench: Bench) -> None:
    page = bench.show("causal")
    forward = []
    for _ in range(40):
        forward.append((at(page), page.words()))
        bench.press(Qt.Key.Key_Right)
    for position, words in reversed(forward):
        bench.press(Qt.Key.Key_Left)
        assert (at(page), page.words()) == (position, words)


def test_the_keyboard_reaches_every_motion(bench: Bench) -> None:
    page = bench.show("slide-reversed")
    press = bench.press
    press(Qt.Key.Key_End)
    assert here(page).ended
    press(Qt.Key.Key_Home)
    assert at(page) == 0
    press(Qt.Key.Key_PageDown)
    press(Qt.Key.Key_PageDown)
    press(Qt.Key.Key_PageUp)
    assert at(page) == 1
    press(Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert at(page) == here(page).timeline.tile_ends[0]
    press(Qt.Key.Key_BracketRight)
    assert (here(page).snapshot.tile, here(page).snapshot.phase) == (1, "maximum")
    press(Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert at(page) == here(page).timeline.tile_ends[0]
    press(Qt.Key.Key_End)
    press(Qt.Key.Key_BracketLeft)
    assert here(page).snapshot.phase == "maximum"
    press(Qt.Key.Key_Space)
    assert page.player.playing
    press(Qt.Key.Key_Space)
    assert not page.player.playing


def test_playing_runs_to_the_end_and_stops(bench: Bench) -> None:
    page = bench.show("slide")
    page.player.set_speed(100)
    page.toggle_play()
    bench.qtbot.waitUntil(lambda: here(page).ended, timeout=60_000)
    assert not page.player.playing
    page.toggle_play()
    assert at(page) == 0, "playing again starts from the beginning"


def test_playing_stops_at_a_breakpoint(bench: Bench) -> None:
    page = bench.show("slide-reversed")
    page.transport._kinds["max-rises"].trigger()
    page.player.set_speed(100)
    page.toggle_play()
    bench.qtbot.waitUntil(lambda: not page.player.playing, timeout=60_000)
    assert (here(page).snapshot.tile, here(page).snapshot.phase) == (1, "maximum")
    assert page.transport.breaks.text() == "Break: 1"


def test_a_breakpoint_at_every_tile_stops_at_tile_ends(bench: Bench) -> None:
    page = bench.show("random")
    page.transport._kinds[None].trigger()
    page.player.set_playing(True)
    for _ in range(6):
        page.tick()
        if not page.player.playing:
            break
    assert at(page) == here(page).timeline.tile_ends[0]


@pytest.mark.matrix
def test_scrubbing_moves_every_panel_and_makes_no_widget(bench: Bench) -> None:
    page = bench.show("random")
    before = {id(widget) for widget in page.findChildren(QWidget)}
    for value in range(0, page.transport.scrubber.maximum(), 7):
        page.transport.scrubber.setValue(value)
        assert at(page) == value
        assert all(panel.view is page.board.panels[0].view for panel in page.board.panels)
    assert {id(widget) for widget in page.findChildren(QWidget)} == before


def test_a_click_on_the_scrubber_jumps_there(bench: Bench) -> None:
    page = bench.show("random")
    scrubber = page.transport.scrubber
    bench.click(scrubber)
    assert at(page) == pytest.approx(scrubber.maximum() / 2, abs=3)


def test_a_click_on_a_tile_goes_to_its_end(bench: Bench) -> None:
    page = bench.show("random")
    with bench.qtbot.waitSignal(page.board.tile_chosen):
        bench.click(page.board.tiles)
    assert at(page) in here(page).timeline.tile_ends
