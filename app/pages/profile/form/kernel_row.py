"""One line of the list of kernels, and what folds several of them away."""

from collections.abc import Sequence

from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.plots.marks import mark_icon
from flashscope.app.widgets.buttons import size_icon
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.glossary import with_line
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.workload.problem import Passes

INDENT_PX = 44  # where the name begins, after box and mark
FOLD_PX = 22  # height of a fold's button


class KernelRow(QWidget):
    """One kernel: a box to tick and a line under it.

    Attributes:
        reason: Why it cannot be chosen, None when it can.
    """

    def __init__(self, spec: KernelSpec, theme: Theme, indent: int = 0) -> None:
        super().__init__()
        self.spec = spec
        self.reason: str | None = None
        self.box = QCheckBox(spec.name)
        size_icon(self.box, 14)
        self.box.setAccessibleName(f"Kernel {spec.name}")
        self.line = ElidedLabel(spec.idea)
        self.line.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.line.setProperty("role", "unit")
        self.first = QHBoxLayout()
        self.first.addWidget(self.box, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(indent, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self.first)
        indented = QHBoxLayout()
        keep(self, lambda left: indented.setContentsMargins(left, 0, 0, 0), INDENT_PX)
        indented.addWidget(self.line)
        column.addLayout(indented)
        self.apply_theme(theme)

    @property
    def chosen(self) -> bool:
        """Whether it is ticked and can be chosen."""
        return self.box.isChecked() and self.box.isEnabled()

    def show_reason(self, reason: str | None, passes: Passes) -> None:
        """Disable the row for a reason, or tell the idea of what is run; None: it can be chosen."""
        self.reason = reason
        self.box.setEnabled(reason is None)
        text = self.spec.idea_of(passes) if reason is None else reason
        self.line.setText(text)
        for widget in (self.box, self.line):
            set_tip(widget, with_line(self.spec.name, text))
        self.box.setAccessibleDescription(text)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the mark."""
        self.box.setIcon(mark_icon(self.spec.name, theme))


class Fold(QPushButton):
    """Folds rows away and says how many, and how many of them are chosen all the same."""

    def __init__(self, what: str, rows: Sequence[KernelRow], hint: str) -> None:
        super().__init__()
        self._what, self._rows = what, rows
        self.setCheckable(True)
        self.setProperty("role", "fold")
        keep(self, self.setFixedHeight, FOLD_PX)
        set_tip(self, with_line(what, hint))
        self.toggled.connect(self.refresh)

    def refresh(self) -> None:
        """Show or hide the rows, and count them."""
        folded = not self.isChecked()
        chosen = sum(row.chosen for row in self._rows)
        also = f", {chosen} chosen" if folded and chosen else ""
        self.setText(f"{'▸' if folded else '▾'} {self._what} ({len(self._rows)}{also})")
        for row in self._rows:
            row.setVisible(not folded)

    def reveal(self, kernels: Sequence[str]) -> None:
        """Unfold if one of these is among the rows."""
        if any(row.spec.name in kernels for row in self._rows):
            self.setChecked(True)
