"""The telemetry on a stage: the lanes that tell most, and what they say of the whole sweep."""

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.figures.lanes import LANES, Lane
from flashscope.app.pages.profile.bottom import BottomCard
from flashscope.app.pages.profile.telemetry.lane_row import lane_text
from flashscope.app.pages.staging import Staging
from flashscope.app.plots.timeline.telemetry import peak_and_mean
from flashscope.app.stage.story import Stop

TELLING = ("memory_used", "power_w", "tensor_share", "dram_share", "sm_clock_mhz", "utilisation")
"""The fields that tell most first."""
MOST = 4  # lanes that row 30 can read


class TelemetryStaging(Staging):
    """Shows a few lanes.

    Args:
        controller: Has the session on show.
        card: The telemetry.
        around: What the card stands in.
        aside: What is put away.
    """

    def __init__(
        self, controller: Controller, card: BottomCard, around: QWidget, aside: Sequence[QWidget]
    ) -> None:
        super().__init__("telemetry", controller, aside, [card])
        self._card, self._around = card, around
        self._alone = self._said = ""
        card.strip.looked.connect(self._follow)

    @property
    def settled(self) -> bool:
        """Whether all readings of a saved session are there."""
        return not self.controller.reading

    @property
    def sentence(self) -> str:
        """The peaks of what is on show."""
        strip = self._card.strip
        told = [text for lane in self._lanes() if (text := self._told(lane))]
        if not told:
            return "No readings yet."
        times = strip.ring.times()
        return f"In {float(times[-1]) - float(times[0]):.0f} s at most: {', '.join(told)}."

    @property
    def exhibits(self) -> Sequence[QWidget]:
        """The lanes."""
        return [self._card.strip.rows[lane.field] for lane in self._lanes()]

    def show_stop(self, stop: Stop) -> None:
        """Show a few lanes of the session on show."""
        super().show_stop(stop)
        self._card.on_stage = True
        self._around.show()
        self.fill_with(None)

    def fill_with(self, exhibit: QWidget | None) -> None:
        """Show one lane, or the few."""
        rows = self._card.strip.rows
        self._alone = next((field for field, row in rows.items() if row is exhibit), "")
        self._card.strip.show_only(self._wanted)

    @property
    def _wanted(self) -> list[str]:
        return [self._alone] if self._alone else [lane.field for lane in self._lanes()]

    def _follow(self) -> None:
        """Show the lanes that there are by now, and say what they say."""
        if not self.on:
            return
        if self._wanted != list(self._card.strip.only):
            self._card.strip.show_only(self._wanted)
        if (said := self.sentence) != self._said:
            self._said = said
            self.changed.emit()

    def leave(self) -> None:
        """Show every lane."""
        self._card.on_stage = False
        super().leave()
        self._card.strip.show_only(())

    def _lanes(self) -> list[Lane]:
        strip = self._card.strip
        offered = {lane.field: lane for lane in LANES if strip.offered(lane)}
        return [offered[field] for field in TELLING if field in offered][: max(1, MOST // strip.devices)]

    def _told(self, lane: Lane) -> str:
        ring = self._card.strip.ring
        times = ring.times()
        known = peak_and_mean(times, ring.values(lane.field), (float("-inf"), float("inf")))
        if known is None or not times.size:
            return ""
        return f"{lane.title.partition(' (')[0]} {lane_text(lane, known[0])}"
