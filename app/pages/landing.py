"""What becomes of files that are dropped on a place."""

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtWidgets import QWidget


class Landing(NamedTuple):
    """Where files land.

    Attributes:
        place: What takes them.
        words: What happens then, or why nothing does.
        act: Does it; None: nothing does.
    """

    place: QWidget
    words: str
    act: Callable[[], object] | None = None
