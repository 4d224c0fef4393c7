"""The line above the plots: one legend for all of them, where the crosshair stands, what is in flight."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QLabel, QWidget

from app.plots.marks import PER_ROW, mark_pixmap
from app.plots.units import seqlen_full
from profiles.session import PointState

ROW_HEIGHT = 24


class LegendBar(QWidget):
    """Marks and names of the kernels on show, which problems are, and two readouts at the right.

    Signals:
        group_chosen: Show the group of problems at this place of the list (int).
    """

    group_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._kernels: tuple[str, ...] = ()
        self._entries = QGridLayout()
        self._entries.setHorizontalSpacing(6)
        self._entries.setVerticalSpacing(0)
        self.model_label = QLabel("┄ model")
        self.model_label.setProperty("role", "unit")
        self.groups = QComboBox()
        self.groups.setAccessibleName("Problems on show")
        self.groups.setToolTip("This session holds several problems at the same N; these are on show")
        self.groups.setFixedHeight(24)
        self.groups.activated.connect(self.group_chosen)
        self.groups.hide()
        self.flight = QLabel()
        self.flight.setProperty("role", "unit")
        self.position = QLabel()
        self.position.setProperty("role", "title")
        self.position.setMinimumWidth(90)
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 0, 4, 0)
        row.setSpacing(12)
        row.addLayout(self._entries)
        row.addWidget(self.model_label)
        row.addWidget(self.groups)
        row.addStretch(1)
        row.addWidget(self.flight)
        row.addWidget(self.position)
        self.setFixedHeight(ROW_HEIGHT)

    def set_kernels(self, kernels: Sequence[str]) -> None:
        """Show these, in as many rows as they need."""
        if self._kernels == tuple(kernels):
            return
        self._kernels = tuple(kernels)
        while (item := self._entries.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self.setFixedHeight(ROW_HEIGHT * max(1, -(-len(kernels) // PER_ROW)))
        for place, kernel in enumerate(kernels):
            row, column = divmod(place, PER_ROW)
            mark, name = QLabel(), QLabel(kernel)
            mark.setPixmap(mark_pixmap(kernel))
            self._entries.addWidget(mark, row, 2 * column)
            name.setContentsMargins(0, 0, 4, 0)
            self._entries.addWidget(name, row, 2 * column + 1)

    def set_groups(self, labels: Sequence[str], current: int) -> None:
        """Offer these groups of problems; a single one leaves nothing to choose."""
        if [self.groups.itemText(i) for i in range(self.groups.count())] != list(labels):
            self.groups.clear()
            self.groups.addItems(list(labels))
        self.groups.setCurrentIndex(current)
        self.groups.setVisible(len(labels) > 1)

    def show_cursor(self, seqlen: int | None) -> None:
        """Say where the crosshair stands."""
        self.position.setText("" if seqlen is None else f"N = {seqlen_full(seqlen)}")

    def show_flight(self, state: PointState | None) -> None:
        """Say what the point in flight is doing."""
        if state is None:
            self.flight.setText("")
            return
        steps = f" {state.done} of {state.total}" if state.total else ""
        name = f"{state.point.kernel} at N = {seqlen_full(state.point.problem.seqlen_q)}"
        self.flight.setText(f"{name} · {state.phase or 'prepare'}{steps}")
