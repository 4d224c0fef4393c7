"""Text for the clipboard: it may be pasted into a terminal, which would obey what controls it."""

from PySide6.QtGui import QGuiApplication

from flashscope.profiles.wire.text import harmless


def copy_text(text: str) -> None:
    """Put a text on the clipboard, without control characters."""
    QGuiApplication.clipboard().setText(harmless(text))
