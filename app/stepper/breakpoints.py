"""Where playback stops by itself."""

from dataclasses import dataclass

from flashscope.app.stepper.cursor import Cursor
from flashscope.app.stepper.events import EventKind, StepEvent


@dataclass(frozen=True)
class Breakpoints:
    """What playback stops at.

    Attributes:
        kinds: The events to stop at.
        tile: Also stop at the end of every tile.
        alpha_below: alpha counts as small below this.
    """

    kinds: frozenset[EventKind] = frozenset()
    tile: bool = False
    alpha_below: float = 0.5

    def stops_at(self, cursor: Cursor, events: tuple[StepEvent, ...]) -> bool:
        """Whether playback stops at the cursor's step."""
        if self.tile and cursor.at in cursor.timeline.tile_ends:
            return True
        return any(event.at == cursor.at and event.kind in self.kinds for event in events)
