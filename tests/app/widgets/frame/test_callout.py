"""Where a callout stands beside what it points at."""

from PySide6.QtCore import QRect, QSize

from flashscope.app.widgets.frame.callout import place_beside

ROOM, SIZE = QRect(0, 0, 1280, 680), QSize(320, 100)


def test_beside_a_plot_it_leaves_the_title_of_the_next_one_free() -> None:
    plot = QRect(84, 86, 580, 390)
    place = place_beside(plot, SIZE, ROOM)
    assert place.x() > plot.right()
    assert place.y() > plot.top() + 80


def test_beside_a_button_it_begins_where_that_does() -> None:
    assert place_beside(QRect(84, 86, 60, 30), SIZE, ROOM).y() == 86
