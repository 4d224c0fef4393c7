"""Which query-key pairs the form keeps: the choice of a mask, and the fields that its kind needs."""

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLineEdit, QWidget

from app.pages.profile.fields import choice, fit, labelled, side
from app.pages.profile.sweep import Sweep
from kernels.block_mask import count_blocks
from kernels.block_pattern import BLOCK, EXAMPLES, BlockPattern
from kernels.errors import InputError

NONE, CAUSAL, WINDOW, BLOCKS = MASKS = ("none", "causal", "window", "blocks")
BLOCK_SIZES = ("64", "128", "256", "512")


class MaskFields(QWidget):
    """The fields of a window or of a block mask; nothing for no mask and for causal.

    Attributes:
        kind: The choice among the masks; it stands elsewhere in the form.
        error: Why the last sweep that it was applied to got no block mask, empty when it did or wanted none.

    Signals:
        changed: Another mask.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.error = ""
        self.kind = choice(
            "mask",
            MASKS,
            "Causal keeps keys that are not after the query, a window those near it, blocks a pattern",
        )
        self.left = side("keys before", "Keys that a window keeps before the query")
        self.right = side("keys after", "Keys that a window keeps after the query")
        self._text = QLineEdit()
        self._text.setAccessibleName("Pattern of blocks")
        self.pattern = self._make_pattern()
        self.block_size = choice("block", BLOCK_SIZES, "Queries and keys of a block")
        self.block_size.setCurrentText(str(BLOCK))
        self.causal = QCheckBox("causal too")
        self.causal.setToolTip("Of the blocks keep only keys that are not after the query")
        fields = {WINDOW: (self.left, self.right), BLOCKS: (self.pattern, self.block_size, self.causal)}
        self._boxes = {kind: [labelled(field) for field in line] for kind, line in fields.items()}
        self._lay_out()
        for spin in (self.left, self.right):
            spin.valueChanged.connect(self._change)
        for box in (self.kind, self.pattern, self.block_size):
            box.currentTextChanged.connect(self._change)
        self.causal.toggled.connect(self._change)
        self._change()

    def _make_pattern(self) -> QComboBox:
        parts = "local:W (W blocks beside the diagonal), global:G, strided:K, random:SHARE; joined by commas"
        box = choice("pattern of blocks", EXAMPLES, f"Blocks that are kept: {parts}")
        box.setLineEdit(self._text)
        box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
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

    def applied_to(self, sweep: Sweep) -> Sweep:
        """The sweep with this mask; without, where the text means none or its blocks would be too many."""
        kind, block = self.kind.currentText(), int(self.block_size.currentText())
        blocks, self.error = None, ""
        if kind == BLOCKS:
            try:
                blocks = BlockPattern.parse(self.pattern.currentText())
                for seqlen in sweep.seqlens:
                    count_blocks(seqlen, seqlen, block_q=block, block_k=block)
            except InputError as error:
                blocks, self.error = None, str(error)
        return replace(
            sweep,
            causal=kind == CAUSAL or (kind == BLOCKS and self.causal.isChecked()),
            window=(self.left.value(), self.right.value()) if kind == WINDOW else None,
            blocks=blocks,
            block_size=BLOCK if blocks is None else block,
        )

    def show_sweep(self, sweep: Sweep) -> None:
        """Show the mask of a sweep; a causal window is one whose right side is 0."""
        if sweep.blocks is not None:
            self.kind.setCurrentText(BLOCKS)
            self.pattern.setCurrentText(sweep.blocks.text)
            self._text.setCursorPosition(0)
            self._offer_size(sweep.block_size)
            self.causal.setChecked(sweep.causal)
        elif sweep.window is not None:
            self.kind.setCurrentText(WINDOW)
            fit(self.left, sweep.window[0])
            fit(self.right, 0 if sweep.causal else sweep.window[1])
        else:
            self.kind.setCurrentText(CAUSAL if sweep.causal else NONE)

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
