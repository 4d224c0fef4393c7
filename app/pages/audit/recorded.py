"""The audits that come with the program: buttons where none is on show, a choice beside the one that is."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy

from flashscope.app.control.bundled import AUDITS, audit_recordings
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.empty_view import EmptyView
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.words.learn.audits import HOW_TO_AUDIT, RECORDED_AUDITS, WHAT_IS_AUDITED

OTHER = "your session"


class EmptyAudits(EmptyView):
    """Words where there is no audit, and the ways on.

    Attributes:
        buttons: One for each audit that comes with the program.

    Args:
        show: Opens one.
    """

    def __init__(self, show: Callable[[Path], None]) -> None:
        super().__init__(WHAT_IS_AUDITED, HOW_TO_AUDIT)
        self.buttons = [_opening(path, show) for path in audit_recordings()]
        told = PlainLabel(RECORDED_AUDITS, alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        lines = Lines(self.buttons, (), 8)  # as few as there is room for
        lines.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        if self.buttons:
            self.add(told, lines)


def _opening(path: Path, show: Callable[[Path], None]) -> QPushButton:
    name = AUDITS[path.stem]
    button = text_button(name, f"Show the recorded audit of {name}", partial(show, path))
    set_tip(button, button.accessibleName())
    return button


class RecordedAudits(DropDown):
    """A choice among the audits that come with the program; one of the user's own stands before them.

    Signals:
        path_chosen: The user has chosen one (Path).
    """

    path_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._paths = audit_recordings()
        self.setAccessibleName("Audited model on show")
        set_tip(self, "The model: that of the session on show, and those that come with the program")
        self.activated.connect(self._choose)

    def show_file(self, path: Path | None) -> None:
        """Say which file is on show."""
        here = [one for one in self._paths if path is not None and one.resolve() == path.resolve()]
        with QSignalBlocker(self):
            self.clear()
            if not here:
                self.addItem(OTHER, None)
            for one in self._paths:
                self.addItem(AUDITS[one.stem], one)
            self.setCurrentIndex(self._paths.index(here[0]) if here else 0)
        self.setVisible(self.count() > 1)

    def _choose(self, place: int) -> None:
        path = self.itemData(place)
        if path is not None:
            self.path_chosen.emit(path)
