"""The panel beside the plots: their one legend, and every kernel's figures where the crosshair stands."""

from collections.abc import Collection, Iterator, Sequence

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QEnterEvent, QGuiApplication, QHideEvent
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.profile.memory_bars import MemoryBars
from flashscope.app.plots.marks import legend_icon
from flashscope.app.widgets.buttons import size_icon, text_button
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.laid_out import laid_out_once
from flashscope.app.widgets.plain import PlainLabel, button_text, set_tip
from flashscope.app.words.glossary import with_line
from flashscope.app.words.kinds import heading, unit_text
from flashscope.app.words.results.progress import flight_text
from flashscope.app.words.results.trust import DOUBTED
from flashscope.app.words.units import thousands
from flashscope.profiles.plan.plan import Point
from flashscope.profiles.results.model.session import PointState
from flashscope.profiles.results.quantities.quantity import Quantity

WIDTH = 374
COLUMN = 270  # pixels of a kernel's name and two figures
ROW_PX, DENSE_ROW_PX = 24, 16
ROOMY = 8  # kernels; of fifteen in dense rows all stand beside the plots of a window 720 pixels high
ABSENT = "–"
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class LegendButton(QPushButton):
    """A kernel's name.

    Signals:
        pointed_at: The pointer has come (True) or gone (False).
    """

    pointed_at = Signal(bool)
    _pointed = False

    @guarded()
    def enterEvent(self, event: QEnterEvent) -> None:
        """Tell that the pointer has come."""
        super().enterEvent(event)
        self._point(on=True)

    @guarded()
    def leaveEvent(self, event: QEvent) -> None:
        """Tell that the pointer has gone."""
        super().leaveEvent(event)
        self._point(on=False)

    @guarded()
    def hideEvent(self, event: QHideEvent) -> None:
        """Tell the same where it goes from under the pointer."""
        super().hideEvent(event)
        self._point(on=False)

    def _point(self, *, on: bool) -> None:
        if on != self._pointed:
            self._pointed = on
            self.pointed_at.emit(on)


