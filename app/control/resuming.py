"""Whether the sweep of a session can go on, found out in the background: its file is checked for that."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QThreadPool, Signal

from app.control.bundled import check_own, is_own
from app.control.controller import Controller
from app.control.guard import guarded
from profiles.plan.machine import Machine
from profiles.results.rest import Rest, obstacle, rest_of, unfinished
from profiles.results.session import Session
from profiles.store import SessionFileError, check_resumable

NOTHING_LEFT = "There is nothing to resume: every point of this session has its answer."
NO_SESSION = "There is no session on show to resume; open one first, or wait for what runs."
MACHINE_UNKNOWN = "The devices of this machine are still being looked for; try again in a moment."


def resumable(controller: Controller) -> bool:
    """Whether the session on show has a file of the user's own and a plan that is not finished."""
    session, path = controller.session, controller.path
    if session is None or path is None or controller.running:
        return False
    return is_own(path) and unfinished(session)


class Resumer(QObject):
    """Goes on with sweeps that were broken off, where they are.

    Signals:
        ready: What is left of a session can be measured here (Session, Rest).
        refused: It cannot, or nothing is left: one sentence (str).
    """

    ready = Signal(object, object)
    refused = Signal(str)

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        self._controller = controller
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self.ready.connect(self._go_on)
        self.refused.connect(lambda reason: controller.error_raised.emit(reason, ""))

    def resume(self, path: Path | None = None) -> None:
        """Read this file, or that of the session on show, and measure what is left of its plan."""
        chosen = path or self._controller.path
        if chosen is None or self._controller.running:
            self.refused.emit(NO_SESSION)
        else:
            self._controller.open_session(chosen, then=partial(self._check, chosen))

    def wait(self) -> None:
        """Return when no file is looked at; to be called before this object goes."""
        self._pool.waitForDone()

    def _check(self, path: Path) -> None:
        session, machine = self._controller.session, self._controller.machine
        if machine is None:
            self.refused.emit(MACHINE_UNKNOWN)
        elif session is not None:
            self._pool.start(partial(self._look, session, path, machine))

    @guarded()
    def _look(self, session: Session, path: Path, machine: Machine) -> None:
        rest = rest_of(session)
        reason = NOTHING_LEFT if rest.nothing else obstacle(session, machine)
        try:
            if not reason:
                check_own(path)
                check_resumable(path)
        except SessionFileError as error:
            reason = str(error)
        if reason:
            self.refused.emit(reason)
        else:
            self.ready.emit(session, rest)

    def _go_on(self, session: Session, rest: Rest) -> None:
        if session is self._controller.session:
            self._controller.run(session.plan, rest)
