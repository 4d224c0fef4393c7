"""Which part of the time the telemetry shows; no Qt."""

from flashscope.app.figures.in_view import is_whole, within

LEAST_S = 2.0  # of the whole time
NEAREST_S = 0.05  # of what is on show
ENOUGH = 0.05  # of what is on show: a span that takes so much is to be seen
THIRD = 3.0  # what is looked at takes a third

TimeRange = tuple[float, float]


class TimeView:
    """All of the time, until something else is looked at."""

    def __init__(self) -> None:
        self._part: TimeRange | None = None

    def of(self, whole: TimeRange) -> TimeRange:
        """What to show of all the time there is."""
        return whole if self._part is None else within(self._part, whole)

    def leaves_out(self, whole: TimeRange) -> bool:
        """Whether some of all the time there is is not on show."""
        return not is_whole(self.of(whole), whole)

    def fit(self) -> None:
        """Show all of it again."""
        self._part = None

    def zoom(self, factor: float, around_s: float, now: TimeRange) -> None:
        """Show so many times as much as now, with this moment where it is."""
        length = now[1] - now[0]
        factor = max(factor, NEAREST_S / length)
        self._part = (around_s + (now[0] - around_s) * factor, around_s + (now[1] - around_s) * factor)

    def pan(self, by_s: float, now: TimeRange) -> None:
        """Show what is so much later, as much of it as now."""
        self._part = (now[0] + by_s, now[1] + by_s)

    def look_at(self, ends: TimeRange, now: TimeRange) -> bool:
        """Show these in the middle third, unless they are well to be seen now; whether anything changes."""
        length = ends[1] - ends[0]
        if now[0] <= ends[0] and ends[1] <= now[1] and length >= ENOUGH * (now[1] - now[0]):
            return False
        middle, half = (ends[0] + ends[1]) / 2, max(THIRD * length, NEAREST_S) / 2
        self._part = (middle - half, middle + half)
        return True
