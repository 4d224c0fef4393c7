"""Files that are dragged over the window: it shows where they would land, and takes them."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtGui import QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from flashscope.app.control.own.sources import is_source
from flashscope.app.pages.base import Page
from flashscope.app.pages.landing import Landing
from flashscope.app.pages.registry import SHOWING
from flashscope.app.shell.paged_window import PagedWindow
from flashscope.app.stage.story import ENDING
from flashscope.app.widgets.frame.drop_sheet import DropSheet
from flashscope.app.words.plain import cut_short
from flashscope.kernels.own.files import SUFFIXES
from flashscope.profiles.cluster.connection import SUFFIX as CONNECTION
from flashscope.profiles.store import SUFFIX

OPEN, EDIT = "Open this recording", "Open this story, to edit and present it"
CONNECT = "Open the dialog that connects, with this file; it asks first"
BRING = "Bring {} into the sweep's form; it is read, not run"
TAKEN = (
    f"Drop a recording ({SUFFIX}), a story ({ENDING}), a kernel ({', '.join(SUFFIXES)}) "
    f"or a connection file ({CONNECTION})."
)


class Drops:
    """What the window does with a drag.

    Args:
        window: Shows the sheet; its page in front is asked first.
        edit: Opens the story of a path where it is edited.
        connect: Opens the dialog that connects, with a connection file in its field.
        tell: Says why nothing was taken.

    Attributes:
        sheet: Says what will happen.
    """

    def __init__(
        self,
        window: PagedWindow,
        edit: Callable[[Path], None],
        connect: Callable[[Path], None],
        tell: Callable[[str], None],
    ) -> None:
        self._window, self._edit, self._connect, self._tell = window, edit, connect, tell
        self.sheet = DropSheet(window)

    def enter(self, event: QDragMoveEvent) -> None:
        """Take local files, or let a drag of anything else pass."""
        if _files(event):
            event.acceptProposedAction()
            self.move(event)

    def move(self, event: QDragMoveEvent) -> None:
        """Show what would happen where the pointer is."""
        landing = self._landing(_files(event), event.position().toPoint())
        self.sheet.show_over(landing.place, landing.words, refused=landing.act is None)
        event.setAccepted(landing.act is not None)

    def leave(self) -> None:
        """Show nothing any more."""
        self.sheet.hide()

    def drop(self, event: QDropEvent) -> None:
        """Do what the sheet says."""
        self.sheet.hide()
        files = _files(event)
        landing = self._landing(files, event.position().toPoint()) if files else None
        if landing is None or landing.act is None:
            self._tell(landing.words if landing else TAKEN)
            return
        event.acceptProposedAction()
        landing.act()

    def _landing(self, files: Sequence[Path], at: QPoint) -> Landing:
        if all(map(is_source, files)):
            what = cut_short(files[0].name) if len(files) == 1 else f"these {len(files)} kernels"
            return Landing(self._window.stack, BRING.format(what), partial(self._bring, files))
        if [one.suffix for one in files] == [CONNECTION]:
            return Landing(self._window.stack, CONNECT, partial(self._connect, files[0]))
        strange = next((one for one in files if one.suffix not in {SUFFIX, ENDING, *SUFFIXES}), None)
        if strange is not None:
            return Landing(self._window.stack, f"{cut_short(strange.name)} cannot be opened. {TAKEN}")
        return self._of_page(files, at) or self._of_window(files)

    def _of_page(self, files: Sequence[Path], at: QPoint) -> Landing | None:
        """What the page under the pointer does with recordings."""
        page: Page = self._window.page
        under = page.rect().contains(page.mapFrom(self._window, at))
        return page.landing(files) if under and all(map(_is_recording, files)) else None

    def _of_window(self, files: Sequence[Path]) -> Landing:
        place: QWidget = self._window.stack
        first, *others = files
        if not others and _is_recording(first):
            return Landing(place, OPEN, partial(self._window.controller.open_session, first))
        if not others:
            return Landing(place, EDIT, partial(self._edit, first))
        if all(map(_is_recording, files)):
            compare = partial(self._window.show_files, "compare", files)
            return Landing(place, f"Compare these {len(files)} recordings", compare)
        if any(map(is_source, files)):
            return Landing(place, "Drop kernels alone, or recordings alone.")
        return Landing(place, "A story is opened alone: drop one file.")

    def _bring(self, files: Sequence[Path]) -> None:
        self._window.show_page(SHOWING)
        self._window.pages[SHOWING].take_kernels(files)


def _files(event: QDropEvent) -> list[Path]:
    return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]


def _is_recording(path: Path) -> bool:
    return path.suffix == SUFFIX
