"""The controls that the Tab key leads to, in the order in which they are read.

Qt goes by the order in which widgets were made. Here parts of the same whole are read as a page is: from top
to bottom where a line can be drawn between them, else from left to right; what is in a part is read with it.
"""

from collections.abc import Callable, Collection, Sequence

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QWidget

CUTS = (QRect.top, QRect.bottom), (QRect.left, QRect.right)


def takes_tab(widget: QWidget) -> bool:
    """Whether the Tab key may give it the focus."""
    policy = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    return policy == Qt.FocusPolicy.TabFocus and widget.focusProxy() is None and widget.isEnabled()


def reading_order(whole: QWidget, also: Collection[QWidget] = ()) -> list[QWidget]:
    """What in a widget takes the Tab key and is on show, and what of `also` is."""
    own = [whole] if takes_tab(whole) or whole in also else []
    children = whole.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    held = {child: reading_order(child, also) for child in children if _on_show(child)}
    return own + [
        one for part in _in_lines([part for part, has in held.items() if has]) for one in held[part]
    ]


def _on_show(child: QWidget) -> bool:
    return child.isVisible() and not child.isWindow()


def _in_lines(parts: Sequence[QWidget]) -> list[QWidget]:
    """Parts of one whole as they are read; where they lie over each other, by their corners."""
    if len(parts) < 2:  # noqa: PLR2004 - one has no order
        return list(parts)
    for start, end in CUTS:
        groups = _cut(parts, start, end)
        if len(groups) > 1:
            return [part for group in groups for part in _in_lines(group)]
    return sorted(parts, key=lambda part: (part.y(), part.x()))


def _cut(
    parts: Sequence[QWidget], start: Callable[[QRect], int], end: Callable[[QRect], int]
) -> list[list[QWidget]]:
    """The parts in groups with room for a line between one and the next."""
    groups: list[list[QWidget]] = []
    reached = 0
    for part in sorted(parts, key=lambda part: start(part.geometry())):
        if groups and start(part.geometry()) <= reached:
            groups[-1].append(part)
            reached = max(reached, end(part.geometry()))
        else:
            groups.append([part])
            reached = end(part.geometry())
    return groups
