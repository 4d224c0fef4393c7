"""The card of one metric: title, readouts at the crosshair, plot, export."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox

from app.plots.export import Cell, Export
from app.plots.export_button import ExportButton
from app.plots.metric import Metric
from app.plots.provenance import session_header
from app.plots.readouts import Readouts
from app.plots.series import Series, extract, kernels_of, seqlens_of
from app.plots.speedup import SPEEDUP
from app.plots.status_marks import STATUS_MARKS
from app.plots.sweep_plot import SweepPlot
from app.theme import Theme
from app.widgets.card import Card
from profiles.session import Session
from profiles.summary import PointRow


class SweepCard(Card):
    """Shows one metric of a session's rows.

    Signals:
        baseline_chosen: Speed-ups are to be over this kernel (str).
    """

    baseline_chosen = Signal(str)

    def __init__(self, metric: Metric, theme: Theme) -> None:
        super().__init__(metric.title, metric.unit)
        self.quantity, self._theme = metric, theme
        self._session: Session | None = None
        self._rows: Sequence[PointRow] = ()
        self._series: list[Series] = []
        self._cursor: int | None = None
        self.plot = SweepPlot(metric, theme)
        self.readouts = Readouts(metric.title)
        self.export_button = ExportButton(metric.title, self.make_export, theme)
        self.baseline = self._make_baseline()
        self.header.addWidget(self.export_button)
        self.setContentsMargins(0, -4, -6, -6)
        self.body.setSpacing(0)
        self.body.addWidget(self.readouts)
        self.body.addWidget(self.plot, 1)

    def _make_baseline(self) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName("Baseline of the speed-up")
        box.setToolTip("Every kernel's runtime is divided into this kernel's at the same N")
        box.textActivated.connect(self.baseline_chosen)
        box.setFixedHeight(24)
        self.header.insertWidget(1, box)
        box.setVisible(self.quantity is SPEEDUP)
        if self.quantity is SPEEDUP:
            self.set_title("Speed-up over")
        return box

    def show_rows(self, session: Session | None, rows: Sequence[PointRow], baseline: str | None) -> None:
        """Draw the rows of a session; the readouts follow."""
        self._session, self._rows = session, rows
        self._series = extract(rows, self.quantity, baseline)
        kernels = kernels_of(rows)
        self._show_baseline(kernels, baseline)
        self.readouts.set_kernels(kernels)
        self.plot.show_series(self._series, seqlens_of(rows), sorted({row.seqlen for row in rows}))
        self._read_out()

    def show_cursor(self, seqlen: int | None) -> None:
        """Stand the crosshair at a sequence length and read every series there."""
        self._cursor = seqlen
        self.plot.set_cursor_at(seqlen)
        self._read_out()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        self.plot.apply_theme(theme)
        self.export_button.apply_theme(theme)

    def make_export(self) -> Export | None:
        """What the export menu writes; None while there is nothing to show."""
        if self._session is None:
            return None
        quantity = self.quantity
        return Export(
            title=f"{quantity.title}, {quantity.unit}",
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
            kernels=kernels_of(self._rows),
        )

    def _export_row(self, row: PointRow) -> list[Cell]:
        one = next(series for series in self._series if series.kernel == row.kernel)
        cells = [one.at(row.seqlen, column) for column in (one.value, one.low, one.high, one.model)]
        return [row.kernel, row.seqlen, row.status, *cells, row.reason]

    def _show_baseline(self, kernels: Sequence[str], baseline: str | None) -> None:
        if tuple(self.baseline.itemText(i) for i in range(self.baseline.count())) != tuple(kernels):
            self.baseline.clear()
            self.baseline.addItems(list(kernels))
        self.baseline.setCurrentText(baseline or "")

    def _read_out(self) -> None:
        for one in self._series:
            value = None if self._cursor is None else one.at(self._cursor)
            failed = next((f for f in one.failures if f.seqlen == self._cursor), None)
            reason = STATUS_MARKS[failed.status].word if failed else ""
            self.readouts.show_value(one.kernel, None if value is None else self.quantity.text(value), reason)
