"""The line above the plots: one legend for all of them, where the crosshair stands, what is in flight."""

from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.plots.marks import mark_pixmap
from app.plots.units import seqlen_full
from profiles.session import PointState


class LegendBar(QWidget):
    """Marks and names of the kernels on show, and two readouts at the right."""

    def __init__(self) -> None:
        super().__init__()
        self._kernels: tuple[str, ...] = ()
        self._entries = QHBoxLayout()
        self._entries.setSpacing(6)
        self.model_label = QLabel("┄ model")
        self.model_label.setProperty("role", "unit")
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
        row.addStretch(1)
        row.addWidget(self.flight)
        row.addWidget(self.position)
        self.setFixedHeight(24)

    def set_kernels(self, kernels: Sequence[str]) -> None:
        """Show these."""
        if self._kernels == tuple(kernels):
            return
        self._kernels = tuple(kernels)
        while (item := self._entries.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for kernel in kernels:
            mark, name = QLabel(), QLabel(kernel)
            mark.setPixmap(mark_pixmap(kernel))
            self._entries.addWidget(mark)
            name.setContentsMargins(0, 0, 10, 0)
            self._entries.addWidget(name)

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
