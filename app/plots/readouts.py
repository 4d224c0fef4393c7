"""Values under the crosshair, one fixed place for every series."""

from collections.abc import Sequence

from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.plots.marks import PER_ROW, mark_pixmap

ABSENT = "–"
ROW_HEIGHT = 18


class Readouts(QWidget):
    """A mark and a value for each kernel, in columns of one width, in as many rows as they need."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what
        self._values: dict[str, QLabel] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(4)
        self._grid.setVerticalSpacing(0)
        self.setFixedHeight(ROW_HEIGHT)

    def set_kernels(self, kernels: Sequence[str]) -> None:
        """Make a place for each of these."""
        if tuple(self._values) == tuple(kernels):
            return
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self.setFixedHeight(ROW_HEIGHT * max(1, -(-len(kernels) // PER_ROW)))
        for column in range(PER_ROW):
            self._grid.setColumnStretch(2 * column + 1, int(column < len(kernels)))
        self._values = {kernel: self._place(kernel, place) for place, kernel in enumerate(kernels)}

    def show_value(self, kernel: str, text: str | None, reason: str = "") -> None:
        """Write a value; None: there is none here, `reason` says why."""
        label = self._values[kernel]
        if label.text() != (text or reason or ABSENT):
            label.setText(text or reason or ABSENT)
            label.setAccessibleName(f"{self._what} of {kernel}: {text or reason or 'none'}")

    def value_text(self, kernel: str) -> str:
        """What stands in the place of a kernel."""
        return self._values[kernel].text()

    def _place(self, kernel: str, place: int) -> QLabel:
        row, column = divmod(place, PER_ROW)
        mark, value = QLabel(), QLabel(ABSENT)
        mark.setPixmap(mark_pixmap(kernel, 12))
        mark.setFixedWidth(14)
        mark.setToolTip(kernel)
        value.setProperty("role", "unit")
        value.setMinimumWidth(40)
        value.setToolTip(f"{self._what} of {kernel} at the crosshair")
        self._grid.addWidget(mark, row, 2 * column)
        self._grid.addWidget(value, row, 2 * column + 1)
        return value
