"""The Designer page, and what stands in for the processes that compile."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK
from flashscope.app.pages.designer import DesignerPage
from flashscope.profiles.wire.cuts import CutAnswer, CutRequest
from tests.app.bench import NoRecorder, end
from tests.app.fakes import SilentEngine


class Compilers:
    """Stands in for the processes that compile.

    Attributes:
        asked: What was asked, in order.
    """

    def __init__(self) -> None:
        self.asked: list[CutRequest] = []
        self.say: Callable[[CutAnswer], None] = lambda _answer: None
        self.ended = 0

    def __call__(self, asked: Sequence[CutRequest], told: Callable[[CutAnswer], None]) -> "Compilers":
        self.asked.extend(asked)
        self.say = told
        return self

    def end(self) -> None:
        self.ended += 1


@pytest.fixture
def compilers() -> Compilers:
    return Compilers()


@pytest.fixture
def page(qtbot: QtBot, tmp_path: Path, compilers: Compilers) -> Iterator[DesignerPage]:
    controller = Controller(SilentEngine, tmp_path, NoRecorder)
    controller.cuts.make = compilers
    made = DesignerPage(controller, DARK)
    qtbot.addWidget(made)
    made.resize(1200, 620)
    made.show()
    qtbot.waitExposed(made)
    yield made
    end(controller)
