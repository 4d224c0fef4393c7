"""Cards in rows that are laid out anew where they have other room."""

from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QLayout, QVBoxLayout, QWidget

GAP = 8  # pixels
FIRST_SHARE, OTHERS_SHARE = 13, 9  # of the width of a stage


def row_of(cards: Sequence[QWidget], stretches: Sequence[int]) -> QHBoxLayout:
    """Cards side by side, with these shares of what room is left."""
    row = QHBoxLayout()
    row.setSpacing(GAP)
    for card, stretch in zip(cards, stretches, strict=True):
        row.addWidget(card, stretch)
    return row


def staged(cards: Sequence[QWidget]) -> QHBoxLayout:
    """The first card on the left, the others beside it one under the other."""
    row, others = QHBoxLayout(), QVBoxLayout()
    for layout in (row, others):
        layout.setSpacing(GAP)
    row.addWidget(cards[0], FIRST_SHARE)
    for card in cards[1:]:
        others.addWidget(card, 1)
    if cards[1:]:
        row.addLayout(others, OTHERS_SHARE)
    return row


def let_go_of(layout: QLayout) -> None:
    """Let go of all cards, which stay where they are until they are placed anew."""
    while (item := layout.takeAt(0)) is not None:
        inner = item.layout()
        if inner is not None:
            let_go_of(inner)
            inner.deleteLater()
