"""The bundled fonts, loaded once, so that the window looks the same on every machine."""

from PySide6.QtGui import QFont, QFontDatabase

from flashscope.app.look.assets import ASSETS
from flashscope.app.look.theme import TEXT_PX
from flashscope.app.look.zoom import px

FONTS = ASSETS / "fonts"
UI_FAMILIES = ["Inter", "DejaVu Sans", "DejaVu Sans Mono"]  # the last has the symbols that Inter lacks
MONO_FAMILIES = ["DejaVu Sans Mono", "Inter", "monospace"]  # the first lacks ℓ, the second has it


def load_fonts() -> list[str]:
    """Register every bundled font with Qt and return the families; needs a QGuiApplication."""
    families: list[str] = []
    for path in sorted(FONTS.glob("*.[ot]tf")):
        families += QFontDatabase.applicationFontFamilies(QFontDatabase.addApplicationFont(str(path)))
    return families


def ui_font(size: int = TEXT_PX, *, bold: bool = False) -> QFont:
    """The window's font with tabular figures: digits of one width, so that numbers do not jitter."""
    return _font(UI_FAMILIES, size, bold=bold)


def mono_font(size: float = TEXT_PX - 1) -> QFont:
    """The font of code, logs and shell commands."""
    font = _font(MONO_FAMILIES, size, bold=False)
    font.setStyleHint(QFont.StyleHint.Monospace)
    return font


def _font(families: list[str], size: float, *, bold: bool) -> QFont:
    font = QFont()
    font.setFamilies(families)
    font.setPixelSize(px(size))
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font
