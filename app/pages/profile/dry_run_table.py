"""The dry run as a table: sequence lengths down, kernels across, the verdict at the right."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.pages.profile.dry_run import DryRow, Fit
from app.plots.units import bytes_short, seqlen_full, seqlen_text
from app.theme import CAPTION_PX

ROLES: dict[Fit, str] = {"fits": "ok", "tight": "warn", "will not fit": "error", "unknown": "unit"}
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
ROOMY = 4  # kernels beside which the verdict has room for its word
WORDS: dict[Fit, str] = {"fits": "✓ fits", "tight": "! tight", "will not fit": "× won't fit", "unknown": "–"}


class DryRunTable(QWidget):
    """A few labels in a grid: too small for a model and a view. Labels are reused."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Dry run: predicted bytes of every point")
        self.setStyleSheet(f"QLabel {{ font-size: {CAPTION_PX}px; }}")  # verdicts as small as the figures
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(4)
        self._grid.setVerticalSpacing(3)
        self._labels: dict[tuple[int, int], QLabel] = {}

    def show_rows(self, kernels: Sequence[str], rows: Sequence[DryRow]) -> None:
        """Show these rows."""
        table = [[("N", "unit", ""), *((kernel, "unit", "") for kernel in kernels), ("", "unit", "")]]
        table += [_texts(row) for row in rows]
        used = {(r, c) for r, line in enumerate(table) for c in range(len(line))}
        for place, label in self._labels.items():
            label.setVisible(place in used)
        for r, line in enumerate(table):
            for c, (text, role, tip) in enumerate(line):
                self._write(r, c, text, role, tip)

    def text_at(self, row: int, column: int) -> str:
        """What a cell says; row 0 is the heading."""
        return self._labels[row, column].text()

    def _write(self, row: int, column: int, text: str, role: str, tip: str) -> None:
        label = self._labels.get((row, column))
        if label is None:
            label = self._labels[row, column] = QLabel()
            self._grid.addWidget(label, row, column)
        if label.property("role") != role:
            label.setProperty("role", role)
            label.style().polish(label)
        label.setAlignment(_RIGHT if column else _LEFT)
        label.setText(text)
        label.setToolTip(tip)


def _texts(row: DryRow) -> list[tuple[str, str, str]]:
    cells = [
        (
            bytes_short(cell.predicted_bytes),
            "unit" if cell.fit == "fits" else ROLES[cell.fit],
            f"{cell.kernel}: {seqlen_full(cell.predicted_bytes)} bytes, {cell.fit}",
        )
        for cell in row.cells
    ]
    word = WORDS[row.worst] if len(cells) <= ROOMY else WORDS[row.worst][0]
    return [
        (seqlen_text(row.seqlen), "unit", f"N = {row.seqlen}"),
        *cells,
        (word, ROLES[row.worst], row.worst),
    ]
