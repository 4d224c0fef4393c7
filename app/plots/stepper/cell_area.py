"""Where the cells of a tile lie in a panel."""

from dataclasses import dataclass

from PySide6.QtCore import QRectF

VISIBLE_GAP = 6  # pixels: larger cells stand apart

CellIndex = tuple[int, int]


@dataclass(frozen=True)
class CellArea:
    """Where the cells of a tile lie."""

    x: float
    y: float
    width: float
    height: float
    rows: int
    columns: int

    @property
    def gap(self) -> float:
        """Pixels between two cells, where they are so large that one can see it."""
        return 1.0 if min(self.width, self.height) > VISIBLE_GAP else 0.0

    def rect(self, row: int, column: int) -> QRectF:
        """The rectangle of a cell, with the gap right of it and under it."""
        return QRectF(self.x + column * self.width, self.y + row * self.height, self.width, self.height)

    def row(self, row: int) -> QRectF:
        """The rectangle of a row."""
        return QRectF(self.x, self.y + row * self.height, self.columns * self.width, self.height)

    def column(self, column: int) -> QRectF:
        """The rectangle of a column."""
        return QRectF(self.x + column * self.width, self.y, self.width, self.rows * self.height)

    def find(self, x: float, y: float) -> CellIndex | None:
        """The cell at a place."""
        row, column = int((y - self.y) // self.height), int((x - self.x) // self.width)
        return (row, column) if 0 <= row < self.rows and 0 <= column < self.columns else None
