"""The sweep form: what to run, on which problem, how to measure, and what that would need."""

from collections.abc import Sequence
from typing import TypeAlias

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.pages.profile.form.changes import Changes
from flashscope.app.pages.profile.form.chips import SeqlenChips
from flashscope.app.pages.profile.form.dry_run import dry_run
from flashscope.app.pages.profile.form.dry_run_table import DryRunTable
from flashscope.app.pages.profile.form.fields import (
    FIELD_PX,
    Input,
    KvHeads,
    PageSize,
    SwitchField,
    Whole,
    Words,
    input_of,
    labelled,
)
from flashscope.app.pages.profile.form.kernel_list import KernelList
from flashscope.app.pages.profile.form.mask_fields import MaskFields
from flashscope.app.pages.profile.form.masks import Masks
from flashscope.app.pages.profile.form.preview import preview_rows
from flashscope.app.pages.profile.form.reasons import blocked, impossible
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.widgets.scrolling import Scrolling
from flashscope.app.widgets.term_label import TermLabel
from flashscope.app.words.units import bytes_text
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import DTYPES, Backend
from flashscope.profiles.plan.choice import Choice, Declared, choices_of
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.plan.request import Request
from flashscope.profiles.results.model.rows import PointRow

WIDTH = 316
FREE_STEP = 0.01  # the dry run follows free memory in steps of this share
ACROSS = 3  # inputs in a line that is not laid out by hand
COLUMNS = 12  # of a grid: lines of one to four inputs share it
SPANS = {"head_dim": 3, "passes": 5}  # columns of those that do not share their line evenly
QWIDGETSIZE_MAX = (1 << 24) - 1  # Qt's own: no limit
RUNS = "runs"  # stands for how often the sweep is made, which is no choice of a plan
MASK = "mask"  # stands for the choice among masks, of which each is a choice of its own
MADE = Declared(
    name=RUNS,
    kind=int,
    default=1,
    choice=Choice(
        label="runs",
        help="Make the sweep so many times, each in processes and a session of its own: together they show "
        "how far runs differ",
        flag="--runs",
        low=1,
        high=20,
    ),
)
DRAWING = "The blocks of the mask are being drawn …"
FieldLines: TypeAlias = tuple[tuple[str, ...], ...]
PROBLEM_LINES: FieldLines = (
    ("dtype", "head_dim", "passes"),
    ("deterministic",),
    ("heads", "kv_heads", "queries", "batch"),
    ("lengths", "page_size", MASK),
    ("head_dim_v", "softcap", "sinks", "alibi"),
)
PROTOCOL_LINES: FieldLines = (
    ("repeats", "time_cap_s", "sustain_s"),
    ("cold", "seed", RUNS),
    ("verify", "drift_check"),
    ("interleave", "shuffle"),
    ("counters",),
)


