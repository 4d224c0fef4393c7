"""The wheel over a plot: it zooms, but not what has slid under it while the page was scrolled."""

from PySide6.QtCore import QPoint, QPointF
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.plots.style import Plot
from flashscope.app.widgets.scrolling import Scrolling
from tests.app.mouse import wheel, wheel_event


class Long:
    """A page that scrolls: nothing above, and a plot below that is not in sight at first."""

    def __init__(self, qtbot: QtBot) -> None:
        page, above, self.plot = QWidget(), QWidget(), Plot()
        above.setFixedHeight(400)
        self.plot.setFixedHeight(400)
        rows = QVBoxLayout(page)
        rows.addWidget(above)
        rows.addWidget(self.plot)
        self.frame = Scrolling(page)
        qtbot.addWidget(self.frame)
        self.frame.resize(300, 300)
        self.frame.show()
        qtbot.waitExposed(self.frame)
        self.place = self.frame.viewport().mapToGlobal(QPoint(150, 250))

    def turn(self) -> None:
        """Turn the wheel down once where the pointer rests, as a window hands it to what is there."""
        under = self.plot.viewport() if self.over_plot else self.frame.viewport()
        event = wheel_event(QPointF(under.mapFromGlobal(self.place)), QPointF(self.place), -1)
        while under is not None and not (QApplication.sendEvent(under, event) and event.isAccepted()):
            under = under.parentWidget()

    @property
    def over_plot(self) -> bool:
        return self.plot.rect().contains(self.plot.mapFromGlobal(self.place))

    @property
    def range(self) -> str:
        return str(self.plot.getViewBox().viewRange())


def test_a_plot_that_slides_under_the_pointer_is_not_zoomed_by_the_wheel_that_scrolls(qtbot: QtBot) -> None:
    long = Long(qtbot)
    before, bar = long.range, long.frame.verticalScrollBar()
    for _ in range(40):
        long.turn()
    assert long.over_plot
    assert bar.value() == bar.maximum()
    assert long.range == before


def test_once_the_pointer_has_moved_the_wheel_zooms(qtbot: QtBot) -> None:
    long = Long(qtbot)
    for _ in range(40):
        long.turn()
    before, scrolled = long.range, long.frame.verticalScrollBar().value()
    long.place += QPoint(1, 0)
    long.turn()
    assert long.range != before
    assert long.frame.verticalScrollBar().value() == scrolled


def test_a_plot_on_a_page_that_was_not_scrolled_is_zoomed_at_once(qtbot: QtBot) -> None:
    long = Long(qtbot)
    before = long.range
    wheel(long.plot, 1)
    assert long.range != before
