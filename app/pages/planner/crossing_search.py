"""Finds on this machine where a tiled kernel overtakes standard: small sweeps through the controller."""

from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QObject, QTimer, Signal

from flashscope.app.control.controller import Controller
from flashscope.app.words.learn.planning import crossing_text
from flashscope.app.words.results.progress import count_text
from flashscope.app.words.units import thousands
from flashscope.kernels.catalogue.registry import LESSON, find_kernel
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.models import Model, Setting
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.planner.crossing import STANDARD, Search, leads
from flashscope.profiles.results.planner.ledger import layer_problem

FIRST = tuple(16 << k for k in range(7))  # 16 to 1024
MOST = {"cuda": 16_384, "cpu": 2048}  # a search goes no further
QUICK = Protocol(warmup=1, time_cap_s=1.0, drift_check=False)
STOPPED = "The search was stopped."
NO_DEVICE = "This machine is still being looked at; try again in a moment."


class CrossingSearch(QObject):
    """One search at a time; its sweeps are saved and shown as any other.

    Signals:
        reported: How it goes, or what was found (str).
        ended: It is over.
    """

    reported = Signal(str)
    ended = Signal()

    def __init__(self, controller: Controller, parent: QObject) -> None:
        super().__init__(parent)
        self._controller = controller
        self._search: Search | None = None
        self._plan: Plan | None = None
        self._sweeps = 0
        self._ran: set[str] = set()  # ids of its sweeps' sessions
        controller.running_changed.connect(self._follow)
        controller.sweep_told.connect(lambda _events: self._tell())

    @property
    def active(self) -> bool:
        """Whether it searches."""
        return self._search is not None

    def ran(self, session: Session | None) -> bool:
        """Whether a session is one of its sweeps."""
        return session is not None and session.id in self._ran

    def start(self, model: Model, setting: Setting) -> None:
        """Search for a layer of this model, on the backend in use; why that cannot be is told."""
        machine, backend = self._controller.machine, self._controller.backend
        device = machine.device(backend) if machine else None
        if device is None:
            self.reported.emit(NO_DEVICE)
            return
        asked = setting if backend == "cuda" else replace(setting, dtype="float32")
        try:
            self._tiled = _tiled_on(device, layer_problem(model, asked, 1))
        except (InputError, ValueError) as error:
            self.reported.emit(str(error))
            return
        self._asked, self._where = (
            (model, asked),
            f"{device.name} in {asked.dtype}, with the heads of {model.name}",
        )
        self._search, self._sweeps = Search(FIRST, MOST[backend]), 0
        self._controller.queue.hold(True)
        self._go_on()

    def cancel(self) -> None:
        """Stop; what was measured is kept in its sessions."""
        if self.active:
            self._end(STOPPED)
            self._controller.cancel()

    def _go_on(self) -> None:
        """Measure what is wanted next, or tell what was found."""
        if self._search is None:
            return
        wanted = self._search.wanted()
        if not wanted:
            found = self._search.found
            self._end(f"{crossing_text(self._tiled, found)} Measured on {self._where}." if found else STOPPED)
            return
        self._sweeps += 1
        self._plan = Plan(
            backend=self._controller.backend,
            kernels=(STANDARD, self._tiled),
            problems=tuple(layer_problem(*self._asked, tokens) for tokens in wanted),
            protocol=QUICK,
        )
        self._controller.run_now(self._plan)
        if not self._controller.measuring:  # the controller has told why
            self._end(STOPPED)

    def _follow(self, running: bool) -> None:
        """Take in a sweep that has ended."""
        session = self._controller.sweep
        if running or self._search is None:
            return
        if session is None or session.plan != self._plan or session.outcome != "finished":
            self._end(STOPPED)
            return
        points = leads(rows(session), self._tiled)
        if not points:
            self._end(f"Neither kernel could be compared at N = {_lengths(session.plan)}.")
            return
        self._search.take(points)
        QTimer.singleShot(0, self, partial(self._go_on))  # once all have heard that the sweep has ended

    def _tell(self) -> None:
        session = self._controller.sweep
        if self._search is None or session is None or session.plan != self._plan:
            return
        self._ran.add(session.id)
        at = f"{self._tiled} beside standard at N = {_lengths(session.plan)}"
        self.reported.emit(f"Sweep {self._sweeps}: {at}, {count_text(session)}")

    def _end(self, text: str) -> None:
        self._search = self._plan = None
        self._controller.queue.hold(False)
        self.reported.emit(text)
        self.ended.emit()


def _tiled_on(device: Device, problem: Problem) -> str:
    """The last tiled kernel of the lesson that runs there.

    Raises:
        ValueError: It or standard does not; the text says why.
    """
    reasons = {name: find_kernel(name).unsupported(problem, device) for name in LESSON}
    running = [name for name in LESSON[1:] if reasons[name] is None]
    if reasons[STANDARD] is not None or not running:
        raise ValueError(f"This cannot be measured here: {reasons[STANDARD] or reasons[LESSON[-1]]}.")
    return running[-1]


def _lengths(plan: Plan) -> str:
    lengths = [thousands(problem.seqlen) for problem in plan.problems]
    return f"{lengths[0]} to {lengths[-1]}" if len(lengths) > 1 else lengths[0]
