"""The line between two parts stays where the user has put it."""

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.widgets.split import Split


def test_a_moved_line_comes_back_after_a_part_has_needed_more_room(qtbot: QtBot) -> None:
    above, below = QWidget(), QWidget()
    split = Split(above, below, (300, 200))
    qtbot.addWidget(split)
    split.resize(300, 501)
    split.show()
    assert split.sizes() == [300, 200]
    split.moveSplitter(200, 1)
    above.setMinimumHeight(400)
    qtbot.waitUntil(lambda: split.sizes() == [400, 100])
    above.setMinimumHeight(0)
    split.share_out()
    assert split.sizes() == [200, 300]
    split.resize(300, 1001)
    assert split.sizes() == [400, 600]
