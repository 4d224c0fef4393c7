"""Painting a page part by part."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.widgets import staged_paint
from app.widgets.staged_paint import StagedPaint

STEPS = 4


class Part(QLabel):
    """Writes down its steps of preparation and its paintings."""

    def __init__(self, name: str, said: list[str]) -> None:
        super().__init__(name)
        self._said = said

    def prepare(self) -> Iterator[None]:
        for step in range(STEPS):
            self._said.append(f"{self.text()} {step}")
            yield

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self._said.append(f"{self.text()} painted")


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(staged_paint, "TURN_S", -1.0)  # every step fills its turn
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
    said.clear()
    yield made
    page.hide()  # and is kept until here: the parts are its children


def staged_over(parts: list[Part]) -> StagedPaint:
    return StagedPaint(parts[0].window(), {part: part.prepare for part in parts})


def whole(name: str) -> list[str]:
    return [f"{name} {step}" for step in range(STEPS)] + [f"{name} painted"]


def test_the_event_loop_goes_round_between_any_two_steps(
    qtbot: QtBot, parts: list[Part], said: list[str]
) -> None:
    staged = staged_over(parts)
    beat = QTimer(interval=0)
    beat.timeout.connect(lambda: said.append("beat"))
    beat.start()
    staged.start()
    qtbot.waitUntil(lambda: "second painted" in said)
    assert [one for one in said if one != "beat"] == whole("first") + whole("second")
    between = said[said.index("first 0") : said.index("second painted")]
    assert all("beat" in pair for pair in pairwise(between))


def test_a_part_whose_matter_changed_while_it_was_prepared_is_prepared_anew(
    qtbot: QtBot, parts: list[Part], said: list[str]
) -> None:
    staged = staged_over(parts)
    staged.start()
    qtbot.waitUntil(lambda: "first 1" in said)
    staged.start()
    done = list(said)
    qtbot.waitUntil(lambda: "second painted" in said)
    assert said == done + whole("first") + whole("second")


def test_finishing_paints_every_part_at_once(parts: list[Part], said: list[str]) -> None:
    staged = staged_over(parts)
    staged.start()
    assert not any(part.updatesEnabled() for part in parts)
    staged.finish()
    assert said == whole("first") + whole("second")
    assert all(part.updatesEnabled() for part in parts)


def test_a_part_that_cannot_be_prepared_is_tried_once_and_holds_no_other_up(
    qtbot: QtBot, parts: list[Part], said: list[str]
) -> None:
    def fail(_: Part) -> Iterator[None]:
        said.append("tried")
        raise RuntimeError("cannot be drawn")

    staged = StagedPaint(parts[0].window(), {parts[0]: lambda: fail(parts[0]), parts[1]: parts[1].prepare})
    with qtbot.captureExceptions() as raised:
        staged.start()
        qtbot.waitUntil(lambda: "second painted" in said)
    assert said == ["tried", "first painted", *whole("second")]
    assert [str(error) for _, error, _ in raised] == ["cannot be drawn"]
