"""Painting a page part by part."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.widgets import paint_turns
from flashscope.app.widgets.paint_turns import PaintTurns, waits

STEPS = 4


class Part(QLabel):
    """Writes down its steps of drawing."""

    def __init__(self, name: str, said: list[str]) -> None:
        super().__init__(name)
        self._said = said

    def draw(self) -> Iterator[None]:
        for step in range(STEPS):
            self._said.append(f"{self.text()} {step}")
            yield


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(paint_turns, "TURN_S", -1.0)  # every step fills its turn
    return []


@pytest.fixture
def parts(qtbot: QtBot, said: list[str]) -> Iterator[list[Part]]:
    page = QWidget()
    qtbot.addWidget(page)
    made = [Part("first", said), Part("second", said)]
    layout = QVBoxLayout(page)
    for part in made:
        layout.addWidget(part)
    with qtbot.waitExposed(page):
        page.show()
    yield made
    page.hide()  # and is kept until here: the parts are its children


def turns_over(parts: list[Part]) -> PaintTurns:
    return PaintTurns(parts[0].window(), {part: part.draw for part in parts})


def whole(name: str) -> list[str]:
    return [f"{name} {step}" for step in range(STEPS)]


def test_the_event_loop_goes_round_between_any_two_steps(
    qtbot: QtBot, parts: list[Part], said: list[str]
) -> None:
    turns = turns_over(parts)
    beat = QTimer(interval=0)
    beat.timeout.connect(lambda: said.append("beat"))
    beat.start()
    turns.start()
    qtbot.waitUntil(lambda: turns.idle)
    assert [one for one in said if one != "beat"] == whole("first") + whole("second")
    between = said[said.index("first 0") : said.index("second 3")]
    assert all("beat" in pair for pair in pairwise(between))


def test_a_part_whose_matter_changed_while_it_was_drawn_is_drawn_anew(
    qtbot: QtBot, parts: list[Part], said: list[str]
) -> None:
    turns = turns_over(parts)
    turns.start()
    qtbot.waitUntil(lambda: "first 1" in said)
    turns.start()
    done = list(said)
    qtbot.waitUntil(lambda: turns.idle)
    assert said == done + whole("first") + whole("second")


def test_finishing_draws_every_part_at_once(parts: list[Part], said: list[str]) -> None:
    turns = turns_over(parts)
    turns.start()
    assert all(map(waits, parts))
    turns.finish()
    assert said == whole("first") + whole("second")
    assert not any(map(waits, parts))


def test_a_part_that_waits_is_painted_as_it_was_but_on_a_page_that_is_being_shown(
    qtbot: QtBot, parts: list[Part]
) -> None:
    turns = turns_over(parts)
    turns.start()
    assert all(part.updatesEnabled() for part in parts)
    turns.start_covered()
    assert not any(part.updatesEnabled() for part in parts)
    qtbot.waitUntil(lambda: turns.idle)
    assert all(part.updatesEnabled() for part in parts)


def test_a_part_that_cannot_be_drawn_is_tried_once_and_holds_no_other_up(
    qtbot: QtBot, parts: list[Part], said: list[str]
) -> None:
    def fail(_: Part) -> Iterator[None]:
        said.append("tried")
        raise RuntimeError("cannot be drawn")

    turns = PaintTurns(parts[0].window(), {parts[0]: lambda: fail(parts[0]), parts[1]: parts[1].draw})
    with qtbot.captureExceptions() as raised:
        turns.start_covered()
        qtbot.waitUntil(lambda: turns.idle)
    assert said == ["tried", *whole("second")]
    assert all(part.updatesEnabled() for part in parts)
    assert [str(error) for _, error, _ in raised] == ["cannot be drawn"]
