"""The provenance badge: where the figures on show come from."""

from PySide6.QtWidgets import QWidget

from app.look.fonts import ui_font
from app.look.theme import CAPTION_PX, DARK, Theme
from app.look.zoom import keep, scaled
from app.widgets.elided import ElidedLabel
from app.words.provenance import Provenance

PADDING_PX = 24  # left and right of the text, with the border


class Badge(ElidedLabel):
    """A pill in the colour of its kind: measured here now, or recorded."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent, padding=PADDING_PX)
        keep(self, self.setMinimumWidth, PADDING_PX + CAPTION_PX)
        self.setObjectName("badge")
        self._theme = DARK
        self._kind = "live"

    def show_provenance(self, provenance: Provenance) -> None:
        """Show other figures' provenance."""
        self._kind = provenance.kind
        self.setText(provenance.badge)
        self.setAccessibleName(f"Provenance: {provenance.badge}")
        self._paint()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        self.setFont(ui_font(CAPTION_PX, bold=True))
        self._paint()

    def _paint(self) -> None:
        colour = self._theme.ok if self._kind == "live" else self._theme.warn
        self.setStyleSheet(
            scaled(
                f"QLabel {{ color: {colour}; border: 1px solid {colour}; border-radius: 9px;"
                f" padding: 2px 10px; }}"
            )
        )
