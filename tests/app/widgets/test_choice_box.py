"""Drop-downs: what is chosen is whole, or ends in an ellipsis."""

import pytest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.term_label import TermBox
from flashscope.app.widgets.wheel import ChoiceBox

LONG = "Recorded: flash2 on a GPU, causal, N = 384"
BOXES = (ChoiceBox, DropDown, lambda: TermBox("Preset"))


@pytest.fixture(params=BOXES, ids=["choice", "drop-down", "term"])
def box(request: pytest.FixtureRequest, qtbot: QtBot) -> ChoiceBox:
    made: ChoiceBox = request.param()
    qtbot.addWidget(made)
    made.addItems(["flash2 order", LONG])
    return made


def test_a_text_without_room_ends_in_an_ellipsis_and_one_with_room_is_whole(box: ChoiceBox) -> None:
    box.setCurrentText(LONG)
    box.resize(120, box.sizeHint().height())
    assert box.shown.endswith("…")
    assert LONG.startswith(box.shown[:-1])
    for text in ("flash2 order", LONG):
        box.clear()
        box.addItem(text)
        box.resize(QComboBox.sizeHint(box))
        assert box.shown == text, "it has the room that Qt asks for"


def test_a_box_that_follows_its_entries_insists_on_the_room_of_those_it_has_now(box: ChoiceBox) -> None:
    box.setSizeAdjustPolicy(ChoiceBox.SizeAdjustPolicy.AdjustToContents)
    box.clear()
    box.addItem("short")
    narrow = box.minimumSizeHint().width()
    box.addItem(LONG)
    assert box.minimumSizeHint().width() == box.sizeHint().width() > narrow
    box.addItem(LONG * 9)
    assert box.minimumSizeHint().width() < box.sizeHint().width(), "no page would be wide enough"


@pytest.mark.parametrize("zoom", range(80, 260, 10))
def test_in_letters_of_every_size_an_entry_has_the_room_that_is_asked_for(qtbot: QtBot, zoom: int) -> None:
    for text in ("bfloat16", "over standard", "d 128, no mask, 16 heads, batch 1, bfloat16", LONG):
        box = ChoiceBox()
        qtbot.addWidget(box)
        font = box.font()
        font.setPixelSize(round(13 * zoom / 100))
        box.setFont(font)
        box.addItem(text)
        box.resize(box.sizeHint())
        assert box.shown == text
