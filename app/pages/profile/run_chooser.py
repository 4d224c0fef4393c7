"""Which of several runs of a plan is on show, and a way to the others."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton

from flashscope.app.control.chores import Chores
from flashscope.app.control.controller import Controller
from flashscope.app.widgets.menus import pop_up
from flashscope.app.widgets.plain import button_text, set_tip
from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.app.words.results.sessions import minute_of, named, numbered
from flashscope.profiles.results.model.families import Kinship, families
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import Headers, SessionInfo, listing

ALONE = "The session on show has no other run of its plan beside it."


class RunChooser(QPushButton):
    """Says "run 5 of 5" of a session that is one of several runs, and lists the others beside its file.

    Signals:
        file_chosen: Show this run (Path).
        noticed: There is none (str).
    """

    file_chosen = Signal(object)
    noticed = Signal(str)

    def __init__(self, controller: Controller) -> None:
        super().__init__()
        self._controller = controller
        self._chores = Chores(self)
        self.setAccessibleName("Runs of this plan")
        set_tip(self, "Which of several runs of one plan is on show; a click lists the others")
        self.clicked.connect(lambda _checked=False: self.open())
        controller.session_changed.connect(self.show_session)
        self.show_session(controller.session)

    @property
    def possible(self) -> bool:
        """Whether the session on show is one of several runs."""
        session = self._controller.session
        return session is not None and session.run_mark is not None and session.run_mark.of > 1

    def show_session(self, session: Session | None) -> None:
        """Say which run a session is; nothing of one that is alone."""
        mark = session.run_mark if session else None
        self.setText("" if mark is None else f"{numbered(mark)} ▾")
        self.setVisible(self.possible)

    def open(self) -> None:
        """List the runs once the folder has been read, in the background; of one that is alone say so."""
        path = self._controller.path
        if self.possible and path is not None:
            self._chores.do_instead(partial(runs_beside, path), self._pop_up)
        else:
            self.noticed.emit(ALONE)

    def menu_of(self, runs: Sequence[SessionInfo]) -> QMenu:
        """The runs, that on show marked."""
        menu = QMenu(self)
        for info in runs:
            action = menu.addAction(button_text(_told(info)))
            action.setCheckable(True)
            action.setChecked(info.path == self._controller.path)
            action.triggered.connect(lambda _checked, path=info.path: self.file_chosen.emit(path))
        if len(runs) <= 1:
            menu.addAction(QAction(ALONE, menu, enabled=False))
        return menu

    def _pop_up(self, runs: Sequence[SessionInfo]) -> None:
        if self.isVisible():
            pop_up(self.menu_of(runs), self.mapToGlobal(self.rect().bottomLeft()))


def runs_beside(path: Path) -> tuple[SessionInfo, ...]:
    """The runs of the plan that a file is one run of, in their order; reads the folder's list."""
    infos = [info for batch in listing(path.parent, Headers()) for info in batch]
    found = families(infos, lambda info: Kinship(info.run_mark, info.id, info.path))
    return next((one.runs for one in found if any(info.path == path for info in one.runs)), ())


def _told(info: SessionInfo) -> str:
    which = "" if info.run_mark is None else f"{numbered(info.run_mark)} · "
    return f"{which}{cut_short(named(info, info.path), MOST_OF_NAME)} · {minute_of(info)}"
