"""Files that are dragged over the window: it shows where they would land, and takes them."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtGui import QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from flashscope.app.pages.base import Page
from flashscope.app.pages.landing import Landing
from flashscope.app.shell.paged_window import PagedWindow
from flashscope.app.stage.story import ENDING
from flashscope.app.widgets.frame.drop_sheet import DropSheet
from flashscope.app.words.plain import cut_short
from flashscope.profiles.store import SUFFIX

OPEN, EDIT = "Open this recording", "Open this story, to edit and present it"
TAKEN = f"Drop a recording ({SUFFIX}) or a story ({ENDING})."


class Drops:
    """What the window does with a drag.

    Args:
        window: Shows the sheet; its page in front is asked first.
        edit: Opens the story of a path where it is edited.
        compare: Compares these recordings.
        tell: Says why nothing was taken.

    Attributes:
        sheet: Says what will happen.
    """

    def __init__(
        self,
        window: PagedWindow,
        edit: Callable[[Path], None],
        compare: Callable[[Sequence[Path]], None],
        tell: Callable[[str], None],
    ) -> None:
        self._window, self._edit, self._compare, self._tell = window, edit, compare, tell
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
        strange = next((one for one in files if one.suffix not in {SUFFIX, ENDING}), None)
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
            return Landing(place, f"Compare these {len(files)} recordings", partial(self._compare, files))
        return Landing(place, "A story is opened alone: drop one file.")


def _files(event: QDropEvent) -> list[Path]:
    return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]


def _is_recording(path: Path) -> bool:
    return path.suffix == SUFFIX
