"""The colours of m, alpha, l and O in every panel, and text colours with enough contrast."""

from functools import lru_cache
from typing import Literal

from PySide6.QtGui import QColor

from app.look.theme import KERNEL_MARKS, M_COLOUR, OTHER_MARK, Theme

Role = Literal["m", "a", "l", "o"]
READABLE = 4.5  # contrast that WCAG 2.1 asks of text


def role_colour(theme: Theme, role: Role) -> str:
    """The colour of a quantity as a line or a fill."""
    colours = {"m": M_COLOUR, "a": KERNEL_MARKS["flash1"].colour, "l": theme.accent, "o": OTHER_MARK.colour}
    return colours[role]


def luminance(colour: QColor) -> float:
    """Relative luminance, 0 to 1 (WCAG 2.1)."""
    channels = (colour.redF(), colour.greenF(), colour.blueF())
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]  # noqa: PLR2004 - sRGB
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: QColor, other: QColor) -> float:
    """Contrast ratio, 1 to 21 (WCAG 2.1)."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@lru_cache(maxsize=1024)
def mix(one: str, other: str, share: float) -> QColor:
    """A colour between two, `share` of the way from the first to the second."""
    a, b = QColor(one), QColor(other)
    pairs = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    return QColor(*(round(x + (y - x) * share) for x, y in pairs))


@lru_cache(maxsize=64)
def ink(colour: str, text: str, paper: str) -> str:
    """The colour, mixed with as much of the text colour as it takes to be readable on the background."""
    for step in range(11):
        mixed = mix(colour, text, step / 10)
        if contrast(mixed, QColor(paper)) >= READABLE:
            return mixed.name()
    return text


def role_ink(theme: Theme, role: Role) -> str:
    """The colour of a quantity as text on a card."""
    return ink(role_colour(theme, role), theme.text, theme.panel)


def on_fill(fill: QColor) -> QColor:
    """Black or white, whichever reads better on a fill."""
    dark, light = QColor("#101317"), QColor("#FFFFFF")
    return dark if contrast(dark, fill) >= contrast(light, fill) else light
