"""What the menus of a plot write: PNG, SVG, CSV, clipboard; painted in turns, written in the background."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from flashscope.app.control.chores import Chores, ChoreSteps
from flashscope.app.plots.export.contents import Export
from flashscope.app.plots.export.picture import WRITERS, Encode, image
from flashscope.app.widgets.clipboard import copy_text
from flashscope.app.widgets.dialogs.saving import write_chosen
from flashscope.profiles.store import write_atomically

MakeExport = Callable[[], Export | None]
TITLES = {"png": "Save as PNG ...", "svg": "Save as SVG ...", "csv": "Save numbers as CSV ..."}
NUMBERS = "csv"


class Exporter(QObject):
    """Asks its plot for what to write when it is used.

    Signals:
        failed: A file could not be written: one sentence, and details (str, str).
        done: What was written or copied, in one sentence (str).

    Attributes:
        offered: Whether there is anything to write now that may be asked for.
        badge: Gives what the window's badge says of what is on show.

    Args:
        make_export: Gives what to write, None while there is nothing.
        over: What shows the plot; dialogs stand over it.
        offered: Whether it may be asked for.
        numbers: Whether there are numbers beside the picture.
    """

    failed = Signal(str, str)
    done = Signal(str)

    def __init__(
        self, make_export: MakeExport, over: QWidget, offered: Callable[[], bool], *, numbers: bool = True
    ) -> None:
        super().__init__(over)
        self.offered = offered
        self.badge: Callable[[], str] = str
        self._make_export, self._over, self._numbers = make_export, over, numbers
        self._chores = Chores(self)
        self._chores.failed.connect(self._tell_failure)

    def fill(self, menu: QMenu) -> None:
        """Add its entries to a menu."""
        for kind, title in TITLES.items():
            if self._numbers or kind != NUMBERS:
                menu.addAction(title).triggered.connect(partial(self._ask, kind))
        menu.addSeparator()
        menu.addAction("Copy picture").triggered.connect(self.copy)
        if self._numbers:
            menu.addAction("Copy numbers").triggered.connect(self.copy_numbers)

    def copy(self) -> None:
        """Put the picture on the clipboard; `done` follows."""
        if (export := self._export()) is not None:
            self._chores.do_after(_held(image(export)), partial(self._take, export.title))

    def copy_numbers(self) -> None:
        """Put the numbers on the clipboard as CSV; `done` follows."""
        if (export := self._export()) is not None:
            self._chores.do_after(WRITERS[NUMBERS](export), partial(self._take_numbers, export.title))

    def save(self, kind: str, path: Path) -> None:
        """Write one kind of file, its ending added if need be; `done` or `failed` follows."""
        if (export := self._export()) is None:
            return
        self._chores.do_after(
            _written(WRITERS[kind](export), path, f".{kind}"),
            lambda target: self.done.emit(f"Exported {export.title} to {target.name}."),
        )

    def _export(self) -> Export | None:
        """What to write, and where it comes from."""
        export = self._make_export()
        return None if export is None else replace(export, badge=self.badge())

    def _take_numbers(self, title: str, numbers: bytes) -> None:
        copy_text(numbers.decode())
        self.done.emit(f"The numbers are on the clipboard: {title}.")

    def _take(self, title: str, picture: QImage) -> None:
        QGuiApplication.clipboard().setImage(picture)
        self.done.emit(f"The picture is on the clipboard: {title}.")

    def _tell_failure(self, why: str, details: str) -> None:
        self.failed.emit(f"The export was not written: {why}", details)

    def _ask(self, kind: str) -> None:
        if (export := self._make_export()) is None:
            return
        chosen, _ = QFileDialog.getSaveFileName(
            self._over, TITLES[kind], f"{export.name}.{kind}", f"{kind.upper()} (*.{kind})"
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
