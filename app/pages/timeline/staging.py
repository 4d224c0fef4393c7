"""The Timeline page on a stage: its rows under the sentence they make."""

from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace
from PySide6.QtWidgets import QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.pages.staging import PageStaging
from flashscope.app.pages.timeline.card import LanesCard
from flashscope.app.pages.timeline.live_board import LiveBoard
from flashscope.app.pages.timeline.shown_timelines import ShownTimelines
from flashscope.app.pages.timeline.stops import curve_label, scene_of_timelines, timelines_of
from flashscope.app.stage.scene import Scene
from flashscope.app.stage.story import Stop
from flashscope.app.words.inside.timelines import run_name
from flashscope.app.words.results.provenance import Provenance, of_kept, of_machine

MADE_READY = "The timelines are being made ready …"


class TimelineBoard(Protocol):
    """One or two timelines.

    Attributes:
        lineup: Which of them are on show.
        cards: The cards, whether or not they have a timeline.
        live: A launch in slow motion, where there is one.
    """

    lineup: ShownTimelines
    cards: list[LanesCard]
    live: LiveBoard

    @property
    def shown(self) -> list[LanesCard]:
        """The cards that have a timeline."""

    @property
    def told(self) -> str:
        """What the timelines on show say."""


class TimelineStaging(PageStaging[TimelineBoard]):
    """Shows the timelines that are on show.

    Args:
        page: What shows them.
        controller: Has the session on show.
        aside: What is put away.
    """

    def __init__(self, page: TimelineBoard, controller: Controller, aside: Sequence[QWidget]) -> None:
        super().__init__("timeline", page, controller, aside)
        self._source = controller.provenance
        page.lineup.changed.connect(self._note_source)

    @property
    def settled(self) -> bool:
        """Whether what is chosen is drawn."""
        return self._page.lineup.ready

    @property
    def scene(self) -> Scene:
        """The numbers of the timelines on show."""
        if not self.settled:
            return Scene(waiting=MADE_READY)
        drawn = self._page.lineup.drawn
        return scene_of_timelines([one.rows.timeline for one in drawn], [one.facts for one in drawn])

    @property
    def sentence(self) -> str:
        """What they say, or which launch is on show in front of them."""
        return self._page.live.said or self._page.told

    @property
    def provenance(self) -> Provenance:
        """This machine's launch, or the session's that has the timeline, or else what recorded it here."""
        launched, lineup = self._page.live.request, self._page.lineup
        if launched is not None:
            here = of_machine(self.controller.machine, launched.backend)
            return replace(here, of=f"{launched.kernel} in slow motion")
        if not lineup.drawn:
            return super().provenance
        if lineup.drawn[0].rows.timeline in lineup.timelines:  # else another session's is being made ready
            self._note_source()
        runs = dict.fromkeys(run_name(one.rows.timeline.request) for one in lineup.drawn)
        return replace(self._source, of=f"timeline of {' and '.join(runs)}")

    def _note_source(self) -> None:
        """Know where that comes from which is drawn now: it stays on show until another is ready."""
        lineup = self._page.lineup
        for timeline in [one.rows.timeline for one in lineup.drawn[:1]]:
            self._source = of_machine(self.controller.machine, timeline.request.backend)
            if timeline in lineup.kept:
                self._source = of_kept(super().provenance, timeline.request.backend, timeline.device)

    @property
    def source(self) -> str:
        """What recorded it; of a launch the badge says all."""
        drawn = () if self._page.live.in_front else self._page.lineup.drawn
        return f"{drawn[0].rows.timeline.device} · {drawn[0].rows.timeline.source}" if drawn else ""

    @property
    def exhibits(self) -> Sequence[QWidget]:
        """A card for each timeline."""
        return self._page.shown

    @property
    def stop(self) -> Stop:
        """What is on show."""
        drawn = [one.rows.timeline for one in self._page.lineup.drawn]
        requests, curves = [one.request for one in drawn], {curve_label(one) for one in drawn}
        lengths = {one.problem.seqlen_q for one in requests}
        seqlen = lengths.pop() if len(lengths) == 1 else None
        curve = curves.pop() if len(curves) == 1 else ""
        kernels = tuple(one.kernel for one in requests)
        return replace(super().stop, kernels=kernels, seqlen=seqlen, curve=curve)

    def show_stop(self, stop: Stop) -> None:
        """Show the timelines of its kernels."""
        super().show_stop(stop)
        self._page.live.be_brief(True)
        self._page.live.put_aside(bool(stop.session))
        for card in self._page.cards:
            card.be_brief(True)
        lineup = self._page.lineup
        wanted = timelines_of(lineup.timelines, stop.kernels, stop.seqlen, stop.curve)
        if wanted != lineup.chosen:
            lineup.show_these(wanted)

    def leave(self) -> None:
        """Say again all there is to say."""
        super().leave()
        self._page.live.be_brief(False)
        self._page.live.put_aside(False)
        for card in self._page.cards:
            card.be_brief(False)
