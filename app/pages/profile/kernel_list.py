"""The kernels there are: a mark, a name, one line of what the idea is, or why it cannot be chosen."""

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QVBoxLayout, QWidget
from superqt import QElidingLabel

from app.pages.profile.sweep import Sweep, unavailable
from app.plots.marks import mark_icon
from kernels.device import Device
from kernels.registry import KERNELS, LADDER
from kernels.spec import KernelSpec

INDENT_PX = 44  # where the name begins, after box and mark


class KernelRow(QWidget):
    """One kernel: a box to tick and a line under it."""

    def __init__(self, spec: KernelSpec) -> None:
        super().__init__()
        self.spec = spec
        self.box = QCheckBox(spec.name)
        self.box.setIcon(mark_icon(spec.name))
        self.box.setIconSize(QSize(14, 14))
        self.box.setAccessibleName(f"Kernel {spec.name}")
        self.line = QElidingLabel(spec.idea)
        self.line.setProperty("role", "unit")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.box)
        indented = QHBoxLayout()
        indented.setContentsMargins(INDENT_PX, 0, 0, 0)
        indented.addWidget(self.line)
        column.addLayout(indented)

    def show_reason(self, reason: str | None) -> None:
        """Disable the row for a reason; None: it can be chosen."""
        self.box.setEnabled(reason is None)
        text = self.spec.idea if reason is None else reason
        self.line.setText(text)
        for widget in (self.box, self.line):
            widget.setToolTip(text)
        self.box.setAccessibleDescription(text)


class KernelList(QWidget):
    """All of the registry, unavailable ones disabled with the reason; library peers fold away.

    Attributes:
        peers_button: Folds and unfolds the library peers; they are folded until one is chosen.

    Signals:
        changed: Another choice.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.rows = tuple(KernelRow(spec) for spec in KERNELS)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self._peers = [row for row in self.rows if row.spec not in LADDER]
        self.peers_button = QPushButton()
        self.peers_button.setCheckable(True)
        self.peers_button.setProperty("role", "quiet")
        self.peers_button.setToolTip("Kernels of other libraries, to compare with")
        self.peers_button.toggled.connect(self._unfold)
        for row in self.rows:
            if row not in self._peers:
                column.addWidget(row)
        column.addWidget(self.peers_button)
        self.peers_button.setVisible(bool(self._peers))  # not before it has its parent: it would be a window
        for row in self._peers:
            column.addWidget(row)
        for row in self.rows:
            row.box.toggled.connect(self.changed)
        self._unfold(False)

    def chosen(self) -> tuple[str, ...]:
        """Ticked kernels that can be chosen."""
        return tuple(row.spec.name for row in self.rows if row.box.isChecked() and row.box.isEnabled())

    def choose(self, kernels: tuple[str, ...]) -> None:
        """Tick exactly these."""
        for row in self.rows:
            row.box.setChecked(row.spec.name in kernels)
        if any(row.spec.name in kernels for row in self._peers):
            self.peers_button.setChecked(True)

    def show_reasons(self, sweep: Sweep, device: Device | None) -> None:
        """Disable what the sweep's problem or the device rules out."""
        for row in self.rows:
            row.show_reason(unavailable(row.spec, sweep, device))

    def _unfold(self, unfolded: bool) -> None:
        self.peers_button.setText(f"{'▾' if unfolded else '▸'} library peers ({len(self._peers)})")
        for row in self._peers:
            row.setVisible(unfolded)
