"""The inputs of the form. A choice's name, hint, range and unit are those of its declaration."""

from collections.abc import Sequence
from math import isqrt
from typing import Any, TypeAlias, TypeVar

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from flashscope.app.control.guard import guarded
from flashscope.app.look.zoom import keep
from flashscope.app.widgets.number_fields import DecimalField, WholeField
from flashscope.app.widgets.plain import set_tip
from flashscope.app.widgets.remark import remark, take_back
from flashscope.app.widgets.term_label import TermBox, TermLabel, tell_terms
from flashscope.app.widgets.wheel import ChoiceBox
from flashscope.app.words.glossary import with_line
from flashscope.kernels.workload.lengths import PAGE_SIZES
from flashscope.profiles.plan.choice import Declared

FIELD_PX = 30
DEFAULT_SIDE = 128
DECIMALS = 3
W = TypeVar("W", bound=QWidget)


class Whole(WholeField):
    """A whole number."""

    def __init__(self, declared: Declared) -> None:
        super().__init__()
        choice = declared.choice
        self.setRange(int(choice.low), int(choice.high))
        self.setSingleStep(choice.step)
        _dress_number(self, declared)

    @property
    def changed(self) -> SignalInstance:
        """Another value was chosen."""
        return self.valueChanged

    def chosen(self) -> int:
        """The number."""
        return self.value()

    def choose(self, number: int) -> None:
        """Show a number, or the nearest in the range: one beyond 32 bits would raise in Qt."""
        self.setValue(min(max(number, self.minimum()), self.maximum()))


class Decimal(DecimalField):
    """A number with a unit; it shows the decimals that it has, but one at least."""

    def __init__(self, declared: Declared) -> None:
        super().__init__()
        self.setDecimals(DECIMALS)
        self.setRange(declared.choice.low, declared.choice.high)
        self.setSingleStep(declared.choice.step)
        self.setSuffix(f" {declared.choice.unit}" if declared.choice.unit else "")
        _dress_number(self, declared)

    @property
    def changed(self) -> SignalInstance:
        """Another value was chosen."""
        return self.valueChanged

    def chosen(self) -> float:
        """The number."""
        return self.value()

    def choose(self, number: float) -> None:
        """Show a number, or the nearest in the range."""
        self.setValue(number)

    @guarded(str)
    def textFromValue(self, number: float) -> str:
        """The number without the zeros at its end."""
        text = super().textFromValue(number).rstrip("0")
        return text if text[-1:].isdigit() else f"{text}0"


class OpenDecimal(Decimal):
    """A number that may be left open, which is what 0 stands for."""

    def __init__(self, declared: Declared) -> None:
        super().__init__(declared)
        self.setMinimum(0)
        self.setSpecialValueText(declared.choice.unset)

    def chosen(self) -> float | None:  # type: ignore[override]
        """The number; None where it is left open."""
        return self.value() or None

    def choose(self, number: float | None) -> None:
        """Show a number, or the nearest in the range."""
        super().choose(number or 0)


class OpenWhole(Whole):
    """A whole number that may be left open, which is what 0 stands for."""

    def __init__(self, declared: Declared) -> None:
        super().__init__(declared)
        self.setMinimum(0)
        self.setSpecialValueText(declared.choice.unset)

    def chosen(self) -> int | None:  # type: ignore[override]
        """The number; None where it is left open."""
        return self.value() or None

    def choose(self, number: int | None) -> None:
        """Show a number, or the nearest in the range."""
        super().choose(number or 0)


class Words(TermBox):
    """A choice among words; of a switch, the first word stands for True."""

    def __init__(self, declared: Declared) -> None:
        super().__init__(declared.choice.label, declared.choice.help)
        self._of_switch = declared.choice.words
        self.offer(self._of_switch or declared.options)
        self.setMinimumContentsLength(4)

    @property
    def changed(self) -> SignalInstance:
        """Another word was chosen."""
        return self.currentTextChanged

    def offer(self, words: Sequence[str]) -> None:
        """Offer these words instead."""
        self.clear()
        self.addItems(list(words))
        tell_terms(self)

    def chosen(self) -> Any:
        """The word, or what it says of the switch."""
        word = self.currentText()
        return word == self._of_switch[0] if self._of_switch else word

    def choose(self, value: Any) -> None:
        """Show a word, or the state of the switch."""
        self.setCurrentText(self._of_switch[not value] if self._of_switch else value)


class SwitchField(QCheckBox):
    """A switch."""

    def __init__(self, declared: Declared) -> None:
        super().__init__(declared.choice.label)
        set_tip(self, with_line(declared.choice.label, declared.choice.help))

    @property
    def changed(self) -> SignalInstance:
        """The switch was clicked."""
        return self.toggled

    def chosen(self) -> bool:
        """Whether it is on."""
        return self.isChecked()

    def choose(self, on: bool) -> None:
        """Switch it."""
        self.setChecked(on)


