"""What a stop runs here: it starts when the stop is reached, and comes back with it."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.controller import Controller
from flashscope.app.stage.live import Unrunnable, plan_here
from flashscope.app.stage.story import Stop
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import Event, PlanStarted


class LiveRuns(QObject):
    """The sweeps of a story's stops.

    Attributes:
        reason: Why the stop on show cannot run here, empty: it can, or runs nothing.

    Signals:
        changed: The machine is known now, or a stop's sweep is there.
    """

    changed = Signal()

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        self.reason = ""
        self._controller = controller
        self._stop, self._at = Stop("profile"), 0
        self._waits = self._starting = False  # for the machine; for the first word of the sweep
        self._sweeps: dict[int, Session] = {}  # by the number of the stop
        self._files: dict[int, Path] = {}
        self._lost: dict[int, str] = {}  # why it failed
        controller.machine_found.connect(self._go_on)
        controller.sweep_told.connect(self._follow)

    def forget(self) -> None:
        """Another story begins: none of its stops has run."""
        self._sweeps, self._files, self._lost = {}, {}, {}

    @property
    def pending(self) -> bool:
        """Whether the stop's sweep is still to be there."""
        return self._waits or self._starting

    def arrive(self, stop: Stop, at: int) -> None:
        """A stop is reached: run what it runs, unless it did already."""
        self._stop, self._at, self.reason = stop, at, self._lost.get(at, "")
        self._waits = self._starting = False
        if not stop.run or self.reason:
            return
        if at not in self._sweeps:
            self._start()
        elif self._sweeps[at] is self._controller.sweep:
            self._controller.show_sweep()

    def lose(self, reason: str) -> None:
        """The stop's sweep has failed: it is not run again unless that is asked for."""
        self._lost[self._at] = reason

    def again(self) -> str:
        """Run what the stop runs once more; why it cannot, empty: it does."""
        if why := self._controller.why_no_sweep:
            return why
        self._lost.pop(self._at, None)
        self.reason = ""
        self._start()
        return self.reason

    def file_of(self, at: int) -> Path | None:
        """The file of what a stop ran, if something else was run since."""
        return self._files.get(at) if self._sweeps.get(at) is not self._controller.sweep else None

    def _start(self) -> None:
        controller = self._controller
        self._waits = controller.machine is None
        if controller.machine is None:
            return
        try:
            plan = plan_here(self._stop.run, controller.machine)
        except (Unrunnable, InputError) as error:
            self.reason = f"{error}."
            return
        self.reason = controller.why_no_sweep
        if not self.reason:
            self._starting = True
            controller.run(plan)
            if not controller.measuring:
                self._starting, self.reason = False, "The sweep did not start."

    def _go_on(self) -> None:
        if self._waits:
            self._start()
            self.changed.emit()

    def _follow(self, events: Sequence[Event]) -> None:
        sweep = self._controller.sweep
        if self._starting and sweep is not None and any(isinstance(event, PlanStarted) for event in events):
            self._starting = False
            self._sweeps[self._at] = sweep
            self.changed.emit()
        for at, mine in self._sweeps.items():
            if mine is sweep and self._controller.sweep_path is not None:
                self._files[at] = self._controller.sweep_path
