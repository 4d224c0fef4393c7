"""The small inputs of the form, each with its name, its hint and its accessible name."""

from collections.abc import Sequence
from typing import TypeVar

from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from kernels.problem import UNBOUNDED

FIELD_PX = 30
LONGEST = 1 << 24  # keys; no sequence here is longer
DEFAULT_SIDE = 128
W = TypeVar("W", bound=QWidget)


def choice(name: str, offered: Sequence[str], hint: str) -> QComboBox:
    """A choice among words."""
    box = QComboBox()
    box.addItems(list(offered))
    box.setMinimumContentsLength(4)
    return _named(box, name, hint)


def number(name: str, lowest: int, highest: int, step: int, hint: str) -> QSpinBox:
    """A whole number."""
    box = QSpinBox()
    box.setRange(lowest, highest)
    box.setSingleStep(step)
    box.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.NoButtons)
    return _named(box, name, f"{hint} ({lowest} to {highest})")


def fit(box: QSpinBox, value: int) -> None:
    """Show a number, or the nearest in the range: one beyond 32 bits would raise in Qt."""
    box.setValue(min(max(value, box.minimum()), box.maximum()))


def side(name: str, hint: str) -> QSpinBox:
    """One side of a window: a number of keys, or all."""
    box = number(name, UNBOUNDED, LONGEST, 1, hint)
    box.setSpecialValueText("all")
    box.setValue(DEFAULT_SIDE)
    box.setToolTip(f"{hint} ({UNBOUNDED}: all)")
    return box


def decimal(name: str, lowest: float, highest: float, unit: str, hint: str) -> QDoubleSpinBox:
    """A number with a unit."""
    box = QDoubleSpinBox()
    box.setRange(lowest, highest)
    box.setDecimals(1)
    box.setSuffix(f" {unit}")
    box.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.NoButtons)
    return _named(box, name, f"{hint} ({lowest:g} to {highest:g} {unit})")


def tick(name: str, hint: str) -> QCheckBox:
    """A box that is ticked or not."""
    box = QCheckBox(name)
    box.setToolTip(hint)
    return box


def labelled(field: QWidget) -> QWidget:
    """The field under its name; a tick box says its name itself."""
    if isinstance(field, QCheckBox):
        return field
    box = QWidget()
    column = QVBoxLayout(box)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(2)
    name = QLabel(field.accessibleName())
    name.setProperty("role", "unit")
    name.setBuddy(field)
    column.addWidget(name)
    field.setFixedHeight(FIELD_PX)
    column.addWidget(field)
    return box


def _named(field: W, name: str, hint: str) -> W:
    field.setAccessibleName(name)
    field.setToolTip(hint)
    return field
