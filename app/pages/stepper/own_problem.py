"""The small form for a problem of one's own."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QPushButton, QWidget

from flashscope.app.stepper.presets import MAX_SEQLEN, Options
from flashscope.app.widgets.number_fields import whole_field
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.widgets.term_label import TermLabel
from flashscope.app.words.glossary import line_of
from flashscope.kernels.workload.problem import Backend
from flashscope.kernels.workload.trace import LoopOrder, TraceRequest


class OwnProblem(QWidget):
    """A popup with N, d, Br, Bc, causal, reversed and seed.

    Signals:
        asked: Trace this (Options; backend and order are the bar's).
    """

    asked = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("page")
        self.setAccessibleName("Own problem")
        self.seqlen = whole_field("Sequence length N", 1, MAX_SEQLEN, 64)
        self.head_dim = whole_field("Head dim d", 1, 256, 16)
        self.block_q = whole_field("Tile rows Br", 1, 128, 8)
        self.block_k = whole_field("Tile columns Bc", 1, 128, 8)
        self.seed = whole_field("Seed", 0, 999_999, 0)
        self.causal = QCheckBox("Causal")
        set_tip(self.causal, line_of("causal"))
        self.reverse = QCheckBox("Key blocks reversed")
        self.go = QPushButton("Trace it")
        self.go.setProperty("role", "primary")
        self.go.clicked.connect(self._ask)
        self._lay_out()

    def options(self, backend: Backend = "cpu", order: LoopOrder = "flash2") -> Options:
        """The problem that is filled in."""
        return Options(
            backend=backend,
            order=order,
            seqlen=self.seqlen.value(),
            head_dim=self.head_dim.value(),
            block_q=self.block_q.value(),
            block_k=self.block_k.value(),
            causal=self.causal.isChecked(),
            reverse=self.reverse.isChecked(),
            seed=self.seed.value(),
        )

    def show_request(self, request: TraceRequest) -> None:
        """Fill in the problem that is on show, to start from it."""
        problem = request.shown
        self.seqlen.setValue(problem.seqlen_k)
        self.head_dim.setValue(problem.head_dim)
        self.block_q.setValue(request.block_q)
        self.block_k.setValue(request.block_k)
        self.seed.setValue(problem.seed)
        self.causal.setChecked(problem.causal)
        self.reverse.setChecked(request.reverse)

    def _ask(self) -> None:
        self.hide()
        self.asked.emit(self.options())

    def _lay_out(self) -> None:
        form = QFormLayout(self)
        form.setContentsMargins(16, 12, 16, 12)
        form.setSpacing(8)
        title = PlainLabel("Own problem, one head")
        title.setProperty("role", "title")
        form.addRow(title)
        for spin in (self.seqlen, self.head_dim, self.block_q, self.block_k, self.seed):
            name = TermLabel(spin.accessibleName())
            name.setBuddy(spin)
            form.addRow(name, spin)
        for widget in (self.causal, self.reverse, self.go):
            form.addRow(widget)
