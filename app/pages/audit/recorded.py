"""The audits that come with the program: a choice where none is on show, and beside the one that is."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QSizePolicy

from flashscope.app.control.bundled import AUDITS, audit_recordings
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.empty_view import EmptyView
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.words.learn.audits import HOW_TO_AUDIT, RECORDED_AUDITS, WHAT_IS_AUDITED

OTHER, CHOOSE = "your session", "Choose a model …"
AUDIT_TIP = "Run a model, record its attention calls, and replay them over the kernels here"


class RecordedAudits(DropDown):
    """A choice among the audits that come with the program; what is none of them stands before them.

    Signals:
        path_chosen: The user has chosen one (Path).

    Args:
        other: What stands before them where none of them is on show.
    """

    path_chosen = Signal(object)

    def __init__(self, other: str = OTHER) -> None:
        super().__init__()
        self._other = other
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
                self.addItem(self._other, None)
            for one in self._paths:
                self.addItem(AUDITS[one.stem], one)
            self.setCurrentIndex(self._paths.index(here[0]) if here else 0)
        self.setVisible(self.count() > 1)

    def _choose(self, place: int) -> None:
        path = self.itemData(place)
        if path is not None:
            self.path_chosen.emit(path)


class EmptyAudits(EmptyView):
    """Words where there is no audit, and the ways on.

    Attributes:
        choice: The audits that come with the program.

    Args:
        show: Opens one.
        audit: Asks for a model and audits it.
    """

    def __init__(self, show: Callable[[Path], None], audit: Callable[[], None]) -> None:
        super().__init__(WHAT_IS_AUDITED, HOW_TO_AUDIT)
        self.audit = text_button("Audit a model …", AUDIT_TIP, audit, "primary")
        self.add(self.audit)
        self.choice = RecordedAudits(CHOOSE)
        self.choice.setAccessibleName("Recorded audit to show")
        set_tip(self.choice, "The models whose audits come with the program, and where they ran")
        self.choice.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.choice.path_chosen.connect(show)
        told = PlainLabel(RECORDED_AUDITS, alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        if audit_recordings():
            self.add(told, self.choice)
            self.choice.show_file(None)
            self.choice.path_chosen.connect(
                lambda _path: self.choice.show_file(None)
            )  # none is, when it is back
