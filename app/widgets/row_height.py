"""The height of a table's rows."""

from PySide6.QtWidgets import QTableView

from flashscope.app.look.zoom import keep


def keep_row_height(table: QTableView, height: float) -> None:
    """Give every row this height, in pixels at 100 %, now and at every other zoom.

    Without a minimum of its own the header takes one from its style sheet, which is still that of the zoom
    before when sizes change: back at a smaller one, rows would stay tall.
    """
    header = table.verticalHeader()
    header.setMinimumSectionSize(1)
    keep(table, header.setDefaultSectionSize, height)
