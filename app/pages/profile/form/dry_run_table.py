"""The dry run as a table: sequence lengths down, kernels across, the verdict at the right.

More kernels than fit across are told by the one that needs most.
"""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from flashscope.app.pages.profile.form.dry_run import DryCell, DryRow, Fit
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.words.glossary import line_of, with_line
from flashscope.app.words.units import bytes_short, seqlen_text, share_text, thousands
from flashscope.kernels.catalogue.registry import own_kernel

ROLES: dict[Fit, str] = {
    "fits": "ok",
    "tight": "warn",
    "cannot run": "warn",
    "will not fit": "error",
    "unknown": "unit",
}
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
ACROSS = 4  # kernels that fit side by side
ROOMY = 4  # figures beside which the verdict has room for its word
WORDS: dict[Fit, str] = {
    "fits": "✓ fits",
    "tight": "! tight",
    "cannot run": "◇ can't run",
    "will not fit": "× won't fit",
    "unknown": "–",
}


class Cell(NamedTuple):
    """One cell: its text, the role of its label, its tool tip."""

    text: str
    role: str = "unit"
    tip: str = ""


class DryRunTable(QWidget):
    """A few labels in a grid: too small for a model and a view. Labels are reused."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Dry run: predicted bytes of every point")
        self.setObjectName("dryRun")
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(4)
        self._grid.setVerticalSpacing(3)
        self._labels: dict[tuple[int, int], PlainLabel] = {}

    def show_rows(self, kernels: Sequence[str], rows: Sequence[DryRow]) -> None:
        """Show these rows."""
        narrow = len(kernels) <= ACROSS
        masked = any(row.kept_share < 1 for row in rows)
        headings = ["N", *(kernels if narrow else ("most", "by")), *(["kept"] if masked else []), ""]
        table = [[Cell(text, tip=line_of(text)) for text in headings]]
        table += [_cells(row, masked=masked) if narrow else _most(row, masked=masked) for row in rows]
        used = {(r, c) for r, line in enumerate(table) for c in range(len(line))}
        for place, label in self._labels.items():
            label.setVisible(place in used)
        for r, line in enumerate(table):
            for c, cell in enumerate(line):
                self._write(r, c, cell)

    def text_at(self, row: int, column: int) -> str:
        """What a cell says; row 0 is the heading."""
        return self._labels[row, column].text()

    def _write(self, row: int, column: int, cell: Cell) -> None:
        label = self._labels.get((row, column))
        if label is None:
            label = self._labels[row, column] = PlainLabel()
            self._grid.addWidget(label, row, column)
        if label.property("role") != cell.role:
            label.setProperty("role", cell.role)
            label.style().polish(label)
        label.setAlignment(_RIGHT if column else _LEFT)
        label.setText(cell.text)
        set_tip(label, cell.tip)


def _cells(row: DryRow, *, masked: bool) -> list[Cell]:
    """Every kernel's bytes."""
    figures = [_figure(cell, _tip(cell)) for cell in row.cells] + _kept(row, masked=masked)
    word = WORDS[row.worst] if len(figures) <= ROOMY else WORDS[row.worst][0]
    tip = "\n".join(cell.refused for cell in row.cells if cell.refused) or row.worst
    return [_seqlen(row), *figures, Cell(word, ROLES[row.worst], tip)]


def _most(row: DryRow, *, masked: bool) -> list[Cell]:
    """The most bytes and whose they are; all kernels' in the tip."""
    most = max(row.cells, key=lambda cell: (not cell.refused, cell.predicted_bytes))
    tip = "\n".join(map(_tip, row.cells))
    verdict = Cell(_counted(row), ROLES[row.worst], tip)
    return [
        _seqlen(row),
        _figure(most, tip),
        Cell(most.kernel, tip=with_line(most.kernel, tip)),
        *_kept(row, masked=masked),
        verdict,
    ]


def _counted(row: DryRow) -> str:
    """The verdict's word, with how many kernels it is about where these will not be measured."""
    mark, _, word = WORDS[row.worst].partition(" ")
    lost = row.worst in {"will not fit", "cannot run"}
    return f"{mark} {sum(cell.fit == row.worst for cell in row.cells)} {word}" if lost else WORDS[row.worst]


def _seqlen(row: DryRow) -> Cell:
    return Cell(seqlen_text(row.seqlen), tip=f"N = {row.seqlen}")


def _figure(cell: DryCell, tip: str) -> Cell:
    if cell.refused:
        return Cell("–", ROLES[cell.fit], tip)
    return Cell(bytes_short(cell.predicted_bytes), "unit" if cell.fit == "fits" else ROLES[cell.fit], tip)


def _kept(row: DryRow, *, masked: bool) -> list[Cell]:
    tip = f"The masks keep {row.kept_share:.4%} of the query-key pairs"
    return [Cell(share_text(row.kept_share), tip=tip)] if masked else []


def _tip(cell: DryCell) -> str:
    if cell.refused:
        return cell.refused
    spec = own_kernel(cell.kernel)
    more = " besides what it allocates itself" if spec and spec.allocates_unseen else ""
    return f"{cell.kernel}: {thousands(cell.predicted_bytes)} bytes{more}, {cell.fit}"
