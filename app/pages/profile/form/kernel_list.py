"""The kernels there are: a mark, a name, one line of what the idea is, or why it cannot be chosen."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from flashscope.app.look.theme import Theme
from flashscope.app.pages.profile.form.kernel_row import Fold, KernelRow
from flashscope.app.pages.profile.form.own_rows import OwnRows
from flashscope.app.pages.profile.form.reasons import unavailable
from flashscope.kernels.catalogue.ladder import LADDER
from flashscope.kernels.catalogue.registry import KERNELS, base_of
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.workload.device import Device
from flashscope.profiles.plan.request import Request

VARIANT_PX = 14  # how far a variant stands in from the kernel it belongs to
PEERS = "library"  # their place among the folds


class KernelList(QWidget):
    """All of the registry, unavailable ones disabled with the reason; variants and library peers fold away.

    Attributes:
        own: The kernels of the user's own, the first of the list where there are any.
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
        self.own = OwnRows(theme)
        self.own.changed.connect(self.changed)
        self._column.addWidget(self.own)
        self._known = tuple(KernelRow(spec, theme, _indent(spec)) for spec in KERNELS)
        self.folds: dict[str, Fold] = {}
        for base in (row for row in self._known if row.spec in LADDER and base_of(row.spec.name) is None):
            self._add(base, [row for row in self._known if base_of(row.spec.name) == base.spec.name])
        self._add_peers([row for row in self._known if row.spec not in LADDER])
        for row in self._known:
            row.box.toggled.connect(self.changed)
        for fold in self.folds.values():
            fold.refresh()

    @property
    def rows(self) -> tuple[KernelRow, ...]:
        """One a kernel: the registry's in its order, then the user's own."""
        return (*self._known, *self.own.rows)

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
        for fold in (*self.folds.values(), self.own.fold):
            fold.reveal(kernels)

    def tick(self, kernels: Sequence[str], *, on: bool) -> None:
        """Tick these besides what is ticked, or take their ticks away."""
        ticked = tuple(row.spec.name for row in self.rows if row.box.isChecked())
        self.choose(tuple(name for name in (*ticked, *kernels) if on or name not in kernels))

    def show_reasons(self, request: Request, device: Device | None) -> None:
        """Disable what the request's problem or the device rules out."""
        self.own.register()
        for row in self.rows:
            row.show_reason(unavailable(row.spec, request, device), request.passes)
        for fold in self.folds.values():
            fold.refresh()
        self.own.refresh()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the marks."""
        for row in self._known:
            row.apply_theme(theme)
        self.own.apply_theme(theme)

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
