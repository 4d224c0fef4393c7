"""The card of a roofline: which problems, the plot, its legend, and where its bytes are from."""

from collections.abc import Collection, Sequence
from itertools import chain

from PySide6.QtCore import QSize, Signal

from flashscope.app.control.bundled import counted_title
from flashscope.app.figures.series import kernels_of
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.pages.instead import elsewhere_text
from flashscope.app.plots.export.button import ExportButton
from flashscope.app.plots.export.contents import Export, ExportCell
from flashscope.app.plots.plot_menu import OF_THE_POINT, PlotMenu
from flashscope.app.plots.roofline.plot import RooflinePlot
from flashscope.app.plots.sweep.legend import Legend
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.words.devices.roofline import (
    EMPTY,
    missing_roofs,
    nothing_text,
    spot_lines,
    spot_title,
    tier_text,
)
from flashscope.app.words.results.provenance_header import session_header
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.theory.roofline import Roofline, Spot

TITLE, UNIT = "Roofline", "TFLOP/s over FLOP a byte"
PICTURE = (900, 560)  # pixels at 100 % of an exported picture, at least
COLUMNS = (
    *("kernel", "seqlen", "tflops", "flop_per_dram_byte", "dram_bytes", "dram_source"),
    *("flop_per_l2_byte", "l2_bytes", "l2_source", "why"),
    *("flop_per_shared_byte", "shared_bytes", "shared_source"),
)


class RooflineCard(Card):
    """Shows the points of one curve.

    Signals:
        kernels_hidden: The user has hidden other kernels: all that are (frozenset), of these (list).
    """

    kernels_hidden = Signal(object, object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(TITLE, UNIT)
        self._theme = theme
        self._session: Session | None = None
        self._rows: Sequence[PointRow] = ()
        self._found = Roofline((), ())
        self.plot, self.legend = RooflinePlot(theme), Legend(theme)
        self.export_button = ExportButton(TITLE, self.make_export, theme)
        self.plot_menu = PlotMenu(self, self.export_button.exporter, OF_THE_POINT)
        self.missing = ElidedLabel()
        self.missing.setProperty("role", "warn")
        self.readout, self.tiers = ElidedLabel(), ElidedLabel()
        self.tiers.setProperty("role", "unit")
        self.header.addWidget(self.export_button)
        for widget in (self.missing, self.legend, self.plot, self.readout, self.tiers):
            self.body.addWidget(widget, 1 if widget is self.plot else 0)
        self.body.setSpacing(4)
        self.legend.changed.connect(self._hide)
        self.plot.hovered.connect(self._read)

    @property
    def kernels(self) -> Sequence[str]:
        """Those whose points are on show."""
        there = kernels_of([spot.row for spot in self._found.spots])
        return [kernel for kernel in there if kernel not in self.legend.hidden]

    def hide_kernels(self, hidden: Collection[str]) -> None:
        """Hide what is hidden in every view."""
        self.legend.hide_kernels(hidden)
        self.plot.show_hidden(self.legend.hidden)

    def _hide(self) -> None:
        self.plot.show_hidden(self.legend.hidden)
        self.kernels_hidden.emit(self.legend.hidden, kernels_of([spot.row for spot in self._found.spots]))

    def show_roofline(
        self,
        session: Session | None,
        rows: Sequence[PointRow],
        found: Roofline,
        hidden: Collection[str] = (),
    ) -> None:
        """Draw these points of a session, but for those of hidden kernels."""
        self._session, self._rows, self._found = session, rows, found
        self.legend.show_kernels(kernels_of([spot.row for spot in found.spots]))
        self.legend.hide_kernels(hidden)
        self.plot.show_roofline(found, self.legend.hidden)
        self.plot.show_hint("" if found.placed else _empty_text(session, found))
        measured = bool(session and session.ceilings)
        self.missing.setText(missing_roofs(found, measured=measured, recorded=counted_title()))
        self.missing.setVisible(bool(self.missing.text()))
        self.tiers.setText(tier_text(found.spots))
        self._read(None)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour what is painted by hand."""
        self._theme = theme
        self.plot.apply_theme(theme)
        self.legend.apply_theme(theme)
        self.export_button.apply_theme(theme)

    def make_export(self) -> Export | None:
        """What the export menu writes; None while there is nothing to show."""
        if self._session is None or not self._found.placed:
            return None
        return Export(
            title=f"{TITLE}, {UNIT}",
            name="roofline",
            plots=[self.plot],
            theme=self._theme,
            provenance=session_header(self._session, self._rows) | {"bytes": tier_text(self._found.spots)},
            columns=COLUMNS,
            rows=[_cells(spot) for spot in self._found.spots],
            least=QSize(*map(px, PICTURE)),
            kernels=self.kernels,
        )

    def _read(self, spot: Spot | None) -> None:
        """Say what the point under the pointer reaches."""
        hint = "Point at a mark to read it, click it to see why." if self._found.placed else ""
        self.readout.setText(hint if spot is None else " · ".join([spot_title(spot), *spot_lines(spot)]))


def _empty_text(session: Session | None, found: Roofline) -> str:
    """Why nothing is drawn, and where else something is."""
    return elsewhere_text(session) or (EMPTY if session is None else nothing_text(found))


def _cells(spot: Spot) -> list[ExportCell]:
    cells: list[ExportCell] = [spot.row.kernel, spot.row.seqlen, spot.tflops]
    tiers = [
        [intensity, moved and moved.nbytes, moved and moved.source]
        for moved, intensity in zip(spot.moved, spot.intensities, strict=True)
    ]
    *older, shared = tiers
    return [*cells, *chain(*older), spot.why.sentence, *shared]
