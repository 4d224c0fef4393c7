"""The card of one quantity over N: which one, its plot, its export."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QMenu

from flashscope.app.control.guard import guarded
from flashscope.app.figures.series import Series, each_series, extract, kernels_of, seqlens_of
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.plots.export.button import ExportButton
from flashscope.app.plots.export.contents import Export, ExportCell
from flashscope.app.plots.plot_menu import OF_THE_POINT, PlotMenu
from flashscope.app.plots.sweep.quantity_chooser import QuantityChooser
from flashscope.app.plots.sweep.sweep_plot import Flight, SweepPlot
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.frame.typing_guard import COMMAND
from flashscope.app.widgets.menus import commands_of
from flashscope.app.widgets.paint_turns import draw_unless_waiting, waits
from flashscope.app.widgets.term_label import TermLine
from flashscope.app.words.kinds import column_name, narrow_text, unit_short, unit_text
from flashscope.app.words.results.headline import headline_text
from flashscope.app.words.results.provenance_header import session_header
from flashscope.app.words.results.trust import DOUBT, DOUBTED
from flashscope.profiles.results.compare.noise import wanders
from flashscope.profiles.results.findings.headline import headline
from flashscope.profiles.results.model.curves import telling_labels, telling_seqlen
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.quantity import Quantity

PICTURE = (760, 420)  # pixels at 100 % of a plot in an exported picture, at least


class SweepCard(Card):
    """Shows one quantity of a session's rows.

    Attributes:
        quantity: What it shows.

    Signals:
        quantity_chosen: Show the quantity with this key instead (str).
        fill_requested: It is to fill the page, or to give it back.
        solo_requested: This kernel is to be shown alone, or all again (str).
        point_requested: A command of the window is to be done with this kernel's point at the crosshair: the
            kernel, the command's key (str, str).
    """

    quantity_chosen = Signal(str)
    fill_requested = Signal()
    solo_requested = Signal(str)
    point_requested = Signal(str, str)

    def __init__(self, quantity: Quantity, theme: Theme) -> None:
        super().__init__()
        self.quantity, self._theme = quantity, theme
        self._session: Session | None = None
        self._rows: Sequence[PointRow] = ()
        self._known: list[Series] | None = []  # None: still to be extracted
        self._baseline: str | None = None
        self._hidden: Collection[str] = ()
        self._hero = self._lit = ""  # the kernel that shines, and the one that is pointed at
        self._cursor: int | None = None
        self._flight: Flight = {}
        self._recolours = False
        self._drawn = False  # whether the plot shows the rows that were given last
        self.plot = SweepPlot(quantity, theme)
        self.plot.fill_requested.connect(self.fill_requested)
        self.chooser = QuantityChooser()
        self.chooser.chosen.connect(self.quantity_chosen)
        self.export_button = ExportButton(quantity.title, self.make_export, theme)
        self._unit_label = TermLine()
        self._unit_label.setProperty("role", "unit")
        self.header.insertWidget(0, self.chooser)
        self.header.addWidget(self._unit_label)
        self.header.addWidget(self.export_button)
        commands = ("profile.autorange", "profile.log", "profile.grid", "profile.fill")
        self.plot_menu = PlotMenu(self, self.export_button.exporter, commands, self._entries)
        self.setContentsMargins(0, -4, -6, -6)
        self.header.setSpacing(4)
        self.body.setSpacing(0)
        self.body.addWidget(self.plot, 1)
        self._name()

    @property
    def title(self) -> str:
        """What it shows, in words; of a relative quantity also over which kernel."""
        relative = self.quantity.relative and self._baseline is not None
        return f"{self.quantity.title} over {self._baseline}" if relative else self.quantity.title

    def set_quantity(self, quantity: Quantity) -> None:
        """Show another quantity; `show_rows` draws it."""
        self.quantity = quantity
        self._drawn = False
        self._flight = dict.fromkeys(self._flight)  # what was in flight was of the quantity before
        self.plot.set_quantity(quantity)
        self.export_button.rename(quantity.title)
        self._name()

    def show_rows(
        self,
        session: Session | None,
        rows: Sequence[PointRow],
        baseline: str | None,
        hidden: Collection[str] = (),
    ) -> None:
        """Draw the rows of a session but those of the hidden kernels, or leave that to `draw`."""
        self._session, self._rows, self._hidden = session, rows, hidden
        self._baseline = baseline
        self._known, self._drawn = None, False
        self._name()
        draw_unless_waiting(self, self.draw_in_steps)

    def show_flight(self, values: Flight) -> None:
        """Mark the points in flight, as the plot's method does, or leave that to `draw`."""
        self._flight = values
        draw_unless_waiting(self, self.draw_in_steps)

    def show_cursor(self, seqlen: int | None) -> None:
        """Stand the crosshair there, or leave that to `draw`."""
        self._cursor = seqlen
        if not waits(self):
            self.plot.set_cursor_at(seqlen)

    def show_hero(self, kernel: str) -> None:
        """Let this kernel's curve shine, or leave that to `draw`."""
        self._hero = kernel
        if not waits(self):
            self.plot.stress(kernel, self._lit)

    def point_at(self, kernel: str) -> None:
        """Let all other kernels' curves stand back for as long as this one is pointed at."""
        self._lit = kernel
        if not waits(self):
            self.plot.stress(self._hero, kernel)

    def _entries(self, menu: QMenu) -> list[QAction]:
        """Another quantity, and what can be done with the curve and the point that is pointed at."""
        other = QAction("Show another quantity …", menu)
        other.triggered.connect(self.chooser.showMenu)
        commands = commands_of(self, OF_THE_POINT)
        if not self._lit:
            return [other, *commands]
        alone = QAction(f"Show {self._lit} alone, or all".replace("&", "&&"), menu)
        alone.triggered.connect(partial(self.solo_requested.emit, self._lit))
        mine = [QAction(f"{one.text()}: {self._lit}".replace("&", "&&"), menu) for one in commands]
        for action, command in zip(mine, commands, strict=True):
            action.setEnabled(command.isEnabled())
            action.triggered.connect(partial(self.point_requested.emit, self._lit, command.objectName()))
        return [other, alone, *mine]

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter asks for the whole page, or back."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and not event.modifiers() & COMMAND:
            self.fill_requested.emit()
        else:
            super().keyPressEvent(event)

    @property
    def _series(self) -> list[Series]:
        """What is drawn."""
        if self._known is None:
            self._known = extract(self._rows, self.quantity, self._baseline)
        return self._known

    def draw(self) -> None:
        """Draw what was shown last."""
        for _ in self.draw_in_steps():
            pass

    def draw_in_steps(self) -> Iterator[None]:
        """Draw what was shown last: for a card that has waited, when its turn comes."""
        if self._recolours:
            self.plot.apply_theme(self._theme)
            self._recolours = False
            yield
        if not self._drawn:
            yield from self._draw_curves()
            self._drawn = True
        self.plot.stress(self._hero, self._lit)
        self.plot.show_flight(self._flight)
        self.plot.set_cursor_at(self._cursor)

    def _draw_curves(self) -> Iterator[None]:
        """Draw all that stays while a point is in flight."""
        yield from self.extract_in_steps()
        self._name()
        shown = [one for one in self._series if one.kernel not in self._hidden]
        self.plot.first_named = self._baseline or ""
        seqlens = sorted({row.seqlen for row in self._rows})
        yield from self.plot.draw_in_steps(shown, seqlens_of(self._rows), seqlens)

    def extract_in_steps(self) -> Iterator[None]:
        """Read the figures of what was shown last, a kernel a step."""
        if self._known is None:
            found = []
            for one in each_series(self._rows, self.quantity, self._baseline):
                found.append(one)
                yield
            self._known = found

    def _name(self) -> None:
        """Say what it shows."""
        self.chooser.show_quantity(self.quantity)
        over = self._baseline if self.quantity.relative else None
        marks = [DOUBTED] if self._known is not None and self.has_doubted else []
        texts = unit_text(self.quantity, over), unit_short(self.quantity, over)
        self._unit_label.set_texts(*(" · ".join((text, *marks)) for text in texts))

    def text_at(self, kernel: str, seqlen: int | None) -> str | None:
        """A kernel's figure at a sequence length as the readout shows it, None when there is none.

        One that is not trusted has the mark of that.
        """
        one = next(series for series in self._series if series.kernel == kernel)
        value = None if seqlen is None else one.at(seqlen)
        if seqlen is None or value is None:
            return None
        return f"{DOUBT if one.is_doubted(seqlen) else ''}{narrow_text(self.quantity, value)}"

    @property
    def has_doubted(self) -> bool:
        """Whether one of its points is marked as not trusted."""
        return any(one.doubted.any() for one in self._series if one.kernel not in self._hidden)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours; the plot has them when it is drawn next."""
        self._theme, self._recolours, self._drawn = theme, True, False
        self.export_button.apply_theme(theme)

    def make_export(self) -> Export | None:
        """What the export menu writes; None while there is nothing to show."""
        if self._session is None:
            return None
        self.draw()  # its turn may be still to come
        return Export(
            headline=self._headline(),
            title=", ".join(filter(None, (self.title, unit_text(self.quantity)))),
            name=self.quantity.key,
            plots=[self.plot],
            theme=self._theme,
            provenance=session_header(self._session, self._rows),
            columns=[
                "kernel",
                "seqlen",
                "status",
                column_name(self.quantity),
                "low",
                "high",
                "model",
                *([self.quantity.beside_source] if self.quantity.beside else []),
                "reason",
            ],
            rows=[self._export_row(row) for row in self._rows],
            least=QSize(*map(px, PICTURE)),
            kernels=[kernel for kernel in kernels_of(self._rows) if kernel not in self._hidden],
        )

    def _headline(self) -> str:
        """What its picture says at the crosshair, or where there is none, where a comparison says most."""
        seqlen = telling_seqlen(self._rows) if self._cursor is None else self._cursor
        wandered = wanders(self._session) if self._session is not None else None
        return headline_text(
            headline(
                self._rows,
                seqlen,
                self._baseline,
                [self.quantity],
                hidden=self._hidden,
                wandered=wandered,
                label=self._label(),
            )
        )

    def _label(self) -> str:
        """What is on show in words where the session has other problems; else empty."""
        if self._session is None or not self._rows:
            return ""
        return telling_labels(rows(self._session))[self._rows[0].problem]

    def _export_row(self, row: PointRow) -> list[ExportCell]:
        one = next(series for series in self._series if series.kernel == row.kernel)
        columns = [one.value, one.low, one.high, one.model, *([one.beside] if self.quantity.beside else [])]
        cells = [one.at(row.seqlen, column) for column in columns]
        return [row.kernel, row.seqlen, row.status, *cells, row.reason]
