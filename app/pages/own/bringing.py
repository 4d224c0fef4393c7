"""Brings kernels of the user's own into the form's list, and takes them off it; all of that can be undone."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from flashscope.app.control.chores import Chores
from flashscope.app.control.edits import Edits
from flashscope.app.control.own.shelf import Brought, Lying, OwnShelf
from flashscope.app.control.own.sources import Sources, Unreadable, read_again, read_around, read_files
from flashscope.app.pages.own.asking import ask_to_bring, why_not_run
from flashscope.app.words.own.own_kernels import SHORT
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.own.files import file_of, kernels_folder, sha256_of

FILTER = "Kernels (*.cu *.py)"
GONE_ON = "Nothing of {} has run."


class Bringing(QObject):
    """Reads files in the background, asks, and makes the changes.

    Args:
        shelf: Where they come to lie.
        edits: Remembers what was changed.
        parent: A widget of the window that questions belong to.

    Signals:
        brought: Kernels of these names were brought and are wanted in the sweep (tuple of str).
        left: These are no longer wanted: that was undone (tuple of str).
        noticed: Something that the user should know of, in one line (str).
        failed: Something cannot be done: a sentence, and details (str, str).
    """

    brought = Signal(object)
    left = Signal(object)
    noticed = Signal(str)
    failed = Signal(str, str)

    def __init__(self, shelf: OwnShelf, edits: Edits, parent: QWidget) -> None:
        super().__init__(parent)
        self._shelf, self._edits, self._widget = shelf, edits, parent
        self._chores = Chores(self)
        self._chores.failed.connect(self.failed)

    def look(self) -> None:
        """Read what the user's folder declares now, and what packages offer."""
        self._chores.do(read_around, self._shelf.show_around)

    def choose(self) -> None:
        """Let the user choose files, and bring what they hold."""
        folder = kernels_folder()
        start = str(folder if folder.is_dir() else Path.home())
        paths, _filter = QFileDialog.getOpenFileNames(self._widget.window(), "Bring a kernel", start, FILTER)
        self.bring(list(map(Path, paths)))

    def bring(self, paths: Sequence[Path]) -> None:
        """Bring what these files hold, after a question where it is Python."""
        if paths:
            self._chores.do(partial(read_files, list(map(str, paths))), self._take)

    def remove(self, name: str) -> None:
        """Take a kernel off the list."""
        before = self._shelf.lying
        after = before.without(name)
        if after != before:
            self._shelf.put(after)
            self._note(f"{name} taken off the list", after, before, ())

    def may_run(
        self,
        kernels: Sequence[OwnKernel],
        go_on: Callable[[], None],
        again: Callable[[], None],
        *,
        watched: bool = False,
    ) -> None:
        """Say why these may not run, after a question where one is due, or go on.

        Args:
            kernels: Those of a plan.
            go_on: Does what was asked for.
            again: Asks for it once more: files that have changed since were read anew, and that was said.
            watched: Whether each later save of their files is to run, too.
        """
        changed = [one for one in kernels if self._shelf.is_named(one) and _has_changed(one)]
        if changed:
            self._chores.do(partial(read_again, changed), partial(self._take_newer, tuple(changed), again))
        elif why := why_not_run(self._widget.window(), kernels, self._shelf.is_named, watched=watched):
            self.failed.emit(why, "")
        else:
            go_on()

    def wait(self) -> None:
        """Return when no file is read."""
        self._chores.wait()

    def _take(self, found: Sources) -> None:
        self._tell(found.faults)
        window = self._widget.window()
        agreed = [own for own in found.kernels if ask_to_bring(window, own, named=True)]
        refused = [own.name for own in found.kernels if own not in agreed]
        if refused and not found.faults:
            self.noticed.emit(GONE_ON.format(", ".join(refused)))
        if not agreed:
            return
        before = self._shelf.lying
        names = tuple(own.name for own in self._shelf.bring(agreed))
        self.brought.emit(names)
        self._note(f"{', '.join(names)} brought in", self._shelf.lying, before, names)

    def _take_newer(self, before: Brought, again: Callable[[], None], found: Sources) -> None:
        """Ask again with the files as they are now, and say which have changed."""
        if found.faults:
            self._tell(found.faults)
            return
        newer = self._shelf.bring(found.kernels)
        told = (
            f"{new.path} has changed since it was read: "
            f"sha256 {new.sha256[:SHORT]}…, not {old.sha256[:SHORT]}…."
            for old, new in zip(before, newer, strict=True)
        )
        self.noticed.emit(" ".join([*told, "It is measured as it is now."]))
        again()

    def _tell(self, faults: Sequence[Unreadable]) -> None:
        if faults:
            first, *others = faults
            more = f" {len(others)} more in the details." if others else ""
            lines = [line for fault in faults for line in (fault.text, fault.detail) if line]
            self.failed.emit(f"{first.text}{more}", "\n".join(lines))

    def _note(self, words: str, after: Lying, before: Lying, names: tuple[str, ...]) -> None:
        """Remember how the list is made as it was, and again as it is."""

        def forth() -> str:
            self._shelf.put(after)
            if names:
                self.brought.emit(names)
            return ""

        def back() -> str:
            self.left.emit(names)
            self._shelf.put(before)
            return ""

        self._edits.note(words, forth, back)


def _has_changed(own: OwnKernel) -> bool:
    return sha256_of(file_of(own)) not in {own.sha256, None}
