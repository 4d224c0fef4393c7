"""The kernels there are: a mark, a name, one line of what the idea is, or why it cannot be chosen."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.profile.form.reasons import unavailable
from flashscope.app.plots.marks import mark_icon
from flashscope.app.widgets.buttons import size_icon
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.glossary import with_line
from flashscope.kernels.catalogue.ladder import LADDER
from flashscope.kernels.catalogue.registry import KERNELS, base_of
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Passes
from flashscope.profiles.plan.request import Request

INDENT_PX = 44  # where the name begins, after box and mark
VARIANT_PX = 14  # how far a variant stands in from the kernel it belongs to
FOLD_PX = 22  # height of a fold's button
PEERS = "library"  # their place among the folds


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


class KernelList(QWidget):
    """All of the registry, unavailable ones disabled with the reason; variants and library peers fold away.

    Attributes:
        rows: One a kernel, in the order of the registry.
        folds: What folds rows away, by the name of the kernel they are variants of; the library peers by
            `PEERS`. They are folded until one of their kernels is chosen.

    Signals:
        changed: Another choice.
    """

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        made = {spec.name: KernelRow(spec, theme, _indent(spec)) for spec in KERNELS}
        self.rows = tuple(made.values())
        self.folds: dict[str, Fold] = {}
        for base in (row for row in self.rows if row.spec in LADDER and base_of(row.spec.name) is None):
            self._add(base, [row for row in self.rows if base_of(row.spec.name) == base.spec.name])
        self._add_peers([row for row in self.rows if row.spec not in LADDER])
        for row in self.rows:
            row.box.toggled.connect(self.changed)
        for fold in self.folds.values():
            fold.refresh()

    def chosen(self) -> tuple[str, ...]:
        """Ticked kernels that can be chosen."""
        return tuple(row.spec.name for row in self.rows if row.chosen)

    def refused(self) -> dict[str, str]:
        """Ticked kernels that cannot be chosen, each with the reason."""
        return {row.spec.name: row.reason for row in self.rows if row.reason and row.box.isChecked()}

    def choose(self, kernels: tuple[str, ...]) -> None:
        """Tick exactly these."""
        for row in self.rows:
            row.box.setChecked(row.spec.name in kernels)
        for fold in self.folds.values():
            fold.reveal(kernels)

    def show_reasons(self, request: Request, device: Device | None) -> None:
        """Disable what the request's problem or the device rules out."""
        for row in self.rows:
            row.show_reason(unavailable(row.spec, request, device), request.passes)
        for fold in self.folds.values():
            fold.refresh()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the marks."""
        for row in self.rows:
            row.apply_theme(theme)

    def _add(self, base: KernelRow, variants: Sequence[KernelRow]) -> None:
        """A kernel, and in its line what unfolds its variants below it."""
        self._column.addWidget(base)
        if variants:
            name = base.spec.name
            fold = Fold("variants", variants, f"Steps to {name}, and what it can do otherwise")
            fold.setAccessibleName(f"Variants of {name}")
            base.first.addWidget(fold)
            self.folds[name] = fold
        for row in variants:
            self._column.addWidget(row)

    def _add_peers(self, peers: Sequence[KernelRow]) -> None:
        fold = Fold("library peers", peers, "Kernels of other libraries, to compare with")
        self._column.addWidget(fold)
        self.folds[PEERS] = fold
        for row in peers:
            self._column.addWidget(row)


def _indent(spec: KernelSpec) -> int:
    return 0 if base_of(spec.name) is None else VARIANT_PX
