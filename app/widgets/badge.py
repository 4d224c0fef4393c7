"""The provenance badge: where the figures on show come from."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.fonts import ui_font
from flashscope.app.look.theme import CAPTION_PX, DARK, Theme
from flashscope.app.look.zoom import px, scaled
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.words.results.provenance import Provenance

READABLE_PX = 150  # however narrow the window is
PADDING_PX = 24  # left and right of the text, with the border


class Badge(ElidedLabel):
    """A pill in the colour of its kind: measured here now, or recorded."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent, padding=PADDING_PX)
        self.setObjectName("badge")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)  # at the left, Qt would indent it beside a border
        self._theme = DARK
        self._kind = "live"

    @guarded(QSize)
    def minimumSizeHint(self) -> QSize:
        """Room for a short text, and for the beginning of a long one."""
        return QSize(min(self.sizeHint().width(), px(READABLE_PX)), super().minimumSizeHint().height())

    def show_provenance(self, provenance: Provenance, before: str = "") -> None:
        """Show other figures' provenance, and what had happened before."""
        kind, self._kind = self._kind, provenance.kind
        told = " · ".join(filter(None, (before, provenance.badge)))
        self.setText(told)
        self.setAccessibleName(f"Provenance: {told}")
        if kind != provenance.kind:
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
