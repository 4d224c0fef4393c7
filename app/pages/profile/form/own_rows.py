"""The user's own kernels in the list: like any other, with their file, and what takes them off the list."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from flashscope.app.control.own.shelf import OwnShelf
from flashscope.app.control.own.sources import Unreadable
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.profile.form.kernel_row import INDENT_PX, Fold, KernelRow
from flashscope.app.widgets.buttons import icon_button, recolour
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.words.own.own_kernels import origin, takes
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.own.files import kernels_folder
from flashscope.kernels.own.references import GROUP
from flashscope.kernels.own.spec import spec_of
from flashscope.kernels.workload.problem import Passes

YOURS = "yours"
INDENT = 14  # pixels that they stand in under their fold
BUTTON_PX = 24
WATCH_ICON = "mdi6.eye-outline"
HINT = "Kernels of your own: files that you brought, those in your folder, and those of installed packages"
NONE = "none yet: bring a .cu or .py file"
WAYS = "Bring or drop a file, put files into {}, or install a package with entry points of the group {}."


class OwnRow(KernelRow):
    """One kernel of the user's own.

    Args:
        spec: The kernel.
        own: What it declares.
        theme: The colours.
        watch: Measures it at each save of its file.
        remove: Takes it off the list; None: it stays as long as its file lies in the folder.
    """

    def __init__(
        self,
        spec: KernelSpec,
        own: OwnKernel,
        theme: Theme,
        watch: Callable[[str], None],
        remove: Callable[[str], None] | None,
    ) -> None:
        self._buttons: list[QToolButton] = []
        super().__init__(spec, theme, INDENT)
        self.own = own
        self.box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        if not own.module:  # a package's module is read once
            self._add(WATCH_ICON, f"Watch {spec.name}: measure it anew at each save of its file", watch)
        if remove is not None:
            self._add("mdi6.close", f"Take {spec.name} off the list", remove)
        self.apply_theme(theme)

    def _add(self, icon: str, name: str, act: Callable[[str], None]) -> None:
        button = icon_button(icon, name, lambda: act(self.spec.name))
        keep(button, button.setFixedSize, BUTTON_PX, BUTTON_PX)
        self.first.addWidget(button)
        self._buttons.append(button)

    def show_reason(self, reason: str | None, passes: Passes) -> None:
        """As any kernel does; the tip has the file and what it takes besides."""
        super().show_reason(reason, passes)
        told = f"{self.own.name}: {reason or self.spec.idea_of(passes)}\n"
        package = f"From the installed package's module {self.own.module}\n" if self.own.module else ""
        told += f"Takes {takes(self.own)}\n{package}{origin(self.own)}"
        for widget in (self.box, self.line):
            set_tip(widget, told)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the mark and the button."""
        super().apply_theme(theme)
        for button in self._buttons:
            recolour(button, theme)


class FaultRow(QWidget):
    """A file of the folder that declares no kernel: what is wrong, where a kernel's name would begin."""

    def __init__(self, fault: Unreadable) -> None:
        super().__init__()
        line = ElidedLabel(fault.text)
        line.setProperty("role", "unit")
        line.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        line.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)  # its own tip has no detail
        set_tip(self, "\n".join(filter(None, (fault.text, fault.detail))))
        column = QVBoxLayout(self)
        keep(self, lambda left: column.setContentsMargins(left, 0, 0, 0), INDENT + INDENT_PX)
        column.addWidget(line)


class OwnRows(QWidget):
    """All of them under one fold; while there are none, how they come.

    Attributes:
        rows: One a kernel, in the order in which they came.
        fold: Folds them away.

    Signals:
        changed: Another choice.
        remove_wanted: A kernel is to go off the list (str).
        watch_wanted: A kernel is to be measured at each save of its file (str).
    """

    changed = Signal()
    watch_wanted = Signal(str)
    remove_wanted = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self.rows: list[OwnRow] = []
        self._faults: list[QWidget] = []
        self._shelf: OwnShelf | None = None
        self.fold = Fold(YOURS, self.rows, HINT)
        self.fold.setChecked(True)
        self._column.addWidget(self.fold)
        self.none = PlainLabel(NONE)
        self.none.setProperty("role", "unit")
        set_tip(self.none, WAYS.format(kernels_folder(), GROUP))
        indented = QHBoxLayout()
        keep(self, lambda left: indented.setContentsMargins(left, 0, 0, 0), INDENT_PX)
        indented.addWidget(self.none)
        self._column.addLayout(indented)
        self.refresh()

    def show_shelf(self, shelf: OwnShelf) -> None:
        """Have a row for each kernel that lies there, with the ticks of the names that are here already."""
        self._shelf = shelf
        ticked = {row.spec.name for row in self.rows if row.box.isChecked()}
        self._clear()
        for place, own in enumerate(shelf.kernels):
            remove = self.remove_wanted.emit if shelf.can_go(own.name) else None
            row = OwnRow(spec_of(own, place), own, self._theme, self.watch_wanted.emit, remove)
            row.box.setChecked(own.name in ticked)
            row.box.toggled.connect(self.changed)
            self.rows.append(row)
            self._column.addWidget(row)
        self._show_faults(shelf.faults)
        self.refresh()
        self.changed.emit()

    def register(self) -> None:
        """Have the names mean the kernels of these rows, whatever session was opened since."""
        if self._shelf is not None:
            self._shelf.register()

    def refresh(self) -> None:
        """Show or hide the rows, and count them."""
        self.fold.refresh()
        for line in self._faults:
            line.setVisible(self.fold.isChecked())
        self.none.setVisible(self.fold.isChecked() and not (self.rows or self._faults))

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the marks."""
        self._theme = theme
        for row in self.rows:
            row.apply_theme(theme)

    def _show_faults(self, faults: Sequence[Unreadable]) -> None:
        for fault in faults:
            line = FaultRow(fault)
            self._faults.append(line)
            self._column.addWidget(line)

    def _clear(self) -> None:
        for widget in (*self.rows, *self._faults):
            self._column.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self.rows.clear()
        self._faults.clear()