class SweepForm(QFrame):
    """Everything of a Request as widgets; the ordinary choices are made from their declarations.

    Attributes:
        backend: Where the sweep is to run.
        inputs: Those of the ordinary choices, by their names.
        runs: How often the sweep is made.
        blocked_reason: Why it cannot run now, None when it can.

    Signals:
        changed: Another request, or another reason why it cannot run.
        use_session_requested: Fill the form from the session on show.
        copy_requested: Put the sweep on the clipboard as a command line.
        bring_requested: Bring a kernel of the user's own.
    """

    changed = Signal()
    use_session_requested = Signal()
    copy_requested = Signal()
    bring_requested = Signal()

    def __init__(self, backend: Backend, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("sidePanel")
        self._alone = False
        self.backend: Backend = backend
        self.blocked_reason: str | None = None
        self._machine: Machine | None = None
        self._free: int | None = None
        self._filling = False
        self._masks = Masks(self)
        self._masks.ready.connect(self._changed)
        self._make_fields(theme)
        self._lay_out()
        self._connect()
        self.show_request(Request.of(backend))

    def _make_fields(self, theme: Theme) -> None:
        declared = {choice.name: choice for choice in choices_of(Request)}
        self.kernels = KernelList(theme)
        self.bring_button = does(QPushButton("Bring a kernel …"), "profile.bring")
        self.bring_button.setProperty("role", "link")
        set_tip(self.bring_button, "Measure a kernel of your own beside these, from a .cu or .py file")
        self.chips = SeqlenChips(declared["seqlens"])
        self.masking = MaskFields(declared)
        self.dtype, self.heads = Words(declared["dtype"]), Whole(declared["heads"])
        self.kv_heads, self.deterministic = (
            KvHeads(declared["kv_heads"]),
            SwitchField(declared["deterministic"]),
        )
        made: dict[str, Input] = {"dtype": self.dtype, "heads": self.heads, "kv_heads": self.kv_heads}
        made["deterministic"] = self.deterministic
        made["page_size"] = PageSize(declared["page_size"])
        elsewhere = {"backend", "kernels", "seqlens", *self.masking.names}
        self.inputs = {
            name: made[name] if name in made else input_of(choice)
            for name, choice in declared.items()
            if name not in elsewhere
        }
        self.runs = Whole(MADE)
        self.inputs["queries"].setProperty("specialValueText", "N")  # in place of 0
        self.dry_table = DryRunTable()
        self.free_label = PlainLabel()
        self.free_label.setProperty("role", "unit")
        self.changes = Changes()
        self.message = PlainLabel()
        self.message.setProperty("role", "error")
        self.message.setWordWrap(True)
        self.copy_button = does(QPushButton("Copy command"), "profile.copy")
        set_tip(self.copy_button, "Copy this sweep as a command line")
        self.use_button = does(QPushButton("From session"), "profile.use")
        set_tip(
            self.use_button,
            "Use the parameters of what is on show; choose among a session's problems beside the plots",
        )

    def _lay_out(self) -> None:
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(16, 12, 12, 12)
        column.setSpacing(6)
        self._device_place = column
        self._section(column, "Kernels", self.kernels, beside=self.bring_button)
        self._section(column, "Problem", self._problem_fields())
        self._section(column, "Sequence lengths", self.chips)
        self._section(column, "Dry run", self.dry_table, beside=self.free_label)
        self._section(column, "Protocol", self._grid(*self._lines(PROTOCOL_LINES, Protocol)))
        column.addStretch(1)
        self._scroll = Scrolling(inner)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(self._scroll, 1)
        outer.addLayout(self._footer())
        keep(self, self._fit)

    def _problem_fields(self) -> QWidget:
        """Three lines of fields, and a fourth while the mask needs one."""
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self._grid(*self._lines(PROBLEM_LINES, Request)))
        column.addWidget(self.masking)
        return box

    def _lines(self, lines: FieldLines, struct: type[Request | Protocol]) -> list[list[tuple[QWidget, int]]]:
        """The inputs in these lines with their columns; below, what the struct declares and no line names."""
        placed = {name for line in (*PROBLEM_LINES, *PROTOCOL_LINES) for name in line}
        rest = [name for name in struct.__struct_fields__ if name in self.inputs and name not in placed]
        below = [rest[i : i + ACROSS] for i in range(0, len(rest), ACROSS)]
        widgets: dict[str, QWidget] = {MASK: self.masking.kind, RUNS: self.runs, **self.inputs}
        return [
            [(widgets[name], SPANS.get(name, COLUMNS // len(line))) for name in line]
            for line in (*lines, *below)
        ]

    def _footer(self) -> QVBoxLayout:
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.copy_button)
        buttons.addWidget(self.use_button)
        footer = QVBoxLayout()
        footer.setContentsMargins(16, 6, 20, 10)
        footer.addWidget(self.message)
        footer.addLayout(buttons)
        return footer

    @staticmethod
    def _section(column: QVBoxLayout, title: str, body: QWidget, beside: QWidget | None = None) -> None:
        line = QHBoxLayout()
        caption = TermLabel(title)
        caption.setProperty("role", "caption")
        line.addWidget(caption)
        line.addStretch(1)
        if beside is not None:
            line.addWidget(beside)
        column.addLayout(line)
        column.addWidget(body)
        column.addSpacing(6)

    @staticmethod
    def _grid(*lines: Sequence[tuple[QWidget, int]]) -> QWidget:
        box = QWidget()
        grid = QGridLayout(box)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(6)
        for r, line in enumerate(lines):
            first = 0
            fields = not all(isinstance(widget, QCheckBox) for widget, _ in line)
            for widget, span in line:
                if fields and isinstance(widget, QCheckBox):  # beside them, not beside their names
                    keep(widget, widget.setFixedHeight, FIELD_PX)
                    grid.addWidget(widget, r, first, 1, span, Qt.AlignmentFlag.AlignBottom)
                else:
                    grid.addWidget(labelled(widget), r, first, 1, span)
                first += span
        for c in range(COLUMNS):
            grid.setColumnStretch(c, 1)
        return box

    def _connect(self) -> None:
        self.kv_heads.offer(self.heads.value())
        self.heads.changed.connect(self.kv_heads.offer)
        for made in self.inputs.values():
            made.changed.connect(self._changed)
        for signal in (self.kernels.changed, self.chips.changed, self.masking.changed, self.runs.changed):
            signal.connect(self._changed)
        self.copy_button.clicked.connect(self.copy_requested)
        self.use_button.clicked.connect(self.use_session_requested)
        self.bring_button.clicked.connect(self.bring_requested)

    @guarded(bool)
    def hasHeightForWidth(self) -> bool:
        """No: the form's width is fixed, and a wrapped message must not make the whole page grow."""
        return False

    @guarded()
    def closeEvent(self, event: QCloseEvent) -> None:
        """Wait for masks that are being made."""
        self._masks.wait()
        super().closeEvent(event)

    def begin_with(self, devices: QWidget, presets: QWidget) -> None:
        """Have what chooses the device stand above all else, and beside its title what offers presets."""
        above = QVBoxLayout()
        self._section(above, "Device", devices, beside=presets)
        above.addWidget(self.changes)
        self._device_place.insertLayout(0, above)

    def tell_changes(self, sentences: Sequence[str]) -> None:
        """Say on top what of a sweep from elsewhere is other here, until the form is filled again."""
        self.changes.tell(sentences)
        if sentences:
            self._scroll.verticalScrollBar().setValue(0)

    def stand(self, *, alone: bool) -> None:
        """Stand beside something, narrow and scrolling by itself; or alone, whole and as wide as the page."""
        self._alone = alone
        self._fit()

    def _fit(self) -> None:
        self.setMinimumWidth(px(WIDTH))
        self.setMaximumWidth(QWIDGETSIZE_MAX if self._alone else px(WIDTH))
        self._scroll.whole = self._alone
        self._scroll.updateGeometry()

    @property
    def _device(self) -> Device | None:
        return self._machine.device(self.backend) if self._machine else None

    @property
    def _asks_for_gradients(self) -> bool:
        return self.inputs["passes"].chosen() != "forward"

    def request(self) -> Request:
        """What the form says now."""
        chosen = {name: made.chosen() for name, made in self.inputs.items()} | self.masking.chosen()
        chosen["deterministic"] = self.deterministic.chosen() and self._asks_for_gradients
        return Request.of(self.backend, kernels=self.kernels.chosen(), seqlens=self.chips.seqlens, **chosen)

    def preview(self) -> list[PointRow]:
        """A row for each point as it stands before it runs, none while its masks are being made."""
        request = self.request()
        return preview_rows(request, self._device) if self._masks.has(request) else []

    def show_request(self, request: Request) -> None:
        """Fill every field from a request; a number beyond its field's range becomes the nearest in it."""
        self._filling = True
        self.tell_changes(())
        self.backend = request.backend
        self.dtype.offer(_dtypes(self.backend))
        for name, made in self.inputs.items():  # heads before those of K and V, which they offer
            made.choose(request.value(name))
        self.masking.choose(request)
        self.chips.set_seqlens(request.seqlens)
        self.kernels.choose(request.kernels)
        self._filling = False
        self._changed()

    def set_machine(self, machine: Machine | None) -> None:
        """Take in what the probe found: devices and free memory."""
        free = machine.free_bytes.get(self.backend) if machine else None
        if (machine, free) != (self._machine, self._free):
            self._machine, self._free = machine, free
            self._changed()

    def set_free_bytes(self, free: int) -> None:
        """Follow the newest reading of free memory, in steps worth showing."""
        if self._free is None or abs(free - self._free) > FREE_STEP * max(self._free, 1):
            self._free = free
            self._show_dry_run(self.request())

    def _changed(self, *_: object) -> None:
        if self._filling:
            return
        self.deterministic.setVisible(self._asks_for_gradients)
        self.kernels.show_reasons(self.request(), self._device)
        request = self.request()
        self._show_dry_run(request)
        self.blocked_reason = self.chips.error or self.masking.error or self._blocked(request)
        own_line = self.blocked_reason if not self.chips.error else ""  # the field says its own error
        self.message.setText(own_line or "")
        self.message.setVisible(bool(own_line))
        self.copy_button.setEnabled(self.blocked_reason is None)
        self.changed.emit()

    def _blocked(self, request: Request) -> str | None:
        if not self._masks.has(request):
            return DRAWING
        return blocked(request, self._machine, self.kernels.refused())

    def _show_dry_run(self, request: Request) -> None:
        self.free_label.setText(
            "free memory unknown" if self._free is None else f"free {bytes_text(self._free)}"
        )
        told = self._masks.has(request) and not impossible(request)
        rows = dry_run(request, self._free, self._device) if told else []
        self.dry_table.show_rows(request.kernels, rows)


def _dtypes(backend: Backend) -> list[str]:
    """Those that a kernel takes on a backend."""
    return [d for d in DTYPES if any(d in spec.dtypes.get(backend, ()) for spec in KERNELS)]
