"""The bar above the panels: what is traced, on which backend, in which loop order, and what recorded it."""

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QComboBox, QPushButton, QVBoxLayout, QWidget

from flashscope.app.pages.stepper.own_problem import OwnProblem
from flashscope.app.stepper.presets import PRESETS, preset_of
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import FormulaLabel, plain_tip, set_tip
from flashscope.app.words.glossary import line_of
from flashscope.installation import PROGRAM
from flashscope.kernels.workload.problem import Backend
from flashscope.kernels.workload.trace import LoopOrder, Trace, TraceRequest
from flashscope.profiles.plan.machine import Machine

LAST_GPU, OWN = "last-gpu", "own"
MORE = ((LAST_GPU, "Last GPU problem"), (OWN, "Own problem"))
BACKENDS: tuple[tuple[Backend, str], ...] = (("cpu", "CPU"), ("cuda", "CUDA"))
FLASH1, FLASH2 = "flash1 order", "flash2 order"
ORDERS: tuple[tuple[LoopOrder, str, str], ...] = (
    ("flash2", FLASH2, line_of(FLASH2)),
    ("flash1", FLASH1, line_of(FLASH1)),
)


class OptionsBar(QWidget):
    """What to trace.

    Attributes:
        controls: What is picked and pressed in it.

    Signals:
        asked: Record the trace that is chosen now.
        notation_changed: The slides' notation with beta is switched on or off (bool).
    """

    asked = Signal()
    notation_changed = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.preset = _combo("Preset", [(p.key, p.title, p.idea) for p in PRESETS])
        for key, title in MORE:
            self.preset.addItem(title, key)
        self.backend = _combo("Backend", [(key, title, "") for key, title in BACKENDS])
        self.order = _combo("Loop order", list(ORDERS))
        self.form = OwnProblem(self)
        self.own = QPushButton("Own problem…")
        set_tip(self.own, "Choose N, d, tile sizes, causal, reversed and seed")
        self.notation = QPushButton("Slides’ β")
        self.notation.setCheckable(True)
        set_tip(self.notation, line_of(self.notation.text()))
        self.result = FormulaLabel()
        self.result.setProperty("role", "dim")
        self.source = ElidedLabel()
        self.source.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.source.setProperty("role", "dim")
        self.controls = (self.preset, self.backend, self.order, self.own, self.notation)
        self._lay_out()
        self._connect()
        self.show_machine(None)
        self._take_order()

    @property
    def chosen_backend(self) -> Backend:
        """The backend to trace on."""
        return BACKENDS[self.backend.currentIndex()][0]

    @property
    def chosen_order(self) -> LoopOrder:
        """The loop order."""
        return ORDERS[self.order.currentIndex()][0]

    @property
    def chosen_preset(self) -> str:
        """Key of the preset."""
        return str(self.preset.currentData())

    def choose_preset(self, key: str) -> None:
        """Choose a preset and the loop order it is meant for, without asking for it."""
        with QSignalBlocker(self.preset):
            self.preset.setCurrentIndex(self.preset.findData(key))
        self._take_order()

    def follow_backend(self, backend: Backend) -> None:
        """Choose the backend of the top bar for the next trace, without asking for one."""
        with QSignalBlocker(self.backend):
            self.backend.setCurrentIndex(self.backend.findData(backend))

    def show_machine(self, machine: Machine | None) -> None:
        """Offer only the backends that this machine has."""
        for index, (backend, title) in enumerate(BACKENDS):
            device = machine.device(backend) if machine else None
            there = device is not None or backend == "cpu"
            _enable(self.backend, index, there)
            words = device.name if device else f"{title} is not available here: {PROGRAM} doctor says why"
            self.backend.setItemData(index, plain_tip(words), Qt.ItemDataRole.ToolTipRole)

    def offer_last_gpu(self, there: bool) -> None:
        """Let the last GPU problem be chosen, or not."""
        _enable(self.preset, self.preset.findData(LAST_GPU), there)

    def show_trace(self, trace: Trace, last_gpu: TraceRequest | None) -> None:
        """Say what a trace on show is of and where it came from, and start the form from its problem.

        Args:
            trace: The trace.
            last_gpu: What the last GPU problem would ask for, None when there is none.
        """
        request = trace.request
        self.source.setText(f"{trace.device} · {trace.source}")
        self.form.show_request(request)
        preset = preset_of(request) or (LAST_GPU if request == last_gpu else OWN)
        chosen = {self.preset: preset, self.backend: request.backend, self.order: request.order}
        for combo, key in chosen.items():
            with QSignalBlocker(combo):
                combo.setCurrentIndex(combo.findData(key))

    def show_result(self, html: str, role: str = "dim") -> None:
        """Say something at the right end; `role` is one of the stylesheet's (`ok`, `error`, `dim`)."""
        self.result.setText(html)
        if self.result.property("role") != role:
            self.result.setProperty("role", role)
            self.result.style().unpolish(self.result)
            self.result.style().polish(self.result)

    def _lay_out(self) -> None:
        bar = QVBoxLayout(self)
        bar.setContentsMargins(0, 0, 0, 0)
        bar.addWidget(Lines((*self.controls, self.source, self.result), (self.source,), 8))

    def _connect(self) -> None:
        self.preset.currentIndexChanged.connect(self._choose)
        self.backend.currentIndexChanged.connect(self.asked)
        self.order.currentIndexChanged.connect(self.asked)
        self.own.clicked.connect(self._open_form)
        self.form.asked.connect(self._ask_own)
        self.notation.toggled.connect(self.notation_changed)

    def _choose(self) -> None:
        self._take_order()
        if self.chosen_preset == LAST_GPU:
            with QSignalBlocker(self.backend):
                self.backend.setCurrentIndex(1)
        self.asked.emit()

    def _take_order(self) -> None:
        for preset in PRESETS:
            if preset.key == self.chosen_preset:
                with QSignalBlocker(self.order):
                    self.order.setCurrentIndex(self.order.findData(preset.order))

    def _open_form(self) -> None:
        self.form.move(self.own.mapToGlobal(QPoint(0, self.own.height() + 4)))
        self.form.show()

    def _ask_own(self) -> None:
        self.choose_preset(OWN)
        self.asked.emit()


def _combo(name: str, items: list[tuple[str, str, str]]) -> QComboBox:
    combo = QComboBox()
    combo.setAccessibleName(name)
    set_tip(combo, name)
    for index, (key, title, tip) in enumerate(items):
        combo.addItem(title, key)
        combo.setItemData(index, plain_tip(tip), Qt.ItemDataRole.ToolTipRole)
    return combo


def _enable(combo: QComboBox, index: int, there: bool) -> None:
    model = combo.model()
    if isinstance(model, QStandardItemModel):
        model.item(index).setEnabled(there)