class KvHeads(ChoiceBox):
    """A number of key and value heads among the divisors of the heads; the first means as many as these."""

    def __init__(self, declared: Declared) -> None:
        super().__init__()
        self._wanted: int | None = None  # what was chosen last, also while it divides nothing
        self.activated.connect(lambda _place: self._want(self.chosen()))
        self.setMinimumContentsLength(4)
        dress_field(self, declared.choice.label, declared.choice.help)

    @property
    def changed(self) -> SignalInstance:
        """Another number was chosen."""
        return self.currentTextChanged

    def offer(self, heads: int) -> None:
        """Offer every divisor of the heads; what was chosen is shown where it is one, else that is told."""
        small = [n for n in range(1, isqrt(heads) + 1) if heads % n == 0]
        self.blockSignals(True)
        self.clear()
        self.addItems([str(n) for n in sorted({*small, *(heads // n for n in small)}, reverse=True)])
        self._show_wanted()
        self.blockSignals(False)
        if self._wanted == self.chosen():
            take_back(self)
        else:
            remark(self, f"{self._wanted} does not divide {heads}: as many as heads.", lasting=True)

    def chosen(self) -> int | None:
        """The number; None for as many as there are heads."""
        return int(self.currentText()) if self.currentIndex() > 0 else None

    def choose(self, number: int | None) -> None:
        """Show a number; one that is not offered becomes as many as there are heads."""
        self._want(number)
        self._show_wanted()

    def _want(self, number: int | None) -> None:
        self._wanted = number
        take_back(self)

    def _show_wanted(self) -> None:
        self.setCurrentIndex(max(0, self.findText(str(self._wanted))))


class PageSize(ChoiceBox):
    """A number of keys of a page among those there are; the first means no pages."""

    def __init__(self, declared: Declared) -> None:
        super().__init__()
        self.addItems(["none", *map(str, PAGE_SIZES)])
        self.setMinimumContentsLength(4)
        dress_field(self, declared.choice.label, declared.choice.help)

    @property
    def changed(self) -> SignalInstance:
        """Another size was chosen."""
        return self.currentTextChanged

    def chosen(self) -> int | None:
        """The keys of a page; None without pages."""
        return int(self.currentText()) if self.currentIndex() > 0 else None

    def choose(self, size: int | None) -> None:
        """Show a size."""
        self.setCurrentIndex(max(0, self.findText(str(size))))


Input: TypeAlias = Whole | Decimal | Words | SwitchField | KvHeads | PageSize


OPEN: dict[Any, type[OpenWhole | OpenDecimal]] = {int: OpenWhole, float: OpenDecimal}


def input_of(declared: Declared) -> Input:
    """The input of an ordinary choice: a number, a word or a switch.

    Raises:
        TypeError: It is of another type and needs an input of its own.
    """
    if declared.choice.words or declared.options:
        return Words(declared)
    made: dict[Any, type[SwitchField | Whole | Decimal]] = {bool: SwitchField, int: Whole, float: Decimal}
    if declared.choice.unset and declared.kind in OPEN:
        return OPEN[declared.kind](declared)
    if declared.kind not in made:
        raise TypeError(f"the form has no input for {declared.name}, a choice of type {declared.kind}")
    return made[declared.kind](declared)


def side(declared: Declared, name: str) -> Whole:
    """One side of a window: a number of keys, or all."""
    box = Whole(declared)
    box.setSpecialValueText("all")
    box.setValue(DEFAULT_SIDE)
    dress_field(box, name, declared.choice.help)
    return box


def labelled(field: QWidget) -> QWidget:
    """The field under its name, whose tip says what that means; a tick box says its name itself."""
    if isinstance(field, QCheckBox):
        return field
    box = QWidget()
    column = QVBoxLayout(box)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(2)
    name = TermLabel(field.accessibleName())
    name.setProperty("role", "unit")
    name.setBuddy(field)
    column.addWidget(name)
    keep(field, field.setFixedHeight, FIELD_PX)
    column.addWidget(field)
    return box


def dress_field(field: W, name: str, hint: str) -> W:
    """Give a field its name and its hint."""
    field.setAccessibleName(name)
    set_tip(field, hint)
    return field


def _dress_number(box: QAbstractSpinBox, declared: Declared) -> None:
    """No arrows, and as narrow as its place: the largest number would make the form too wide."""
    box.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.NoButtons)
    box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
    dress_field(box, declared.choice.label, f"{declared.choice.help} ({declared.span})")
