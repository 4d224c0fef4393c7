"""The slider over all steps, with a tick for each event."""

from collections.abc import Iterable

from flashscope.app.look.kernel_marks import KERNEL_MARKS
from flashscope.app.look.theme import Theme
from flashscope.app.plots.stepper.ink import role_colour
from flashscope.app.stepper.events import EventKind, StepEvent
from flashscope.app.widgets.scrubber import Scrubber, ScrubberMark

# Pixels above the groove: the place tells the kinds apart, not the colour alone.
TICKS: dict[EventKind, tuple[float, float]] = {
    "max-rises": (10.0, 4.0),
    "alpha-below": (17.0, 11.0),
    "non-finite": (17.0, 4.0),
    "passes": (21.0, 0.0),
    "written": (17.0, 4.0),
}


class StepScrubber(Scrubber):
    """Ticks above the groove: maximum rises, alpha small, not finite."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            theme,
            "Step",
            "Drag to scrub. Ticks: low, the maximum rises; high, α is small; long, not finite; in Lanes the "
            "longest, S or P leaves or comes back; in Backward, a gradient's block is whole",
        )
        self._events: tuple[StepEvent, ...] = ()

    def show_steps(self, last: int, events: tuple[StepEvent, ...]) -> None:
        """Span the steps 0 to `last` and mark these events."""
        self._events = events
        self.setRange(0, last)
        self.update()

    def ticks(self) -> Iterable[ScrubberMark]:
        """A mark for each event."""
        colours: dict[EventKind, str] = {
            "max-rises": role_colour(self.theme, "m"),
            "alpha-below": role_colour(self.theme, "a"),
            "non-finite": self.theme.error,
            "passes": KERNEL_MARKS["standard"].on(self.theme),
            "written": self.theme.accent,
        }
        return (ScrubberMark(event.at, colours[event.kind], *TICKS[event.kind]) for event in self._events)
