"""What runs, as pages know it, beside what is on show."""

from pathlib import Path

from PySide6.QtCore import Signal

from flashscope.app.control.endings import REPLAYING, SWEEPING
from flashscope.app.control.showing import Showing
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.running.driver import Driver


class Measuring(Showing):
    """What a driver measures; of what is on show, see Showing.

    Attributes:
        aside: Whether the sweep that runs, or the last one, is a version of a watched kernel, which its own
            view tells of.

    Signals:
        occupied_changed: Something else measures on this machine, or no longer (str).
    """

    occupied_changed = Signal(str)
    _driver: Driver
    _occupiers: dict[object, tuple[str, bool]]
    aside = False

    @property
    def why_no_sweep(self) -> str:
        """Why no sweep can start now, in one sentence; empty: one can."""
        if self.running:
            return REPLAYING if self.replaying else SWEEPING
        return self.occupied

    @property
    def occupied(self) -> str:
        """What else measures on this machine, why no sweep can start beside it; empty: nothing does."""
        return next((reason for reason, yields in self._occupiers.values() if reason and not yields), "")

    @property
    def others_measure(self) -> str:
        """The same of what a sweep waits for or ends, too: why nothing else can start beside it."""
        return next((reason for reason, _ in self._occupiers.values() if reason), "")

    def occupy(self, owner: object, reason: str, *, yields: bool = False) -> None:
        """Let nothing start beside what the owner does, for this reason; without one: it is done.

        Args:
            owner: Does it.
            reason: What it does, in one sentence.
            yields: Whether sweeps may start: the engine has them wait for it, or ends it for them.
        """
        before = self.occupied, self.others_measure
        self._occupiers[owner] = reason, yields
        if (self.occupied, self.others_measure) != before:
            self.occupied_changed.emit(self.others_measure)

    @property
    def running(self) -> bool:
        """Whether a sweep or a replay runs."""
        return self.measuring or self.replaying

    @property
    def measuring(self) -> bool:
        """Whether a sweep runs."""
        return self._driver.running

    @property
    def sweep(self) -> Session | None:
        """What the sweep that runs, or the last one, has measured; None before the first."""
        return self._driver.session

    @property
    def sweep_path(self) -> Path | None:
        """The file of that, None while it has none."""
        return self._driver.recording.path if self._driver.recording is not None else None

    @property
    def sweep_on_show(self) -> bool:
        """Whether that is the session on show, and no replay of it."""
        return self.sweep is not None and self.session is self.sweep

    @property
    def sweep_behind(self) -> bool:
        """Whether a sweep runs while something else is on show."""
        return self.measuring and not self.sweep_on_show and not self.aside

    @property
    def moving(self) -> bool:
        """Whether the session on show grows, because it is measured or replayed."""
        return self.replaying or (self.measuring and self.sweep_on_show)
