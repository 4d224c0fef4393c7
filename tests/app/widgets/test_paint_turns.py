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


def test_what_is_out_of_sight_comes_last_and_holds_nobody_up(
    qtbot: QtBot, parts: list[Part], said: list[str]
) -> None:
    parts[0].hide()
    turns = turns_over(parts)
    turns.start()
    for _ in range(STEPS + 1):
        assert not turns.seen
        turns._next()
    assert turns.seen
    assert said == whole("second")
    qtbot.waitUntil(lambda: turns.idle)
    assert said == whole("second") + whole("first")


def test_all_that_is_out_of_sight_shares_a_turn(parts: list[Part], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paint_turns, "TURN_S", 60.0)
    turns = turns_over(parts)
    turns.start()
    turns._next()
    assert [waits(part) for part in parts] == [False, True]
    for part in parts:
        part.hide()
    turns.start()
    turns._next()
    assert turns.idle


def test_a_part_that_others_take_from_comes_first_also_out_of_sight(
    qtbot: QtBot, parts: list[Part], said: list[str]
) -> None:
    parts[0].hide()
    turns = PaintTurns(parts[0].window(), {part: part.draw for part in parts}, leading=[parts[0]])
    turns.start()
    qtbot.waitUntil(lambda: turns.seen)
    assert said == whole("first") + whole("second")


def test_nothing_is_drawn_while_all_is_to_be_drawn_anew(
    qtbot: QtBot, parts: list[Part], said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn_by_then: list[int] = []

    def turning() -> bool:
        drawn_by_then.append(len(said))
        return len(drawn_by_then) <= 3

    monkeypatch.setattr(paint_turns, "is_turning", turning)
    turns = turns_over(parts)
    turns.start()
    qtbot.waitUntil(lambda: turns.idle)
    assert drawn_by_then[:4] == [0, 0, 0, 0]
    assert said == whole("first") + whole("second")


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


def test_what_comes_first_has_a_turn_of_its_own_before_any_part_is_drawn_on(
    qtbot: QtBot, parts: list[Part], said: list[str]
) -> None:
    turns = turns_over(parts)
    turns.start(parts[:1])
    qtbot.waitUntil(lambda: bool(said))
    begun = [*said]
    turns.start_after(lambda: said.append("first of all"))
    assert said == begun
    assert not turns.idle
    assert not turns.seen
    rounds: list[int] = []
    beat = QTimer(interval=0)
    beat.timeout.connect(lambda: rounds.append(len(said)))
    beat.start()
    qtbot.waitUntil(lambda: turns.idle)
    assert said == [*begun, "first of all", *whole("first")[len(begun) :]]
    assert max(b - a for a, b in pairwise([len(begun), *rounds, len(said)])) <= 1


def test_what_comes_first_is_done_even_where_no_part_waits(parts: list[Part], said: list[str]) -> None:
    turns = turns_over(parts)
    turns.start_after(lambda: said.append("first of all"))
    turns.finish()
    assert said == ["first of all"]
    assert turns.idle
