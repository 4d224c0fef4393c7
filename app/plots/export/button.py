"""The button on the card of a plot whose menu exports it."""

import qtawesome
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from flashscope.app.look.theme import Theme
from flashscope.app.plots.export.exporter import Exporter, MakeExport
from flashscope.app.widgets.buttons import ICON_PX, IconButton, size_icon
from flashscope.app.widgets.plain import set_tip


class ExportButton(IconButton):
    """Has a menu of what an exporter writes; where it is hidden, as on a stage, nothing is exported.

    Attributes:
        exporter: Writes it.
    """

    def __init__(
        self, what: str, make_export: MakeExport, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.exporter = Exporter(make_export, self, self.isVisible)
        self.setProperty("role", "quiet")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.rename(what)
        menu = QMenu(self)
        self.exporter.fill(menu)
        self.setMenu(menu)
        size_icon(self, ICON_PX)
        self.apply_theme(theme)

    def rename(self, what: str) -> None:
        """Say that the button exports something else."""
        self.setAccessibleName(f"Export {what}")
        set_tip(self, f"Export {what}: PNG, SVG, CSV or clipboard")

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the icon."""
        self.setIcon(qtawesome.icon("mdi6.tray-arrow-down", color=theme.dim))
