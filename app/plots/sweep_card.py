"""The card of one metric: title, plot, export."""

from collections.abc import Collection, Mapping, Sequence

from PySide6.QtCore import QSize

from app.plots.export import Cell, Export
from app.plots.export_button import ExportButton
from app.plots.metric import Metric
from app.plots.provenance import session_header
from app.plots.series import Series, extract, kernels_of, seqlens_of
from app.plots.speedup import SPEEDUP
from app.plots.sweep_plot import SweepPlot
from app.theme import Theme
from app.widgets.card import Card
from app.widgets.elided import ElidedLabel
from profiles.session import Session
from profiles.summary import PointRow

PICTURE = QSize(760, 420)  # pixels of a plot in an exported picture, at least


class SweepCard(Card):
    """Shows one metric of a session's rows."""

    def __init__(self, metric: Metric, theme: Theme) -> None:
        super().__init__(metric.title)
        self.quantity, self._theme = metric, theme
        self._session: Session | None = None
        self._rows: Sequence[PointRow] = ()
        self._series: list[Series] = []
        self._hidden: Collection[str] = ()
        self._flight: tuple[int | None, Mapping[str, float | None]] = (None, {})
        self.plot = SweepPlot(metric, theme)
        self.export_button = ExportButton(metric.title, self.make_export, theme)
        unit = ElidedLabel(metric.unit)
        unit.setProperty("role", "unit")
        self.header.addWidget(unit)
        self.header.addWidget(self.export_button)
        self.setContentsMargins(0, -4, -6, -6)
        self.body.setSpacing(0)
        self.body.addWidget(self.plot, 1)

    def show_rows(
        self,
        session: Session | None,
        rows: Sequence[PointRow],
        baseline: str | None,
        hidden: Collection[str] = (),
    ) -> None:
        """Draw the rows of a session but those of the hidden kernels, or leave that to `draw`."""
        self._session, self._rows, self._hidden = session, rows, hidden
        self._series = extract(rows, self.quantity, baseline)
        if self.quantity is SPEEDUP and baseline is not None:
            self.set_title(f"Speed-up over {baseline}")
        self._draw_unless_held()

    def show_flight(self, seqlen: int | None, values: Mapping[str, float | None]) -> None:
        """Mark the points in flight, as the plot's method does, or leave that to `draw`."""
        self._flight = (seqlen, values)
        self._draw_unless_held()

    def draw(self) -> None:
        """Draw what was shown last: for a card that was held back from being painted, when its turn comes."""
        shown = [one for one in self._series if one.kernel not in self._hidden]
        seqlens = sorted({row.seqlen for row in self._rows})
        self.plot.show_series(shown, seqlens_of(self._rows), seqlens)
        self.plot.show_flight(*self._flight)

    def _draw_unless_held(self) -> None:
        if self.updatesEnabled():
            self.draw()

    def text_at(self, kernel: str, seqlen: int | None) -> str | None:
        """A kernel's figure at a sequence length as the readout shows it, None when there is none."""
        one = next(series for series in self._series if series.kernel == kernel)
        value = None if seqlen is None else one.at(seqlen)
        return None if value is None else self.quantity.text(value)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        self.plot.apply_theme(theme)
        self.export_button.apply_theme(theme)

    def make_export(self) -> Export | None:
        """What the export menu writes; None while there is nothing to show."""
        if self._session is None:
            return None
        self.draw()  # its turn may be still to come
        quantity = self.quantity
        return Export(
            title=f"{self._title.text()}, {quantity.unit}",
            name=quantity.key,
            plots=[self.plot],
            theme=self._theme,
            provenance=session_header(self._session, self._rows),
            columns=[
                "kernel",
                "seqlen",
                "status",
                f"{quantity.key}_{quantity.unit_name}",
                "low",
                "high",
                "model",
                "reason",
            ],
            rows=[self._export_row(row) for row in self._rows],
            least=PICTURE,
            kernels=[kernel for kernel in kernels_of(self._rows) if kernel not in self._hidden],
        )

    def _export_row(self, row: PointRow) -> list[Cell]:
        one = next(series for series in self._series if series.kernel == row.kernel)
        cells = [one.at(row.seqlen, column) for column in (one.value, one.low, one.high, one.model)]
        return [row.kernel, row.seqlen, row.status, *cells, row.reason]