class LegendRow:
    """One kernel: a button with its mark and name that shows or hides its curves, and its figures.

    It is ready to be laid out, but in no layout yet.
    """

    def __init__(self, kernel: str, theme: Theme, height: int, figures: int, panel: QWidget) -> None:
        self.kernel, self.height = kernel, height
        self.button = LegendButton(button_text(kernel), panel)
        self.button.setCheckable(True)
        self.button.setChecked(True)
        self.button.setProperty("role", "legend")
        size_icon(self.button, 13)
        keep(self.button, self.button.setFixedHeight, height)
        set_tip(
            self.button, with_line(kernel, f"Show or hide {kernel} in the plots; Alt-click: show it alone")
        )
        self.values = [PlainLabel(ABSENT, panel) for _ in range(figures)]
        for value in self.values:
            value.setAlignment(_RIGHT)
            value.setProperty("role", "figure")
        self._shown = list(self.values)
        self.reason = PlainLabel("", panel)
        self.reason.setAlignment(_RIGHT)
        self.reason.setProperty("role", "unit")
        self.apply_theme(theme)
        for widget in self.widgets:
            widget.ensurePolished()  # it takes long, and gives each its size

    @property
    def widgets(self) -> Sequence[QWidget]:
        """All that there is of it."""
        return self.button, self.reason, *self.values

    def show_figures(
        self, quantities: Sequence[Quantity], texts: Sequence[str | None], reason: str, tip: str = ""
    ) -> None:
        """Write a figure of each quantity, or why there is none here; `tip` says more of all of them."""
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))
        for quantity, value, text in zip(quantities, self.values, texts, strict=True):
            value.setVisible(not reason and value in self._shown)
            set_tip(value, tip)
            name = f"{quantity.title} of {self.kernel}: {text or 'none'}"
            if value.accessibleName() != name:
                value.setText(text or ABSENT)
                value.setAccessibleName(name)

    def limit(self, figures: int) -> None:
        """Show the first so many figures, unless a reason stands in their place."""
        self._shown = self.values[:figures]
        for value in self.values:
            value.setVisible(value in self._shown and self.reason.isHidden())

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the mark."""
        self.button.setIcon(legend_icon(self.kernel, theme))

    def remove(self) -> None:
        """Take the row off the panel."""
        for widget in self.widgets:
            widget.hide()
            widget.deleteLater()


MODEL = "dotted: model"


class CrosshairPanel(Card):
    """Where the crosshair stands, a row a kernel, and what takes their memory.

    Attributes:
        memory: What takes the memory of the kernels on show.

    Signals:
        kernel_toggled: Show this kernel's curves, or hide them (str, bool).
        kernel_soloed: Show this kernel's curves alone, or all again (str).
        kernel_pointed_at: The pointer is on this kernel's name (str); empty: on none.
        inside_wanted: The point that is looked at is to be looked into.
    """

    inside_wanted = Signal()
    kernel_toggled = Signal(str, bool)
    kernel_soloed = Signal(str)
    kernel_pointed_at = Signal(str)

    def __init__(self, theme: Theme, quantities: Sequence[Quantity]) -> None:
        super().__init__("N", MODEL)
        self._theme, self._quantities = theme, tuple(quantities)
        self._rows: dict[str, LegendRow] = {}
        self._made: dict[str, LegendRow] = {}  # that are to take the place of these
        self._doubted = False
        self._seqlen: int | None = None
        keep(self, self.setMinimumWidth, WIDTH)
        self.flight = ElidedLabel()
        self.flight.setProperty("role", "unit")
        self.memory = MemoryBars(theme)
        inside = text_button("Inside", "Look inside the point", self.inside_wanted.emit, "link")
        self.inside = does(inside, "inside")
        self.header.addWidget(self.inside)
        self._headings: list[PlainLabel] = []
        self._columns, self._figures = 1, len(quantities)
        self._grid = self._make_grid()
        self.set_quantities(quantities)
        self.body.setSpacing(6)
        self.body.addLayout(self._grid)
        self.body.addWidget(self.memory, 1)
        self.body.addWidget(self.flight)

    def _make_grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(0, 1)
        for column in range(1, len(self._quantities) + 1):
            label = PlainLabel()
            label.setProperty("role", "unit")
            self._headings.append(label)
            grid.addWidget(label, 0, column, _RIGHT)
        return grid

    def stand(self, columns: int, figures: int) -> None:
        """Have the kernels in so many columns, each with its first so many figures.

        Where there are several columns there is room for neither headings nor what takes the memory: figures
        have their units, and the title names them.
        """
        if (columns, figures) == (self._columns, self._figures):
            return
        self._columns, self._figures = columns, figures
        for label in self._headings:
            label.setVisible(columns == 1)
        self.memory.setVisible(columns == 1)
        self._show_title()
        for column in range(self._grid.columnCount()):
            self._grid.setColumnStretch(column, 0)
        for place, row in enumerate(self._rows.values()):
            self._put(row, place, len(self._rows))

    def _put(self, row: LegendRow, place: int, count: int) -> None:
        """Stand a row in its column, under the headings."""
        lines = -(-count // self._columns)
        block, line = divmod(place, lines)
        first = block * (len(row.values) + 2)  # with an empty one, which keeps figures beside their names
        widgets = [(row.button, first, 1), (row.reason, first + 1, len(row.values))]
        widgets += [(value, first + 1 + n, 1) for n, value in enumerate(row.values)]
        for widget, column, span in widgets:
            self._grid.removeWidget(widget)
            self._grid.addWidget(widget, line + 1, column, 1, span)
        self._grid.setColumnStretch(first if self._columns == 1 else first + len(row.values) + 1, 1)
        row.button.show()  # in this turn: the layout would do it in the next
        row.limit(self._figures)

    def set_quantities(self, quantities: Sequence[Quantity]) -> None:
        """Head the columns of figures; as many quantities as before."""
        self._quantities = tuple(quantities)
        self._tell_marks()
        self._show_title()
        words = [heading(quantity) for quantity in quantities]
        for label, quantity, word in zip(self._headings, quantities, words, strict=True):
            label.setText(word if words.count(word) == 1 else quantity.short)
            told = f"{quantity.title}: {unit_text(quantity) or quantity.about}"
            set_tip(label, with_line(label.text(), told))

    def show_doubts(self, doubted: bool) -> None:
        """Say what the mark of points means that are not trusted, while there are any."""
        if doubted != self._doubted:
            self._doubted = doubted
            self._tell_marks()

    def _tell_marks(self) -> None:
        besides = dict.fromkeys(one.beside_source for one in self._quantities if one.beside)
        ringed = (f"ringed: {source}" for source in besides)
        self.set_unit(" · ".join((MODEL, *ringed, *([DOUBTED] if self._doubted else []))))

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels that have a row."""
        return tuple(self._rows)

    def set_kernels(self, kernels: Sequence[str]) -> Iterator[None]:
        """Make a row for each of these, all of them on show: a row a step; the last step puts them in place.

        Before that the panel stays as it is, or what is beside it would have another size with every step.
        What was made already when it is begun anew is not made again.
        """
        height = ROW_PX if len(kernels) <= ROOMY else DENSE_ROW_PX
        for row in [row for row in self._made.values() if row.kernel not in kernels or row.height != height]:
            self._made.pop(row.kernel).remove()
        for kernel in kernels:
            if kernel not in self._made:
                self._made[kernel] = self._make(kernel, height)
                yield
        made, self._made = {kernel: self._made[kernel] for kernel in kernels}, {}
        with laid_out_once(self):
            for row in self._rows.values():
                row.remove()
            self._rows = made
            for place, row in enumerate(made.values()):
                self._put(row, place, len(made))
                row.button.show()  # in this turn, with its figures: the layout would do it in the next
                row.show_figures(self._quantities, [None] * len(row.values), "")
        yield

    def show_hidden(self, hidden: Collection[str]) -> None:
        """Say which kernels' curves are not on show."""
        for kernel, row in self._rows.items():
            with QSignalBlocker(row.button):
                row.button.setChecked(kernel not in hidden)

    def show_figures(self, kernel: str, texts: Sequence[str | None], reason: str = "", tip: str = "") -> None:
        """Write a kernel's figures at the crosshair, one a quantity; `reason` says why one is None."""
        self._rows[kernel].show_figures(self._quantities, texts, reason, tip)

    def figure(self, kernel: str, key: str) -> str:
        """What stands in the place of a kernel and a quantity: its figure, or why there is none."""
        row = self._rows[kernel]
        place = next(index for index, one in enumerate(self._quantities) if one.key == key)
        return row.reason.text() or row.values[place].text()

    def button(self, kernel: str) -> QPushButton:
        """What shows or hides a kernel's curves."""
        return self._rows[kernel].button

    def show_cursor(self, seqlen: int | None) -> None:
        """Say where the crosshair stands."""
        self._seqlen = seqlen
        self._show_title()

    def _show_title(self) -> None:
        """N, and what the figures are where no headings stand over them."""
        at = "N" if self._seqlen is None else f"N = {thousands(self._seqlen)}"
        named = [] if self._columns == 1 else [one.short for one in self._quantities[: self._figures]]
        self.set_title(": ".join(filter(None, (at, ", ".join(named)))))

    def name_inside(self, point: Point | None) -> None:
        """Say which point is looked into; None: there is none."""
        self.inside.setEnabled(point is not None)
        if point is not None:
            name = f"Look inside {point.kernel} at N = {thousands(point.problem.seqlen)}"
            self.inside.setAccessibleName(name)
            set_tip(self.inside, with_line("inside", name))

    def show_flight(self, states: Sequence[PointState]) -> None:
        """Say what the points in flight are doing."""
        self.flight.setText(flight_text(states))

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the marks."""
        self._theme = theme
        self.memory.apply_theme(theme)
        for row in (*self._rows.values(), *self._made.values()):
            row.apply_theme(theme)

    def point_at(self, kernel: str) -> None:
        """Let the name of the kernel whose curve is pointed at stand out."""
        for row in self._rows.values():
            row.button.setDown(row.kernel == kernel)

    def _clicked(self, kernel: str, *, shown: bool) -> None:
        if QGuiApplication.keyboardModifiers() & Qt.KeyboardModifier.AltModifier:
            self.kernel_soloed.emit(kernel)
        else:
            self.kernel_toggled.emit(kernel, shown)

    def _make(self, kernel: str, height: int) -> LegendRow:
        row = LegendRow(kernel, self._theme, height, len(self._quantities), self)
        row.button.clicked.connect(lambda shown: self._clicked(kernel, shown=shown))
        row.button.pointed_at.connect(lambda on: self.kernel_pointed_at.emit(kernel if on else ""))
        return row
