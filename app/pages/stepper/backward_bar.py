"""The bar of the mode Backward: whose backward pass, of which head, and what of the gradients is shown."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from flashscope.app.widgets.number_fields import WholeField
from flashscope.app.widgets.plain import set_tip
from flashscope.app.widgets.segments import Segments
from flashscope.app.widgets.term_label import TermBox
from flashscope.app.words.inside.tracing import backward_words
from flashscope.kernels.workload.backward_trace import BACKWARD_KERNELS, BackwardTrace

SO_FAR, ADDED = "so-far", "added"
SHOWN = (
    (SO_FAR, "So far", "dQ, dK and dV as the tiles until now leave them"),
    (ADDED, "Added", "What the tile on show adds to dQ, dK and dV"),
)
RECORDED = "Recorded …"


class BackwardBar(QWidget):
    """What is traced and shown.

    Signals:
        kernel_chosen: Another kernel's backward pass is wanted (BackwardKernel).
        head_chosen: Another K/V head is wanted (int).
        added_chosen: Sums so far, or what a tile adds, are to be shown.
        recorded_chosen: A trace of the session on show is chosen (BackwardTrace).
    """

    kernel_chosen = Signal(str)
    head_chosen = Signal(int)
    added_chosen = Signal()
    recorded_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.kernel = TermBox("Kernel of the backward pass")
        for kernel in BACKWARD_KERNELS:
            self.kernel.addItem(kernel, kernel)
        self.head = WholeField()
        self.head.setPrefix("K/V head ")
        self.head.setKeyboardTracking(False)  # or each digit of a number would ask for a trace
        self.head.setAccessibleName("K/V head on show")
        set_tip(self.head, "The K/V head on show, counted over all sequences; another one is traced anew")
        self.head.hide()
        self.shown = Segments("Gradients", SHOWN)
        self.shown.choose_quietly(SO_FAR)
        self.recorded = TermBox("Recorded backward passes")
        self.recorded.hide()
        self._traces: Sequence[BackwardTrace] = ()
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        for part in (self.kernel, self.head, self.shown, self.recorded):
            line.addWidget(part)
        line.addStretch(1)
        for control in (self.kernel, self.recorded, *self.shown.buttons.values()):
            control.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # the mouse leaves the focus where the keys step
        self._connect()

    @property
    def added(self) -> bool:
        """Whether what a tile adds is shown in the place of sums."""
        return self.shown.current == ADDED

    def show_trace(self, trace: BackwardTrace) -> None:
        """Describe a trace on show."""
        request, problem = trace.request, trace.request.problem
        heads = problem.batch * problem.key_heads
        self.kernel.choose_quietly(self.kernel.findData(request.kernel))
        with QSignalBlocker(self.head):
            self.head.setRange(0, heads - 1)
            self.head.setValue(request.head)
        self.head.setVisible(heads > 1)
        place = next((place for place, one in enumerate(self._traces) if one is trace), -1)
        self.recorded.choose_quietly(place + 1)

    def offer(self, traces: Sequence[BackwardTrace]) -> None:
        """Let the traces of the session on show be chosen."""
        self._traces = traces
        with QSignalBlocker(self.recorded):
            self.recorded.clear()
            self.recorded.addItem(RECORDED)
            for trace in traces:
                self.recorded.addItem(backward_words(trace.request))
        self.recorded.setVisible(bool(traces))

    def _connect(self) -> None:
        self.kernel.currentIndexChanged.connect(
            lambda _at: self.kernel_chosen.emit(self.kernel.currentData())
        )
        self.head.valueChanged.connect(self.head_chosen)
        self.shown.chosen.connect(lambda _key: self.added_chosen.emit())
        self.recorded.currentIndexChanged.connect(self._choose)

    def _choose(self, place: int) -> None:
        if place > 0:
            self.recorded_chosen.emit(self._traces[place - 1])
