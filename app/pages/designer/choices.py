"""What a cut is designed for: kernel, card and problem, in a line of boxes."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from flashscope.app.pages.designer.cards import Cards
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.lines import Lines
from flashscope.app.words.units import seqlen_text
from flashscope.kernels.workload.cut import CUT_KERNELS, CutKernel
from flashscope.kernels.workload.problem import Problem

SEQLENS = tuple(1 << k for k in range(8, 17))
HEADS = (1, 4, 16, 32, 64, 128)
MASKS = (("no mask", False), ("causal", True))
FIRST = {"seqlen": 4096, "heads": 16}


class Choices(QWidget):
    """The boxes.

    Signals:
        changed: Something else is chosen; of the kernel `kernel_changed` tells alone.
        kernel_changed: Another kernel is chosen.
    """

    changed = Signal()
    kernel_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.kernels = _box("Kernel", [(kernel, kernel) for kernel in CUT_KERNELS])
        self.cards = Cards()
        self.seqlens = _box("Sequence length", [(f"N = {seqlen_text(n)}", n) for n in SEQLENS])
        self.heads = _box("Heads of all sequences", [(f"{h} head{'s' * (h != 1)}", h) for h in HEADS])
        self.masks = _box("Mask", MASKS)
        self.seqlens.setCurrentIndex(self.seqlens.findData(FIRST["seqlen"]))
        self.heads.setCurrentIndex(self.heads.findData(FIRST["heads"]))
        for box in (self.cards, self.seqlens, self.heads, self.masks):
            box.currentIndexChanged.connect(lambda _place: self.changed.emit())
        self.kernels.currentIndexChanged.connect(lambda _place: self.kernel_changed.emit())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(Lines((self.kernels, self.cards, self.seqlens, self.heads, self.masks), (), 8))

    @property
    def kernel(self) -> CutKernel:
        """The kernel chosen."""
        chosen: CutKernel = self.kernels.currentData()
        return chosen

    def next_kernel(self) -> None:
        """Choose the other kernel."""
        self.kernels.setCurrentIndex((self.kernels.currentIndex() + 1) % self.kernels.count())

    def problem(self, head_dim: int) -> Problem:
        """The problem chosen, of one sequence in bfloat16."""
        seqlen: int = self.seqlens.currentData()
        return Problem(
            heads=self.heads.currentData(),
            seqlen_q=seqlen,
            seqlen_k=seqlen,
            head_dim=head_dim,
            dtype="bfloat16",
            causal=self.masks.currentData(),
        )


def _box(name: str, entries: Sequence[tuple[str, Any]]) -> DropDown:
    box = DropDown()
    box.setAccessibleName(name)
    for text, data in entries:
        box.addItem(text, data)
    return box
