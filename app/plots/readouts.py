"""Values under the crosshair, one fixed place for every series."""

from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.plots.marks import mark_pixmap

ABSENT = "–"


class Readouts(QWidget):
    """A mark and a value for each kernel, side by side, each as wide as the others."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what
        self._values: dict[str, QLabel] = {}
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(4)
        self.setFixedHeight(18)

    def set_kernels(self, kernels: Sequence[str]) -> None:
        """Make a place for each of these."""
        if tuple(self._values) == tuple(kernels):
            return
        while (item := self._row.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self._values = {kernel: self._place(kernel) for kernel in kernels}

    def show_value(self, kernel: str, text: str | None, reason: str = "") -> None:
        """Write a value; None: there is none here, `reason` says why."""
        label = self._values[kernel]
        if label.text() != (text or reason or ABSENT):
            label.setText(text or reason or ABSENT)
            label.setAccessibleName(f"{self._what} of {kernel}: {text or reason or 'none'}")

    def value_text(self, kernel: str) -> str:
        """What stands in the place of a kernel."""
        return self._values[kernel].text()

    def _place(self, kernel: str) -> QLabel:
        mark, value = QLabel(), QLabel(ABSENT)
        mark.setPixmap(mark_pixmap(kernel, 12))
        mark.setFixedWidth(14)
        mark.setToolTip(kernel)
        value.setProperty("role", "unit")
        value.setMinimumWidth(40)
        value.setToolTip(f"{self._what} of {kernel} at the crosshair")
        self._row.addWidget(mark)
        self._row.addWidget(value, 1)
        return value
