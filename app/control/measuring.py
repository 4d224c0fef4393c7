"""What runs, as pages know it, beside what is on show."""

from pathlib import Path

from flashscope.app.control.showing import Showing
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.running.driver import Driver


class Measuring(Showing):
    """What a driver measures; of what is on show, see Showing.

    Attributes:
        aside: Whether the sweep that runs, or the last one, is a version of a watched kernel, which its own
            view tells of.
    """

    _driver: Driver
    aside = False

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
