"""Cards in rows that are laid out anew where they have other room."""

from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QLayout, QWidget

GAP = 8  # pixels


def row_of(cards: Sequence[QWidget], stretches: Sequence[int]) -> QHBoxLayout:
    """Cards side by side, with these shares of what room is left."""
    row = QHBoxLayout()
    row.setSpacing(GAP)
    for card, stretch in zip(cards, stretches, strict=True):
        row.addWidget(card, stretch)
    return row


def let_go_of(layout: QLayout) -> None:
    """Let go of all cards, which stay where they are until they are placed anew."""
    while (item := layout.takeAt(0)) is not None:
        inner = item.layout()
        if inner is not None:
            let_go_of(inner)
            inner.deleteLater()
