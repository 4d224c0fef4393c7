"""One kernel on the Traffic page: its name, what one run moves, its curve."""

from flashscope.app.look.theme import Theme
from flashscope.app.pages.traffic.shown import NS_IN_MS, CountedPoint
from flashscope.app.plots.marks import mark_pixmap
from flashscope.app.plots.timeline.traffic_plot import Rates, TrafficAxes, TrafficPlot
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.units import ms_text, traffic_text
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.wire.traffic import WRITTEN_BACK

COUNTED = (
    ("dram_read_bytes", "read"),
    ("dram_write_bytes", "written"),
    (WRITTEN_BACK, "written back after it"),
)


class TrafficCard(Card):
    """Shows one point's curve.

    Attributes:
        plot: The curve.
        readout: What the run moves, or the pointer stands on.
    """

    def __init__(self, kernel: str, theme: Theme) -> None:
        super().__init__(kernel)
        self._kernel, self._totals = kernel, ""
        self._mark = PlainLabel()
        self.header.insertWidget(0, self._mark)
        self.readout = ElidedLabel()
        self.readout.setProperty("role", "unit")
        self.header.addWidget(self.readout)
        self.plot = TrafficPlot(kernel, theme)
        self.plot.hovered.connect(lambda text: self.readout.setText(text or self._totals))
        self.body.addWidget(self.plot, 1)
        self.setContentsMargins(0, -4, -4, -6)
        self.apply_theme(theme)

    def show_point(self, one: CountedPoint, axes: TrafficAxes, *, brief: bool = False) -> None:
        """Draw a point on these axes, and say what it moved; brief: what it read and wrote alone."""
        copy = one.row.measured("copy_gbs")
        self._totals = totals_text(one, brief=brief)
        self.readout.setText(self._totals)
        self.plot.setAccessibleDescription(self._totals)
        self.plot.show_curve(Rates.of(one.traffic), copy.value if copy else None, axes)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._mark.setPixmap(mark_pixmap(self._kernel, theme))
        self.plot.apply_theme(theme)


def totals_text(one: CountedPoint, *, brief: bool = False) -> str:
    """What a run reads and writes in all, over which time, and what it must move by formula."""
    parts = []
    for key, what in COUNTED:
        figure = one.row.measured(key)
        if figure is not None and figure.value is not None:
            parts.append(f"{traffic_text(figure.value)} {what}")
    if brief:
        return " · ".join(parts[:2])
    parts.insert(2, f"in {ms_text(one.traffic.run_ns / NS_IN_MS)}")
    least = QUANTITIES["compulsory_dram_bytes"].figure(one.row)
    if least is not None and least.value is not None:
        parts.append(f"formula: {traffic_text(least.value)}")
    return " · ".join(parts)
