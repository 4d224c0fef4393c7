"""Which timelines there are, which one or two are on show, and what is drawn of them."""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QObject, QSignalBlocker, Signal

from flashscope.app.control.chores import Chores
from flashscope.app.figures.timeline_rows import RowsBy, TimelineRows
from flashscope.app.pages.timeline.stops import timelines_of
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.inside.timelines import timeline_names
from flashscope.kernels.workload.timeline import StageTimeline, TimelineRequest
from flashscope.profiles.results.model.timeline_facts import TimelineFacts

ALONE = "alone"
ROWS_BY: Sequence[tuple[str, RowsBy]] = (("Rows: place", "place"), ("Rows: blocks", "block"))


class DrawnTimeline(NamedTuple):
    """A timeline as it is drawn, and its numbers."""

    rows: TimelineRows
    facts: TimelineFacts


class ShownTimelines(QObject):
    """Chooses one timeline, and another one beside it.

    Attributes:
        kept: Those of the session on show.
        recorded: Those that were recorded here since, and are in no session.
        first: The box of the upper one.
        second: The box of the one beside it.
        by: The box of what rows are.
        drawn: What is on show.

    Signals:
        changed: Something else is on show.
    """

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.kept: Sequence[StageTimeline] = ()
        self.recorded: list[StageTimeline] = []
        self.drawn: Sequence[DrawnTimeline] = ()
        self.first, self.second, self.by = DropDown(), DropDown(), DropDown()
        self.first.setAccessibleName("Timeline on show")
        self.second.setAccessibleName("Timeline beside it")
        self.by.setAccessibleName("What a row is")
        set_tip(self.second, "On the same time axis, below it")
        set_tip(
            self.by,
            "Where bars ran (SMs, a CPU's threads), or the blocks of the outer loop (B)",
        )
        for text, key in ROWS_BY:
            self.by.addItem(text, key)
        self.chores = Chores(self)
        self._expected: Sequence[str] = ()
        self._by_hand = False  # whether the user has chosen what rows are
        for box in (self.first, self.second):
            box.activated.connect(lambda _place: self.draw())
        self.by.activated.connect(lambda _place: self._take_rows())

    @property
    def timelines(self) -> list[StageTimeline]:
        """All that can be shown, the session's first."""
        return [*self.kept, *self.recorded]

    @property
    def chosen(self) -> list[StageTimeline]:
        """Those that are on show, or will be."""
        there = self.timelines
        places = (self.first.currentData(), self.second.currentData())
        return [there[place] for place in places if place is not None and 0 <= place < len(there)]

    @property
    def ready(self) -> bool:
        """Whether what is chosen is drawn."""
        return [one.rows.timeline for one in self.drawn] == self.chosen

    def expect(self, kernels: Sequence[str]) -> None:
        """Show timelines of these kernels of the session that is taken next, as a stop of a story would."""
        self._expected = kernels

    def take_session(self, kept: Sequence[StageTimeline]) -> None:
        """Offer another session's, and show those that are expected, else its newest two of one problem."""
        self.kept = tuple(kept)
        self._offer()
        expected, self._expected = timelines_of(self.kept, self._expected, None), ()
        if expected:
            self.show_these(expected)
        else:
            self._choose_newest()

    def take_recorded(self, timeline: StageTimeline) -> None:
        """Offer one that was recorded just now, and show it, beside the one before if that is like it."""
        self.recorded.append(timeline)
        self._offer()
        self._choose_newest()

    def take_kept(self, kept: Sequence[StageTimeline]) -> None:
        """The session on show has other timelines now; what is on show stays if it is still there."""
        shown = self.chosen
        self.recorded = [one for one in self.recorded if one not in kept] + [
            one for one in self.kept if one not in kept
        ]
        self.kept = tuple(kept)
        self._offer()
        there = self.timelines
        self._choose(*[there.index(one) for one in shown if one in there][:2])

    def show_like(self, request: TimelineRequest) -> bool:
        """Show the newest timeline of this alone; whether there is one."""
        alike = [one for one in self.timelines if one.request == request]
        self.show_these(alike[-1:])
        return bool(alike)

    def show_these(self, timelines: Sequence[StageTimeline]) -> None:
        """Show these, two at most, as far as they are still there."""
        there = self.timelines
        places = [there.index(one) for one in timelines if one in there]
        if places:
            self._choose(*places[:2])

    def next_rows(self) -> None:
        """Show rows of the other kind."""
        self.by.setCurrentIndex((self.by.currentIndex() + 1) % self.by.count())
        self._take_rows()

    def _take_rows(self) -> None:
        self._by_hand = True
        self.draw()

    def draw(self) -> None:
        """Make what is chosen ready in the background, and show it."""
        chosen = self.chosen
        if chosen and not self._by_hand:  # one lane is a line: blocks say more
            single = all(len(one.lanes) * one.rows.shape[0] == 1 for one in chosen)
            self.by.setCurrentIndex(self.by.findData("block" if single else "place"))
        by = self.by.currentData()
        self.chores.do_instead(lambda: [_made(one, by) for one in chosen], self._take)

    def _take(self, drawn: Sequence[DrawnTimeline]) -> None:
        self.drawn = drawn
        self.changed.emit()

    def _offer(self) -> None:
        names = timeline_names(self.timelines)
        for box, before in ((self.first, ()), (self.second, ((ALONE, None),))):
            with QSignalBlocker(box):
                box.clear()
                for text, place in (*before, *((name, n) for n, name in enumerate(names))):
                    box.addItem(text, place)

    def _choose_newest(self) -> None:
        """The newest, below the one before it if both are of one problem."""
        there = self.timelines
        if len(there) > 1 and there[-1].request.problem == there[-2].request.problem:
            self._choose(len(there) - 2, len(there) - 1)
        else:
            self._choose(*range(len(there))[-1:])

    def _choose(self, *places: int) -> None:
        for box, place in zip((self.first, self.second), (*places, None, None), strict=False):
            with QSignalBlocker(box):
                box.setCurrentIndex(max(0, box.findData(place)) if box.count() else -1)
        self.draw()


def _made(timeline: StageTimeline, by: RowsBy) -> DrawnTimeline:
    rows = TimelineRows.of(timeline, by)
    rows.bars.make_ready()  # here, off the window's thread
    return DrawnTimeline(rows, TimelineFacts.of(timeline))
