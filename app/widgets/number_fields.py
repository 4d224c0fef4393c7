"""Number fields: they leave to shortcuts what no number is typed with, and say what they refuse or change."""

from typing import TYPE_CHECKING, TypeAlias, cast

from PySide6.QtCore import QEvent, QLocale
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QAbstractSpinBox, QDoubleSpinBox, QSpinBox, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.widgets.frame.typing_guard import belongs_to_input
from flashscope.app.widgets.remark import remark, take_back
from flashscope.app.widgets.wheel import WheelInFocus

# What both kinds of fields extend; it stands before Qt's class of each, and Qt's classes allow no other.
if TYPE_CHECKING:

    class _SpinBox(WheelInFocus, QAbstractSpinBox): ...

else:
    _SpinBox = WheelInFocus
MOST_QUOTED = 20  # characters of what was typed or pasted


class _Judging(_SpinBox):
    """What both kinds of fields do with what is typed.

    Attributes:
        judged: The text that was looked at last: the one refused, when one is.
    """

    judged = ""

    @guarded(bool)
    def event(self, event: QEvent) -> bool:
        """Let a shortcut have its key; Qt's own field takes letters from shortcuts, too."""
        return False if _is_for_shortcuts(event, self) else super().event(event)

    @guarded(lambda: QValidator.State.Acceptable)
    def validate(self, text: str, place: int) -> object:
        """Keep what is judged; Qt would take 1,5 for 15, and show the word for its least and keep another."""
        self.judged = text
        if self.is_word(text):
            return QValidator.State.Acceptable, text, place
        return super().validate(text, place) if "," not in text else (QValidator.State.Invalid, text, place)

    def is_word(self, text: str) -> bool:
        """Whether it is the word that stands for its least."""
        return bool(text) and text == self.specialValueText()

    @guarded(str)
    def fixup(self, text: str) -> str:
        """Say that the number before stays where none was typed."""
        remark(self, _kept(cast("NumberField", self), text))
        return super().fixup(text)


class WholeField(_Judging, QSpinBox):
    """A whole number."""

    def __init__(self) -> None:
        super().__init__()
        _watch(self)

    @guarded(int)
    def valueFromText(self, text: str) -> int:
        """Its least for the word that stands for it."""
        return self.minimum() if self.is_word(text) else super().valueFromText(text)

    @property
    def being_typed(self) -> bool:
        """Whether its text is not its number yet."""
        return self.hasFocus() and self.cleanText() != self.textFromValue(self.value())


class DecimalField(_Judging, QDoubleSpinBox):
    """A number with decimals."""

    @guarded(float)
    def valueFromText(self, text: str) -> float:
        """Its least for the word that stands for it."""
        return self.minimum() if self.is_word(text) else super().valueFromText(text)

    def __init__(self) -> None:
        super().__init__()
        _watch(self)


NumberField: TypeAlias = WholeField | DecimalField


def whole_field(name: str, low: int, high: int, value: int) -> WholeField:
    """A field of this name with its bounds and the number that it begins with."""
    field = WholeField()
    field.setRange(low, high)
    field.setValue(value)
    field.setAccessibleName(name)
    return field


def _is_for_shortcuts(event: QEvent, field: QWidget) -> bool:
    return event.type() == QEvent.Type.ShortcutOverride and not belongs_to_input(event, field)


def _watch(field: NumberField) -> None:
    """Say what is wrong with what is typed, for as long as it is; numbers are those of the command line."""
    field.setLocale(QLocale.c())
    field.lineEdit().inputRejected.connect(lambda: remark(field, f"{_refused(field, field.judged)}."))
    field.lineEdit().textEdited.connect(lambda text: _follow(field, text))
    field.valueChanged.connect(lambda _value: take_back(field))


def _follow(field: NumberField, text: str) -> None:
    if field.hasAcceptableInput() or not _typed(field, text):
        take_back(field)
    else:
        remark(field, _kept(field, text), lasting=True)


def _kept(field: NumberField, text: str) -> str:
    return f"{_refused(field, text)}: it stays {field.value():.10g}{field.suffix()}."


def _refused(field: NumberField, text: str) -> str:
    typed = _typed(field, text)
    quoted = typed if len(typed) <= MOST_QUOTED else f"{typed[:MOST_QUOTED]}…"
    return f"{f'‘{quoted}’' if typed else 'Nothing'} is not {_span(field)}"


def _typed(field: NumberField, text: str) -> str:
    return text.removeprefix(field.prefix()).removesuffix(field.suffix()).strip()


def _span(field: NumberField) -> str:
    """What a field takes, in words."""
    special = f" ({field.specialValueText()})" if field.specialValueText() else ""
    span = f"from {field.minimum():.10g}{special} to {field.maximum():.10g}{field.suffix()}"
    if isinstance(field, WholeField):
        return f"a whole number {span}"
    return f"a number {span} with at most {field.decimals()} decimals"
