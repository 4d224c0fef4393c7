"""Parts in a line, which breaks into several where there is no room."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLayout, QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded


class Arranging(QWidget):
    """Arranges its parts anew when it has other room, or one of them wants other room."""

    def _arrange(self) -> None:
        raise NotImplementedError

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange them for the room there is."""
        super().resizeEvent(event)
        self._arrange()

    @guarded(bool)
    def event(self, event: QEvent) -> bool:
        """Arrange them, too, when one has become wider or narrower."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._arrange()
        return super().event(event)


class Lines(Arranging):
    """Parts from left to right, in as few lines as their least widths need.

    Args:
        parts: In their order.
        wide: Those of them that take the room which is left in their line.
        spacing: Pixels between two parts, and between two lines.
    """

    def __init__(self, parts: Sequence[QWidget], wide: Sequence[QWidget], spacing: int) -> None:
        super().__init__()
        self._parts, self._wide, self._spacing = tuple(parts), frozenset(wide), spacing
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(spacing)
        self._column.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)  # as narrow as is said below
        self._lines: list[list[QWidget]] = []
        self._arrange()

    @guarded(QSize)
    def minimumSizeHint(self) -> QSize:
        """As narrow as the widest part: the others go into other lines."""
        return QSize(max(map(_least, self._parts)), super().minimumSizeHint().height())

    @guarded(QSize)
    def sizeHint(self) -> QSize:
        """As wide as all of them in one line, as high as they are now."""
        shown = [_least(part) for part in self._parts if not part.isHidden()]
        return QSize(sum(shown) + self._spacing * max(0, len(shown) - 1), super().sizeHint().height())

    def _arrange(self) -> None:
        lines = broken(self._parts, _least, self._spacing, self.width())
        if lines == self._lines:
            return
        self._lines = lines
        while (item := self._column.takeAt(0)) is not None:
            _empty(item.layout())
        for parts in lines:
            line = QHBoxLayout()
            line.setSpacing(self._spacing)
            for part in parts:
                line.addWidget(part, 1 if part in self._wide else 0)
            if not self._wide.intersection(parts):
                line.addStretch(1)
            self._column.addLayout(line)
        self._column.activate()  # or the parts are painted once where the old lines had squeezed them


def broken(
    parts: Sequence[QWidget], wanted: Callable[[QWidget], int], spacing: int, room: int
) -> list[list[QWidget]]:
    """Parts in as few lines as have room for them; a hidden one takes none.

    Args:
        parts: In their order.
        wanted: The pixels of one.
        spacing: Pixels between two.
        room: Pixels of a line.
    """
    lines: list[list[QWidget]] = [[]]
    taken = 0
    for part in parts:
        width = 0 if part.isHidden() else wanted(part) + spacing
        if lines[-1] and taken + width - spacing > room:
            lines.append([])
            taken = 0
        lines[-1].append(part)
        taken += width
    return lines


def _least(part: QWidget) -> int:
    return max(part.minimumSizeHint().width(), part.minimumWidth())


def _empty(line: QLayout | None) -> None:
    """Let go of the parts: a layout that is deleted leaves them where they are."""
    while line is not None and line.takeAt(0) is not None:
        pass
