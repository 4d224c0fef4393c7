"""How large everything is: one factor for fonts, the stylesheet and every size that is fixed in pixels."""

import re
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal


class Zoom(QObject):
    """The factor in use.

    Attributes:
        factor: 1.0 for 100 %; `Appearance.zoom` changes it, so that all the rest follows.

    Signals:
        changed: Another factor is in use.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.factor = 1.0


ZOOM = Zoom()


def px(length: float) -> int:
    """Pixels at the zoom in use of a length given for 100 %."""
    return round(length * ZOOM.factor)


def scaled(sheet: str) -> str:
    """A style sheet with every length in px at the zoom in use; no line gets thinner than a pixel."""
    return re.sub(r"\b(\d+)px", lambda length: f"{max(px(int(length[1])), min(1, int(length[1])))}px", sheet)


def keep(owner: QObject, set_size: Callable[..., object], *lengths: float) -> None:
    """Set a size now, and anew at every other zoom for as long as its owner lives.

    Args:
        owner: What has the size.
        set_size: Gets the lengths in pixels at the zoom in use.
        lengths: Those for 100 %.
    """
    _Kept(owner, set_size, lengths).apply()


class _Kept(QObject):
    """Goes with its owner, and so does its connection."""

    def __init__(self, owner: QObject, set_size: Callable[..., object], lengths: tuple[float, ...]) -> None:
        super().__init__(owner)
        self._set_size, self._lengths = set_size, lengths
        ZOOM.changed.connect(self.apply)

    def apply(self) -> None:
        self._set_size(*map(px, self._lengths))
