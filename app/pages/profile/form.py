"""The sweep form: what to run, on which problem, how to measure, and what that would need."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.pages.profile.chips import SeqlenChips
from app.pages.profile.dry_run import dry_run
from app.pages.profile.dry_run_table import DryRunTable
from app.pages.profile.fields import choice, decimal, fit, labelled, number, tick
from app.pages.profile.kernel_list import KernelList
from app.pages.profile.mask_fields import MaskFields
from app.pages.profile.sweep import Sweep, blocked
from app.plots.units import bytes_text
from app.theme import Theme
from kernels.problem import DTYPES, Backend
from kernels.registry import KERNELS
from kernels.spec import HEAD_DIMS
from profiles.machine import Machine

WIDTH = 316
FREE_STEP = 0.01  # the dry run follows free memory in steps of this share


class SweepForm(QFrame):
    """Everything of a Sweep as widgets.

    Attributes:
        backend: Where the sweep is to run; the top bar chooses it.
        blocked_reason: Why it cannot run now, None when it can.

    Signals:
        changed: Another sweep, or another reason why it cannot run.
        use_session_requested: Fill the form from the session on show.
        copy_requested: Put the sweep on the clipboard as a command line.
    """

    changed = Signal()
    use_session_requested = Signal()
    copy_requested = Signal()

    def __init__(self, backend: Backend, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("sidePanel")
        self.setFixedWidth(WIDTH)
        self.backend: Backend = backend
        self.blocked_reason: str | None = None
        self._machine: Machine | None = None
        self._free: int | None = None
        self._filling = False
        self._make_fields(theme)
        self._lay_out()
        self._connect()
        self.show_sweep(Sweep.default(backend))

    def _make_fields(self, theme: Theme) -> None:
        self.kernels = KernelList(theme)
        self.dtype = choice("dtype", DTYPES, "Element type of Q, K, V and O")
        self.head_dim = number(
            "head dim", HEAD_DIMS[0], HEAD_DIMS[-1], HEAD_DIMS.step, "Width of one head, d"
        )
        self.batch = number("batch", 1, 1024, 1, "Independent sequences")
        self.heads = number("heads", 1, 1024, 1, "Heads")
        self.kv_heads = choice(
            "kv heads", (), "Heads of K and V; fewer than heads: query heads share them (GQA, MQA)"
        )
        self.masking = MaskFields()
        self.chips = SeqlenChips()
        self.repeats = number(
            "repeats", 3, 1000, 1, "Samples of each point; 10 or more for quartiles worth drawing"
        )
        self.time_cap = decimal("cap / point", 0.5, 600.0, "s", "Stop sampling a point after this long")
        self.cache = choice(
            "cache", ("cold", "warm"), "Cold flushes the last-level cache before every sample"
        )
        self.seed = number("seed", 0, 2**31 - 1, 1, "Seed of the random inputs")
        self.verify = tick(
            "verify against float64", "Compare every output with the float64 oracle before timing it"
        )
        self.interleave = tick("in turns", "Sample the kernels of one N in turns, A B A B; a drift meets all")
        self.shuffle = tick("shuffle N", "Measure the sequence lengths in an order drawn from the seed")
        self.drift_check = tick("drift check", "Measure what came first again at the end")
        self.dry_table = DryRunTable()
        self.free_label = QLabel()
        self.free_label.setProperty("role", "unit")
        self.message = QLabel()
        self.message.setProperty("role", "error")
        self.message.setWordWrap(True)
        self.copy_button = QPushButton("Copy command")
        self.copy_button.setToolTip("Copy this sweep as a command line")
        self.use_button = QPushButton("From session")
        self.use_button.setToolTip(
            "Use the parameters of what is on show; choose among a session's problems beside the plots"
        )

    def _lay_out(self) -> None:
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(16, 12, 12, 12)
        column.setSpacing(6)
        self._section(column, "Kernels", self.kernels)
        self._section(column, "Problem", self._problem_fields())
        self._section(column, "Sequence lengths", self.chips)
        self._section(column, "Dry run", self.dry_table, beside=self.free_label)
        protocol = self._grid(
            (self.repeats, self.time_cap, self.cache),
            (self.seed, self.verify),
            (self.interleave, self.shuffle, self.drift_check),
        )
        self._section(column, "Protocol", protocol)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(inner)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(scroll, 1)
        outer.addLayout(self._footer())

    def _problem_fields(self) -> QWidget:
        """Two lines of fields, and a third while the mask needs one."""
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        first, second = (
            (self.dtype, self.head_dim, self.batch),
            (self.heads, self.kv_heads, self.masking.kind),
        )
        column.addWidget(self._grid(first, second))
        column.addWidget(self.masking)
        return box

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
        caption = QLabel(title)
        caption.setProperty("role", "caption")
        line.addWidget(caption)
        line.addStretch(1)
        if beside is not None:
            line.addWidget(beside)
        column.addLayout(line)
        column.addWidget(body)
        column.addSpacing(6)

    @staticmethod
    def _grid(*lines: tuple[QWidget, ...]) -> QWidget:
        box = QWidget()
        grid = QGridLayout(box)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(6)
        for r, line in enumerate(lines):
            share = 6 // len(line)
            for c, widget in enumerate(line):
                grid.addWidget(labelled(widget), r, c * share, 1, share)
        for c in range(6):
            grid.setColumnStretch(c, 1)
        return box

    def _connect(self) -> None:
        self.heads.valueChanged.connect(self._offer_kv_heads)
        for spin in (self.head_dim, self.batch, self.heads, self.repeats, self.seed, self.time_cap):
            spin.valueChanged.connect(self._changed)
        for box in (self.dtype, self.kv_heads, self.cache):
            box.currentTextChanged.connect(self._changed)
        for ticked in (self.verify, self.interleave, self.shuffle, self.drift_check):
            ticked.toggled.connect(self._changed)
        for signal in (self.kernels.changed, self.chips.changed, self.masking.changed):
            signal.connect(self._changed)
        self.copy_button.clicked.connect(self.copy_requested)
        self.use_button.clicked.connect(self.use_session_requested)

    def hasHeightForWidth(self) -> bool:
        """No: the form's width is fixed, and a wrapped message must not make the whole page grow."""
        return False

    def sweep(self) -> Sweep:
        """What the form says now."""
        sweep = Sweep(
            backend=self.backend,
            kernels=self.kernels.chosen(),
            seqlens=self.chips.seqlens,
            dtype=next(name for name in DTYPES if name == self.dtype.currentText()),
            batch=self.batch.value(),
            heads=self.heads.value(),
            head_dim=self.head_dim.value(),
            kv_heads=self._chosen_kv_heads(),
            repeats=self.repeats.value(),
            time_cap_s=self.time_cap.value(),
            seed=self.seed.value(),
            verify=self.verify.isChecked(),
            cold=self.cache.currentText() == "cold",
            interleave=self.interleave.isChecked(),
            shuffle=self.shuffle.isChecked(),
            drift_check=self.drift_check.isChecked(),
        )
        return self.masking.applied_to(sweep)

    def show_sweep(self, sweep: Sweep) -> None:
        """Fill every field from a sweep; a number beyond its field's range becomes the nearest in it."""
        self._filling = True
        self.backend = sweep.backend
        self._offer_dtypes()
        self.dtype.setCurrentText(sweep.dtype)
        self.masking.show_sweep(sweep)
        self.cache.setCurrentText("cold" if sweep.cold else "warm")
        for spin, value in (
            (self.batch, sweep.batch),
            (self.heads, sweep.heads),
            (self.head_dim, sweep.head_dim),
            (self.repeats, sweep.repeats),
            (self.seed, sweep.seed),
        ):
            fit(spin, value)
        self._offer_kv_heads()
        self.kv_heads.setCurrentText(str(sweep.kv_heads or sweep.heads))
        self.time_cap.setValue(sweep.time_cap_s)
        self.verify.setChecked(sweep.verify)
        self.interleave.setChecked(sweep.interleave)
        self.shuffle.setChecked(sweep.shuffle)
        self.drift_check.setChecked(sweep.drift_check)
        self.chips.set_seqlens(sweep.seqlens)
        self.kernels.choose(sweep.kernels)
        self._filling = False
        self._changed()

    def set_backend(self, backend: Backend) -> None:
        """Follow the top bar; another backend brings its own defaults."""
        if backend != self.backend:
            self.show_sweep(Sweep.default(backend))

    def set_machine(self, machine: Machine | None) -> None:
        """Take in what the probe found: devices and free memory."""
        self._machine = machine
        self._free = machine.free_bytes.get(self.backend) if machine else None
        self._changed()

    def set_free_bytes(self, free: int) -> None:
        """Follow the newest reading of free memory, in steps worth showing."""
        if self._free is None or abs(free - self._free) > FREE_STEP * max(self._free, 1):
            self._free = free
            self._show_dry_run(self.sweep())

    def _offer_dtypes(self) -> None:
        offered = [d for d in DTYPES if any(d in spec.dtypes.get(self.backend, ()) for spec in KERNELS)]
        self.dtype.clear()
        self.dtype.addItems(offered)

    def _offer_kv_heads(self) -> None:
        """Every divisor of the heads; what was chosen stays where it still divides them."""
        heads, chosen = self.heads.value(), self._chosen_kv_heads()
        self.kv_heads.blockSignals(True)
        self.kv_heads.clear()
        self.kv_heads.addItems([str(n) for n in range(heads, 0, -1) if heads % n == 0])
        if chosen is not None:
            self.kv_heads.setCurrentIndex(max(0, self.kv_heads.findText(str(chosen))))
        self.kv_heads.blockSignals(False)

    def _chosen_kv_heads(self) -> int | None:
        """None for as many as there are heads: the first choice."""
        return int(self.kv_heads.currentText()) if self.kv_heads.currentIndex() > 0 else None

    def _changed(self, *_: object) -> None:
        if self._filling:
            return
        device = self._machine.device(self.backend) if self._machine else None
        self.kernels.show_reasons(self.sweep(), device)
        sweep = self.sweep()
        self._show_dry_run(sweep)
        self.blocked_reason = (
            self.chips.error or self.masking.error or blocked(sweep, self._machine, self.kernels.refused())
        )
        own_line = self.blocked_reason if not self.chips.error else ""  # the field says its own error
        self.message.setText(own_line or "")
        self.message.setVisible(bool(own_line))
        self.copy_button.setEnabled(self.blocked_reason is None)
        self.changed.emit()

    def _show_dry_run(self, sweep: Sweep) -> None:
        self.free_label.setText(
            "free memory unknown" if self._free is None else f"free {bytes_text(self._free)}"
        )
        self.dry_table.show_rows(sweep.kernels, dry_run(sweep, self._free))
