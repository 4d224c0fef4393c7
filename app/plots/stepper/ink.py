"""The colours of m, alpha, l and O in every panel, and text colours with enough contrast."""

from functools import lru_cache
from typing import Literal

from PySide6.QtGui import QColor

from flashscope.app.look.contrast import contrast, mixed
from flashscope.app.look.kernel_marks import KERNEL_MARKS, LEGIBLE, M_COLOUR, OTHER_MARK
from flashscope.app.look.theme import Theme

Role = Literal["m", "a", "l", "o"]


def role_colour(theme: Theme, role: Role) -> str:
    """The colour of a quantity as a line or a fill."""
    a, o = (mark.on(theme) for mark in (KERNEL_MARKS["flash1"], OTHER_MARK))
    return {"m": M_COLOUR, "a": a, "l": theme.accent, "o": o}[role]


@lru_cache(maxsize=1024)
def mix(one: str, other: str, share: float) -> QColor:
    """A colour between two, `share` of the way from the first to the second."""
    a, b = QColor(one), QColor(other)
    pairs = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    return QColor(*(round(x + (y - x) * share) for x, y in pairs))


def role_ink(theme: Theme, role: Role) -> str:
    """The colour of a quantity as text on a card."""
    return mixed(role_colour(theme, role), theme.text, theme.panel, LEGIBLE)


def on_fill(fill: QColor) -> QColor:
    """Black or white, whichever reads better on a fill."""
    better = max(("#101317", "#FFFFFF"), key=lambda ink: contrast(ink, fill.name()))
    return QColor(better)
