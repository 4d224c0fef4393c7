"""The cells of the Designer's landscape: a value and its marks, each in its place."""

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication

from flashscope.app.look.fonts import ui_font
from flashscope.app.look.theme import CAPTION_PX
from flashscope.app.plots.designer.landscape import places


@pytest.mark.parametrize("words", ["16", "93.9%"])
@pytest.mark.parametrize("size", [(64, 22), (66, 40), (33, 33), (26, 60)])
def test_marks_of_a_cell_stand_beside_its_value_and_never_over_it(
    words: str, size: tuple[int, int], qapp: QApplication
) -> None:
    metrics, box = QFontMetrics(ui_font(CAPTION_PX)), QRectF(10, 10, *size)
    told = dict(places(metrics, box, words, "★", 3))
    mark = told["★"]
    assert box.contains(mark)
    if words in told:
        inked = QRectF(0, 0, metrics.horizontalAdvance(words), metrics.height())
        inked.moveCenter(told[words].center())
        assert not inked.intersects(mark)
    assert words in told or words != "16"


def test_a_value_without_marks_stands_in_the_middle(qapp: QApplication) -> None:
    box = QRectF(0, 0, 64, 22)
    assert list(places(QFontMetrics(ui_font(CAPTION_PX)), box, "16", "", 3)) == [("16", box)]
