"""Which query-key pairs the form keeps: the choice of a mask, and the fields that its kind needs."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QLineEdit, QWidget

from flashscope.app.pages.profile.form.fields import SwitchField, dress_field, labelled, side
from flashscope.app.widgets.term_label import tell_terms
from flashscope.app.widgets.wheel import ChoiceBox
from flashscope.kernels.workload.block_pattern import BLOCK, EXAMPLES, BlockPattern
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.plan.choice import Declared
from flashscope.profiles.plan.request import Request

NONE, CAUSAL, WINDOW, BLOCKS = MASKS = ("none", "causal", "window", "blocks")
BLOCK_SIZES = ("64", "128", "256", "512")


class MaskFields(QWidget):
    """The fields of a window or of a block mask; nothing for no mask and for causal.

    Attributes:
        kind: The choice among the masks; it stands elsewhere in the form.

    Signals:
        changed: Another mask.
    """

    changed = Signal()
    names = ("causal", "window", "blocks", "block_size")  # the choices that are made here

    def __init__(self, declared: Mapping[str, Declared]) -> None:
        super().__init__()
        self._declared = declared
        self.kind = dress_field(
            ChoiceBox(), "mask", "\n".join(f"{name}: {hint}" for name, hint in self._hints())
        )
        self.kind.addItems(list(MASKS))
        tell_terms(self.kind)
        self.kind.setMinimumContentsLength(4)
        self.left = side(declared["window"], "keys before")
        self.right = side(declared["window"], "keys after")
        self._text = QLineEdit()
        self._text.setAccessibleName("Pattern of blocks")
        self.pattern = self._offering("blocks", EXAMPLES)
        self.pattern.setLineEdit(self._text)
        self.pattern.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.block_size = self._offering("block_size", BLOCK_SIZES)
        self.block_size.setCurrentText(str(BLOCK))
        self.causal = SwitchField(declared["causal"])
        self.causal.setText("causal too")
        fields = {WINDOW: (self.left, self.right), BLOCKS: (self.pattern, self.block_size, self.causal)}
        self._boxes = {kind: [labelled(field) for field in line] for kind, line in fields.items()}
        self._lay_out()
        for spin in (self.left, self.right):
            spin.valueChanged.connect(self._change)
        for box in (self.kind, self.pattern, self.block_size):
            box.currentTextChanged.connect(self._change)
        self.causal.toggled.connect(self._change)
        self._change()

    def _hints(self) -> list[tuple[str, str]]:
        kinds = {CAUSAL: "causal", WINDOW: "window", BLOCKS: "blocks"}
        return [(kind, self._declared[name].choice.help) for kind, name in kinds.items()]

    def _offering(self, name: str, offered: Sequence[str]) -> QComboBox:
        choice = self._declared[name].choice
        box = dress_field(ChoiceBox(), choice.label, choice.help)
        box.addItems(list(offered))
        box.setMinimumContentsLength(4)
        return box

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(6)
        left, right = self._boxes[WINDOW]
        pattern, block, causal = self._boxes[BLOCKS]
        for place, box in {(0, 0, 3): left, (0, 3, 3): right, (1, 0, 4): pattern, (1, 4, 2): block}.items():
            row, column, span = place
            grid.addWidget(box, row, column, 1, span)
        grid.addWidget(causal, 2, 0, 1, 6)
        for column in range(6):
            grid.setColumnStretch(column, 1)

    @property
    def error(self) -> str:
        """Why the pattern means nothing, empty when it does or none is wanted."""
        try:
            self._blocks()
        except InputError as error:
            return str(error)
        return ""

    def chosen(self) -> dict[str, Any]:
        """The choices that make this mask, by their names; no blocks while their pattern means nothing."""
        kind, blocks = self.kind.currentText(), None if self.error else self._blocks()
        return {
            "causal": kind == CAUSAL or (kind == BLOCKS and self.causal.isChecked()),
            "window": (self.left.value(), self.right.value()) if kind == WINDOW else None,
            "blocks": blocks,
            "block_size": BLOCK if blocks is None else int(self.block_size.currentText()),
        }

    def choose(self, request: Request) -> None:
        """Show the mask of a request; a causal window is one whose right side is 0."""
        if request.blocks is not None:
            self.kind.setCurrentText(BLOCKS)
            self.pattern.setCurrentText(request.blocks.text)
            self._text.setCursorPosition(0)
            self._offer_size(request.block_size)
            self.causal.setChecked(request.causal)
        elif request.window is not None:
            self.kind.setCurrentText(WINDOW)
            self.left.choose(request.window[0])
            self.right.choose(0 if request.causal else request.window[1])
        else:
            self.kind.setCurrentText(CAUSAL if request.causal else NONE)

    def _blocks(self) -> BlockPattern | None:
        is_wanted = self.kind.currentText() == BLOCKS
        return BlockPattern.parse(self.pattern.currentText()) if is_wanted else None

    def _offer_size(self, size: int) -> None:
        if self.block_size.findText(str(size)) < 0:
            self.block_size.addItem(str(size))
        self.block_size.setCurrentText(str(size))

    def _change(self, *_: object) -> None:
        shown = self.kind.currentText()
        for kind, boxes in self._boxes.items():
            for box in boxes:
                box.setVisible(kind == shown)
        self.setVisible(shown in self._boxes)
        self.changed.emit()
