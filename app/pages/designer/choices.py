"""What a cut is designed for: kernel, card and problem, in a line of boxes."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from flashscope.app.pages.designer.cards import Cards
from flashscope.app.widgets.drop_down import DropDown, choice_of
from flashscope.app.widgets.lines import Lines
from flashscope.app.words.units import seqlen_text
from flashscope.kernels.workload.cut import BACKWARD, CUT_KERNELS, CutKernel
from flashscope.kernels.workload.problem import Problem

SEQLENS = tuple(1 << k for k in range(8, 17))
HEADS = (1, 4, 16, 32, 64, 128)
MASKS = (("no mask", False), ("causal", True))
FIRST = {"seqlen": 4096, "heads": 16}
CPU_SEQLENS, CPU_FIRST, CPU_HEADS, CPU_DIMS = (256, 512, 1024, 2048), 1024, (1, 2, 4), (64, 128)
KERNELS: Sequence[tuple[str, CutKernel]] = (
    *((one, one) for one in CUT_KERNELS),
    ("flash2 in NumPy", "numpy"),
)


def seqlen_words(seqlen: int) -> str:
    """A sequence length, as its boxes have it."""
    return f"N = {seqlen_text(seqlen)}"


def heads_words(heads: int) -> str:
    """So many heads."""
    return f"{heads} head{'s' * (heads != 1)}"


class DesignChoices(QWidget):
    """The boxes.

    Signals:
        changed: Something else is chosen; of the kernel `kernel_changed` tells alone.
        kernel_changed: Another kernel is chosen.
    """

    changed = Signal()
    kernel_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.kernels = choice_of("Kernel", KERNELS)
        self.cards = Cards()
        self.seqlens = choice_of("Sequence length", [(seqlen_words(n), n) for n in SEQLENS])
        self.heads = choice_of("Heads of all sequences", [(heads_words(h), h) for h in HEADS])
        self.masks = choice_of("Mask", MASKS)
        self.cpu_seqlens = choice_of("Sequence length in NumPy", [(seqlen_words(n), n) for n in CPU_SEQLENS])
        self.cpu_heads = choice_of("Heads in NumPy", [(heads_words(h), h) for h in CPU_HEADS])
        self.cpu_dims = choice_of("Head dim in NumPy", [(f"d = {d}", d) for d in CPU_DIMS])
        self.cpu_seqlens.setCurrentIndex(self.cpu_seqlens.findData(CPU_FIRST))
        self.seqlens.setCurrentIndex(self.seqlens.findData(FIRST["seqlen"]))
        self.heads.setCurrentIndex(self.heads.findData(FIRST["heads"]))
        of_gpu = (self.cards, self.seqlens, self.heads)
        of_cpu = (self.cpu_seqlens, self.cpu_dims, self.cpu_heads)
        self._of_backend = {"cuda": of_gpu, "cpu": of_cpu}
        for box in (*of_gpu, *of_cpu, self.masks):
            box.currentIndexChanged.connect(lambda _place: self.changed.emit())
        self.kernels.currentIndexChanged.connect(lambda _place: self._take_kernel())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(Lines((self.kernels, *of_gpu, *of_cpu, self.masks), (), 8))
        self._show_boxes()

    @property
    def kernel(self) -> CutKernel:
        """The kernel chosen."""
        chosen: CutKernel = self.kernels.currentData()
        return chosen

    @property
    def on_cpu(self) -> bool:
        """Whether it is the one in NumPy."""
        return self.kernel == "numpy"

    def show_kernel(self, kernel: CutKernel) -> None:
        """Choose a kernel."""
        self.kernels.setCurrentIndex(self.kernels.findData(kernel))

    def show_landscape(self, kernel: CutKernel, problem: Problem) -> None:
        """Choose a kernel and what of a problem there is to choose, and tell nobody."""
        with QSignalBlocker(self.kernels):
            self.show_kernel(kernel)
        self._show_boxes()
        self.show_problem(problem)

    def next_kernel(self) -> None:
        """Choose the next kernel."""
        self.kernels.setCurrentIndex((self.kernels.currentIndex() + 1) % self.kernels.count())

    @property
    def cpu_problem(self) -> Problem:
        """The problem chosen for NumPy, of one sequence in float32."""
        seqlen: int = self.cpu_seqlens.currentData()
        return Problem(
            heads=self.cpu_heads.currentData(),
            seqlen_q=seqlen,
            seqlen_k=seqlen,
            head_dim=self.cpu_dims.currentData(),
            causal=self.masks.currentData(),
        )

    def problem(self, head_dim: int) -> Problem:
        """The problem chosen for a GPU, of one sequence in bfloat16, of the kernel's pass."""
        seqlen: int = self.seqlens.currentData()
        return Problem(
            heads=self.heads.currentData(),
            seqlen_q=seqlen,
            seqlen_k=seqlen,
            head_dim=head_dim,
            dtype="bfloat16",
            causal=self.masks.currentData(),
            passes="backward" if self.kernel.endswith(BACKWARD) else "forward",
        )

    def show_problem(self, problem: Problem) -> None:
        """Choose what a problem has, also what is offered to no other, and tell nobody."""
        pairs: Sequence[tuple[DropDown, str, object]] = (
            (
                self.cpu_seqlens if self.on_cpu else self.seqlens,
                seqlen_words(problem.seqlen_q),
                problem.seqlen_q,
            ),
            (self.cpu_heads if self.on_cpu else self.heads, heads_words(problem.heads), problem.heads),
            (self.cpu_dims, f"d = {problem.head_dim}", problem.head_dim),
            (self.masks, "", problem.causal),
        )
        for box, words, value in pairs:
            with QSignalBlocker(box):
                if box.findData(value) < 0:
                    box.addItem(words, value)
                box.setCurrentIndex(box.findData(value))

    def _take_kernel(self) -> None:
        self._show_boxes()
        self.kernel_changed.emit()

    def _show_boxes(self) -> None:
        """Show what there is to choose where the kernel runs."""
        for backend, boxes in self._of_backend.items():
            for box in boxes:
                box.setVisible((backend == "cpu") is self.on_cpu)
