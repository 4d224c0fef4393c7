"""How cells of the results are painted: from the rows themselves, not asked for role by role."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from flashscope.app.control.guard import guarded
from flashscope.app.pages.profile.results_model import ResultsModel
from flashscope.app.widgets.row_table import Index, alignment

ItemFeature = QStyleOptionViewItem.ViewItemFeature


class CellPainter(QStyledItemDelegate):
    """Paints texts and glyphs.

    A view asks a model in Python for seven roles of every cell, and a proxy asks twice more where each of
    them is: for a table that is painted with every step of a replay too often.

    Attributes:
        places: The source row of each row that is being painted.
    """

    def __init__(self, model: ResultsModel) -> None:
        super().__init__(model)
        self._model = model
        self._sides = [Qt.AlignmentFlag(alignment(column)) for column in model.columns]
        self.places: dict[int, int] = {}

    @guarded()
    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """Give a cell of these rows what it shows."""
        place = self.places.get(index.row())
        if place is None:
            super().initStyleOption(option, index)
            return
        column = index.column()
        option.index = index  # type: ignore[assignment]  # no view paints a persistent one
        option.displayAlignment = self._sides[column]
        option.text, icon = self._model.painted(place, column)
        option.features |= ItemFeature.HasDisplay
        if icon is not None:
            option.icon = icon
            option.decorationSize = icon.actualSize(option.decorationSize)
            option.features |= ItemFeature.HasDecoration
