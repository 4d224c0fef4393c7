"""The bar above the panels: what is traced, on which backend, in which loop order, and what recorded it."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QComboBox, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from flashscope.app.pages.stepper.own_problem import OwnProblem
from flashscope.app.pages.stepper.score_field import ScoreField
from flashscope.app.stage.numbers import raised
from flashscope.app.stepper.from_point import PointTrace, again, is_of
from flashscope.app.stepper.modes import MODES
from flashscope.app.stepper.own_scores import EXAMPLE
from flashscope.app.stepper.presets import PRESETS, last_gpu_problem, own, preset_of
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.number_fields import WholeField
from flashscope.app.widgets.plain import plain_tip, set_tip
from flashscope.app.widgets.segments import Segments
from flashscope.app.widgets.term_label import TermBox
from flashscope.app.widgets.transport import side_by_side
from flashscope.app.words.glossary import line_of, with_line
from flashscope.app.words.inside.tracing import (
    LAST_GPU_IDEA,
    MACHINE_UNKNOWN,
    NO_GPU_SESSION,
    no_gpu_text,
    share_words,
    trace_words,
)
from flashscope.kernels.workload.problem import Backend
from flashscope.kernels.workload.trace import LoopOrder, Trace, TraceRequest
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.results.model.session import Session

HEAD_TIP = "The head on show, counted over all sequences; another one is traced anew"
LAST_GPU, OWN, SCORES, POINT = "last-gpu", "own", "scores", "point"
MOST_RECORDED = 8  # traces of a session that the list shows without scrolling
RECORDED = "recorded-"  # and its place among the traces of the session on show
TIP = Qt.ItemDataRole.ToolTipRole
MORE = ((LAST_GPU, "Last GPU problem"), (OWN, "Own problem"), (SCORES, "Own scores"))
BACKENDS: tuple[tuple[Backend, str], ...] = (("cpu", "CPU"), ("cuda", "CUDA"))
FLASH1, FLASH2 = "flash1 order", "flash2 order"
ORDERS: tuple[tuple[LoopOrder, str, str], ...] = (
    ("flash2", FLASH2, line_of(FLASH2)),
    ("flash1", FLASH1, line_of(FLASH1)),
)


class OptionsBar(QWidget):
    """What to trace.

    Attributes:
        modes: In which mode the page is; not to be seen while there is a single one.
        controls: What is picked and pressed in it.
        by_name: The controls that do not mean something in every mode, by the names that modes have for them.

    Signals:
        asked: Record the trace that is chosen now.
        notation_changed: The slides' notation with beta is switched on or off (bool).
        recorded_chosen: A trace of the session on show is chosen (Trace).
        head_chosen: Another head of the problem on show is to be looked at (int).
    """

    asked = Signal()
    notation_changed = Signal(bool)
    recorded_chosen = Signal(object)
    head_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.modes = Segments("Mode", [(one.key, one.title, with_line(one.title, one.idea)) for one in MODES])
        if len(MODES) == 1:
            self.modes.hide()
        self.preset = _combo("Preset", [(p.key, p.title, p.idea) for p in PRESETS])
        for key, title in MORE:
            self.preset.addItem(title, key)
            self.preset.setItemData(self.preset.count() - 1, plain_tip(line_of(title)), TIP)
        self.preset.setMaxVisibleItems(self.preset.count() + MOST_RECORDED)
        self.backend = _combo("Backend", [(key, title, "") for key, title in BACKENDS])
        self.order = _combo("Loop order", list(ORDERS))
        self.form = OwnProblem(self)
        self.own = QPushButton("Problem…")
        set_tip(self.own, "Choose N, d, tile sizes, causal, reversed and seed")
        self.field = ScoreField(self)
        self.scores = does(QPushButton("Scores…"), "stepper.scores")
        set_tip(self.scores, f"Type a row of scores, or several, such as {EXAMPLE}")
        self.notation = QPushButton("Slides’ β")
        self.notation.setCheckable(True)
        set_tip(self.notation, line_of(self.notation.text()))
        self.head = WholeField()
        self.head.setPrefix("head ")
        self.head.setKeyboardTracking(False)  # or each digit of a number would ask for a trace
        self.head.setAccessibleName("Head on show")
        set_tip(self.head, HEAD_TIP)
        self.result = ElidedLabel()
        self.result.setProperty("role", "dim")
        self.source = ElidedLabel()
        self.source.setSizePolicy(
            QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed
        )  # the result comes first
        self.source.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.source.setProperty("role", "dim")
        self._machine: Machine | None = None
        self._traces: Sequence[Trace] = ()  # of the session on show
        self._ran_on_gpu = False  # the session on show
        self._point: PointTrace | None = None  # which the preset may be
        self.controls = (self.preset, self.backend, self.order, self.own, self.scores, self.notation)
        self._head_box = side_by_side(
            self.head
        )  # hidden where a problem has one alone; some modes hide the head
        self._head_box.hide()
        self.by_name: dict[str, QWidget] = {"order": self.order, "notation": self.notation}
        self.by_name |= {"scores": self.scores, "head": self.head}
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

    def request(self, session: Session | None) -> TraceRequest | None:
        """The trace that is chosen; None where it is the last GPU problem of a session that has none."""
        backend, order, chosen = self.chosen_backend, self.chosen_order, self.chosen_preset
        if chosen == LAST_GPU:
            return last_gpu_problem(session, backend, order)
        if chosen == POINT and self._point is not None:
            return again(self._point, backend, order)
        if chosen == OWN or chosen.startswith(RECORDED):  # whose problem the form has
            return own(self.form.options(backend, order))
        if chosen == SCORES:
            return self.field.scores.request(backend, order)
        return next(preset for preset in PRESETS if preset.key == chosen).make(backend, order)

    def choose_preset(self, key: str) -> None:
        """Choose a preset and the loop order it is meant for, without asking for it."""
        self.preset.choose_quietly(self.preset.findData(key))
        self._take_order()
        self._settle_backend()

    def follow_backend(self, backend: Backend) -> None:
        """Choose the backend of the top bar for the next trace, without asking for one."""
        self.backend.choose_quietly(self.backend.findData(backend))

    def show_machine(self, machine: Machine | None) -> None:
        """Offer only the backends that this machine has, and what can be traced there."""
        self._machine = machine
        for index, (backend, _) in enumerate(BACKENDS):
            device = machine.device(backend) if machine else None
            missing = "" if backend == "cpu" else self._why_no_gpu()
            _offer(self.backend, index, missing, device.name if device else "")
        self._offer_last_gpu()

    def offer_last_gpu(self, ran: bool) -> None:
        """Let the last GPU problem be chosen if the session on show ran on one, and a GPU can trace it."""
        self._ran_on_gpu = ran
        self._offer_last_gpu()

    def _offer_last_gpu(self) -> None:
        missing = self._why_no_gpu() or ("" if self._ran_on_gpu else NO_GPU_SESSION)
        _offer(self.preset, self.preset.findData(LAST_GPU), missing, LAST_GPU_IDEA)

    def _why_no_gpu(self) -> str:
        """Why nothing can be traced on a GPU here, with the remedy; empty: it can."""
        return MACHINE_UNKNOWN if self._machine is None else no_gpu_text(self._machine)

    def show_trace(self, trace: Trace, last_gpu: TraceRequest | None) -> None:
        """Say what a trace on show is of and where it came from, and start the form from its problem.

        Args:
            trace: The trace.
            last_gpu: What the last GPU problem would ask for, None when there is none.
        """
        request = trace.request
        self._show_head(request)
        told = trace.device, share_words(request), trace.source
        self.source.setText(" · ".join(filter(None, told)))
        self.form.show_request(request)
        typed = SCORES if self.chosen_preset == SCORES and self._typed(request) else ""
        point = POINT if self._point is not None and is_of(request, self._point) else ""
        preset = (
            point or self._recorded(trace) or typed or preset_of(request) or self._unnamed(request, last_gpu)
        )
        chosen = {self.preset: preset, self.backend: request.backend, self.order: request.order}
        for combo, key in chosen.items():
            combo.choose_quietly(combo.findData(key))

    def _show_head(self, request: TraceRequest) -> None:
        """Let another head be chosen where the problem has several, and this machine can trace it."""
        heads = request.problem.batch * request.problem.heads
        with QSignalBlocker(self.head):
            self.head.setRange(0, heads - 1)
            self.head.setValue(request.head)
        missing = self._why_no_gpu() if request.backend == "cuda" else ""
        self._head_box.setVisible(heads > 1)
        self.head.setEnabled(not missing)
        set_tip(self.head, missing or HEAD_TIP)

    def offer_point(self, found: PointTrace | None) -> None:
        """Let a point of the session on show be chosen; None: none is."""
        self._point = found
        if self.chosen_preset == POINT:
            self.preset.choose_quietly(self.preset.findData(OWN))  # the form has been filled from it
        with QSignalBlocker(self.preset):
            place = self.preset.findData(POINT)
            if place >= 0:
                self.preset.removeItem(place)
            if found is not None:
                self.preset.insertItem(len(PRESETS), found.title, POINT)

    def _recorded(self, trace: Trace) -> str:
        """The key of a trace of the session on show; empty for any other."""
        place = next((place for place, one in enumerate(self._traces) if one is trace), None)
        return "" if place is None else f"{RECORDED}{place}"

    def _unnamed(self, request: TraceRequest, last_gpu: TraceRequest | None) -> str:
        """What the bar calls a trace that no preset makes."""
        if last_gpu is not None and last_gpu.at_head(request.head).asks_for(request):
            return LAST_GPU
        return SCORES if self._typed(request) else OWN

    def _typed(self, request: TraceRequest) -> bool:
        """Whether a trace is of the scores that were typed last."""
        return request == self.field.scores.request(request.backend, request.order)

    def open_scores(self) -> None:
        """Have scores typed."""
        self.field.open_at(self.scores)

    def show_result(self, text: str, role: str = "dim") -> None:
        """Say something at the right end, where there is no room without how many rows it is of.

        Args:
            text: Plain text, but for exponents in HTML.
            role: One of the stylesheet's (`ok`, `error`, `dim`).
        """
        told = raised(text)
        self.result.set_texts(told, told.partition(" over ")[0])
        if self.result.property("role") != role:
            self.result.setProperty("role", role)
            self.result.style().unpolish(self.result)
            self.result.style().polish(self.result)

    def _lay_out(self) -> None:
        bar = QVBoxLayout(self)
        bar.setContentsMargins(0, 0, 0, 0)
        before, others = (self.modes, *self.controls[:3], self._head_box), self.controls[3:]
        bar.addWidget(Lines((*before, *others, self.source, self.result), (self.source,), 8))

    def _connect(self) -> None:
        self.preset.currentIndexChanged.connect(self._choose)
        self.backend.currentIndexChanged.connect(self.asked)
        self.order.currentIndexChanged.connect(self._ask)
        self.head.valueChanged.connect(self.head_chosen)
        self.own.clicked.connect(self._open_form)
        self.form.asked.connect(lambda _options: self._ask_for(OWN))
        self.scores.clicked.connect(self.open_scores)
        self.field.asked.connect(lambda _text: self._ask_for(SCORES))
        self.notation.toggled.connect(self.notation_changed)

    def offer_traces(self, traces: Sequence[Trace]) -> None:
        """Let the traces of the session on show be chosen, below what can be traced anew."""
        self._traces = traces
        with QSignalBlocker(self.preset):
            for index in reversed(range(self.preset.count())):
                if str(self.preset.itemData(index)).startswith(RECORDED):
                    self.preset.removeItem(index)
            for place, trace in enumerate(traces):
                self.preset.addItem(f"Recorded: {trace_words(trace.request)}", f"{RECORDED}{place}")

    def _choose(self) -> None:
        if self.chosen_preset.startswith(RECORDED):
            self.recorded_chosen.emit(self._traces[int(self.chosen_preset.removeprefix(RECORDED))])
            return
        self._take_order()
        if self.chosen_preset == LAST_GPU:
            self.follow_backend("cuda")
        self._ask()

    def _ask(self) -> None:
        self._settle_backend()
        self.asked.emit()

    def _settle_backend(self) -> None:
        """Trace where this machine can: what is on show may have been recorded on another one."""
        if self._machine is not None and self._why_no_gpu():
            self.follow_backend("cpu")

    def _take_order(self) -> None:
        for preset in PRESETS:
            if preset.key == self.chosen_preset:
                self.order.choose_quietly(self.order.findData(preset.order))

    def _open_form(self) -> None:
        self.form.move(self.own.mapToGlobal(QPoint(0, self.own.height() + 4)))
        self.form.show()

    def _ask_for(self, preset: str) -> None:
        self.choose_preset(preset)
        self._ask()


def _combo(name: str, items: list[tuple[str, str, str]]) -> TermBox:
    combo = TermBox(name)
    for index, (key, title, tip) in enumerate(items):
        combo.addItem(title, key)
        combo.setItemData(index, plain_tip(with_line(title, tip)), TIP)
    return combo


def _offer(combo: QComboBox, index: int, missing: str, tip: str) -> None:
    """Let one of them be chosen, or say in its tip what is missing for that."""
    model = combo.model()
    if isinstance(model, QStandardItemModel):
        model.item(index).setEnabled(not missing)
    combo.setItemData(index, plain_tip(with_line(combo.itemText(index), missing or tip)), TIP)
