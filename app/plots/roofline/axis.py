"""The axis of intensities: FLOP a byte, logarithmic."""

from flashscope.app.control.guard import guarded
from flashscope.app.figures.ticks import from_axis, value_ticks
from flashscope.app.look.zoom import px
from flashscope.app.plots.axes import Ticks
from flashscope.app.plots.style import UnitAxis
from flashscope.app.words.units import plain_tick

LABEL_PX = 44  # a label and the gap beside it


class IntensityAxis(UnitAxis):
    """Round values at log10, as many as fit side by side."""

    def __init__(self) -> None:
        super().__init__("bottom", lambda place, more=0: plain_tick(from_axis(place, "log10"), more))

    @guarded(list)
    def tickValues(self, minVal: float, maxVal: float, size: float) -> Ticks:  # noqa: N803 - pyqtgraph's names
        """Positions of the ticks."""
        room = max(2, int(size / px(LABEL_PX)))
        half = (maxVal - minVal) / max(size, 1.0) * px(LABEL_PX) / 2
        return [(1.0, value_ticks(minVal, maxVal, "log10", binary=False, room=room, half=half))]
