"""A timeline that is recorded of a point of a session, and the way back to it."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject

from flashscope.app.control.controller import Controller
from flashscope.app.pages.registry import title_of
from flashscope.app.pages.timeline.shown_timelines import ShownTimelines
from flashscope.app.stepper.point_timeline import PointTimeline
from flashscope.app.widgets.origin_line import OriginLine
from flashscope.kernels.workload.timeline import StageTimeline


class PointVisit(QObject):
    """Has a point's timeline recorded, unless it is there already.

    Attributes:
        line: Says what is recorded of the point, with the way back.

    Args:
        lineup: Which timelines are on show.
        controller: Records, and has the points.
        why_not: Why nothing can be recorded now; empty: something can.
        parent: Its owner.
    """

    def __init__(
        self, lineup: ShownTimelines, controller: Controller, why_not: Callable[[], str], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._lineup, self._controller, self._why_not = lineup, controller, why_not
        self._before: Sequence[StageTimeline] | None = None  # on show, while a point's is
        insides = controller.insides
        self.line = OriginLine(insides.back_wanted.emit, "inside.back")
        insides.timeline_asked.connect(self._record)
        insides.left.connect(self._leave)
        controller.session_changed.connect(lambda _session: self._forget())

    def back(self) -> bool:
        """Lead back to the point; whether one is on show."""
        shown = self._before is not None
        if shown:
            self._controller.insides.back_wanted.emit()
        return shown

    def _record(self, found: PointTimeline) -> None:
        self._before = self._lineup.chosen
        there = self._lineup.show_like(found.request)
        why = "" if there else self._why_not()
        words = f"{found.words} Not recorded: {why}" if why else found.words
        self.line.tell(title_of(self._controller.insides.origin), words)
        if not there and not why:
            self._controller.timelines.ask([found.request])

    def _leave(self) -> None:
        """Show again what was on show before."""
        before = self._before
        self._forget()
        if before:
            self._lineup.show_these(before)

    def _forget(self) -> None:
        self._before = None
        self.line.hide()
