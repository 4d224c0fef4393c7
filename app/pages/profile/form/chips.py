"""Sequence lengths: a text field, and what it means as chips that can be removed one by one."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QPushButton, QVBoxLayout, QWidget
from superqt import QFlowLayout

from flashscope.app.pages.profile.form.fields import dress_field
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.words.units import seqlen_text
from flashscope.profiles.plan.choice import Declared
from flashscope.profiles.plan.seqlens import SeqlenError, format_seqlens, parse_seqlens

SHOWN = 24  # chips; the field itself holds them all


class SeqlenChips(QWidget):
    """The text is the truth; the chips follow it while one types.

    Attributes:
        seqlens: What the text means; the last valid lengths are not kept, an invalid text means none.

    Signals:
        changed: The lengths are others, or the text became invalid.
    """

    changed = Signal()

    def __init__(self, declared: Declared) -> None:
        super().__init__()
        self.seqlens: tuple[int, ...] = ()
        self._chips: list[QPushButton] = []
        self.field = QLineEdit()
        self.field.setPlaceholderText("256:16384, 256:4096:256 or a list")
        dress_field(self.field, declared.choice.label, declared.choice.help)
        self.field.textChanged.connect(self._read)
        self.message = PlainLabel()
        self.message.setProperty("role", "error")
        self.message.setWordWrap(True)
        self.message.hide()
        self._area = QWidget()
        self._flow = QFlowLayout(self._area)
        self._flow.setContentsMargins(0, 0, 0, 0)
        self._flow.setSpacing(5)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        for widget in (self.field, self.message, self._area):
            column.addWidget(widget)

    def set_seqlens(self, seqlens: Sequence[int]) -> None:
        """Write these lengths into the field."""
        self.field.setText(format_seqlens(seqlens))

    @property
    def error(self) -> str:
        """Why the text means nothing, empty when it does."""
        return "" if self.message.isHidden() else self.message.text()

    def _read(self, text: str) -> None:
        try:
            self.seqlens, error = parse_seqlens(text), ""
        except SeqlenError as refused:
            self.seqlens, error = (), str(refused)
        self.message.setText(error)
        self.message.setVisible(bool(error))
        self._show_chips()
        self.changed.emit()

    def _show_chips(self) -> None:
        for chip in self._chips:
            self._flow.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self._chips = [self._chip(seqlen) for seqlen in self.seqlens[:SHOWN]]
        for chip in self._chips:
            self._flow.addWidget(chip)

    def _chip(self, seqlen: int) -> QPushButton:
        chip = QPushButton(f"{seqlen_text(seqlen)} ×")
        chip.setProperty("role", "chip")
        chip.setAccessibleName(f"Remove sequence length {seqlen}")
        set_tip(chip, f"Remove N = {seqlen}")
        chip.clicked.connect(partial(self._remove, seqlen))
        return chip

    def _remove(self, seqlen: int) -> None:
        left = [n for n in self.seqlens if n != seqlen]
        self.field.setText(format_seqlens(left))
