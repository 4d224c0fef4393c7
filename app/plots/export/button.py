"""The small menu of every plot: PNG, SVG, CSV, clipboard; painted in turns, written in the background."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import qtawesome
from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog, QMenu, QToolButton, QWidget

from flashscope.app.control.chores import Chores, ChoreSteps
from flashscope.app.look.theme import Theme
from flashscope.app.plots.export.contents import Export
from flashscope.app.plots.export.picture import WRITERS, Encode, image
from flashscope.app.widgets.buttons import ICON_PX, IconButton, size_icon
from flashscope.app.widgets.clipboard import copy_text
from flashscope.app.widgets.plain import set_tip
from flashscope.app.widgets.saving import write_chosen
from flashscope.profiles.store import write_atomically

MakeExport = Callable[[], Export | None]
TITLES = {"png": "Save as PNG ...", "svg": "Save as SVG ...", "csv": "Save numbers as CSV ..."}


class ExportButton(IconButton):
    """Asks its plot for what to write when it is used.

    Signals:
        failed: A file could not be written: one sentence, and details (str, str).
        done: What was written or copied, in one sentence (str).
    """

    failed = Signal(str, str)
    done = Signal(str)

    def __init__(
        self, what: str, make_export: MakeExport, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._make_export = make_export
        self._chores = Chores(self)
        self._chores.failed.connect(self._tell_failure)
        self.setProperty("role", "quiet")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.rename(what)
        menu = QMenu(self)
        for kind, title in TITLES.items():
            menu.addAction(title).triggered.connect(partial(self._ask, kind))
        menu.addSeparator()
        menu.addAction("Copy picture").triggered.connect(self.copy)
        menu.addAction("Copy numbers").triggered.connect(self.copy_numbers)
        self.setMenu(menu)
        size_icon(self, ICON_PX)
        self.apply_theme(theme)

    def rename(self, what: str) -> None:
        """Say that the button exports something else."""
        self.setAccessibleName(f"Export {what}")
        set_tip(self, f"Export {what}: PNG, SVG, CSV or clipboard")

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the icon."""
        self.setIcon(qtawesome.icon("mdi6.tray-arrow-down", color=theme.dim))

    def copy(self) -> None:
        """Put the picture on the clipboard; `done` follows."""
        if (export := self._make_export()) is not None:
            self._chores.do_after(_held(image(export)), partial(self._take, export.title))

    def copy_numbers(self) -> None:
        """Put the numbers on the clipboard as CSV; `done` follows."""
        if (export := self._make_export()) is not None:
            self._chores.do_after(WRITERS["csv"](export), partial(self._take_numbers, export.title))

    def _take_numbers(self, title: str, numbers: bytes) -> None:
        copy_text(numbers.decode())
        self.done.emit(f"The numbers are on the clipboard: {title}.")

    def _take(self, title: str, picture: QImage) -> None:
        QGuiApplication.clipboard().setImage(picture)
        self.done.emit(f"The picture is on the clipboard: {title}.")

    def save(self, kind: str, path: Path) -> None:
        """Write one kind of file, its ending added if need be; `done` or `failed` follows."""
        if (export := self._make_export()) is None:
            return
        self._chores.do_after(
            _written(WRITERS[kind](export), path, f".{kind}"),
            lambda target: self.done.emit(f"Exported {export.title} to {target.name}."),
        )

    def _tell_failure(self, why: str, details: str) -> None:
        self.failed.emit(f"The export was not written: {why} Choose another folder.", details)

    def _ask(self, kind: str) -> None:
        if (export := self._make_export()) is None:
            return
        chosen, _ = QFileDialog.getSaveFileName(
            self, TITLES[kind], f"{export.name}.{kind}", f"{kind.upper()} (*.{kind})"
        )
        if chosen:
            self.save(kind, Path(chosen))


def _held(picture: ChoreSteps[QImage]) -> ChoreSteps[Callable[[], QImage]]:
    made = yield from picture
    return lambda: made


def _written(content: ChoreSteps[Encode], path: Path, suffix: str) -> ChoreSteps[Callable[[], Path]]:
    encode = yield from content
    return partial(
        write_chosen, path, (suffix,), lambda target: write_atomically(target, encode(), replace=True)
    )
