"""Whether the sweep of a session can go on, found out in the background: its file is checked for that."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from flashscope.app.control.bundled import check_own, is_own
from flashscope.app.control.chores import Chores
from flashscope.app.control.controller import Controller
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.results.model.remaining import Remaining, obstacle, remaining_of, unfinished
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import SessionFileError, check_resumable

NOTHING_LEFT = "There is nothing to resume: every point of this session has its answer."
NO_SESSION = "There is no session on show to resume; open one first."
MACHINE_UNKNOWN = "The devices of this machine are still being looked for; try again in a moment."


def resumable(controller: Controller) -> bool:
    """Whether the session on show has a file of the user's own and a plan that is not finished."""
    session, path = controller.session, controller.path
    if session is None or path is None or controller.running:
        return False
    return is_own(path) and unfinished(session)


class Resumer:
    """Goes on with sweeps that were broken off, where they are.

    Args:
        controller: Shows the session, and measures.
        why_not_run: Asks for kernels of the user's own that the plan names; why they may not run, or nothing.
    """

    def __init__(self, controller: Controller, why_not_run: Callable[[Sequence[OwnKernel]], str]) -> None:
        self._controller, self._why_not_run = controller, why_not_run
        self._chores = Chores(controller)
        self._chores.failed.connect(controller.error_raised)

    def resume(self, path: Path | None = None) -> None:
        """Read this file, or that of the session on show, and measure what is left of its plan."""
        chosen = path or self._controller.path
        why = self._controller.why_no_sweep
        if chosen is None or why:
            self._controller.error_raised.emit(why or NO_SESSION, "")
        else:
            self._controller.open_session(chosen, then=partial(self._check, chosen))

    def wait(self) -> None:
        """Return when no file is looked at; to be called before the controller goes."""
        self._chores.wait()

    def _check(self, path: Path) -> None:
        session, machine = self._controller.session, self._controller.machine
        if session is None:
            return
        if why := self._why_not_run(session.plan.own) if unfinished(session) else "":
            self._controller.error_raised.emit(why, "")
        else:
            self._chores.do(partial(_checked, session, path, machine), partial(self._go_on, session))

    def _go_on(self, session: Session, remaining: Remaining) -> None:
        if session is self._controller.session:
            self._controller.resume(remaining)


def _checked(session: Session, path: Path, machine: Machine | None) -> Remaining:
    """What is left of a session.

    Raises:
        SessionFileError: Nothing is, or it cannot be measured here into this file.
    """
    if machine is None:
        raise SessionFileError(MACHINE_UNKNOWN)
    remaining = remaining_of(session)
    if reason := NOTHING_LEFT if remaining.nothing else obstacle(session, machine):
        raise SessionFileError(reason)
    check_own(path)
    check_resumable(path)
    return remaining
