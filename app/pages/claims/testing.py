"""Tests the claims one after the other in the background."""

from functools import partial
from threading import Event

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.control.chores import Chores
from flashscope.kernels.workload.device import Device
from flashscope.profiles.claims import CLAIMS, ClaimResult, Lab
from flashscope.profiles.claims.assess import assess
from flashscope.profiles.claims.bench import ClaimBench


class Testing(Chores):
    """One round over all claims at a time.

    Signals:
        tested: What came of the claim of this number (int, ClaimResult).
        ended: The round is over, or was stopped.
    """

    tested = Signal(int, object)
    ended = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.active = False
        self._stop = Event()

    def start(self, device: Device | None) -> None:
        """Test all, on this GPU; None: by the bundled recordings."""
        if self.active:
            return
        self.active, self._stop = True, Event()
        stopped = self._stop.is_set
        self._lab = Lab(BUNDLED, ClaimBench(device, stopped) if device else None, stopped)
        self._go_on(0)

    def cancel(self) -> None:
        """Stop after the experiment that runs."""
        self._stop.set()

    def wait(self) -> None:
        """Return when nothing runs any more; what was left is not tested."""
        self.cancel()
        super().wait()

    def _go_on(self, number: int) -> None:
        if self._stop.is_set() or number == len(CLAIMS):
            self.active = False
            self.ended.emit()
            return
        self.do(partial(assess, CLAIMS[number], self._lab), partial(self._take, number))

    def _take(self, number: int, finding: ClaimResult) -> None:
        if not self._stop.is_set():  # what is broken off by that says nothing
            self.tested.emit(number, finding)
        self._go_on(number + 1)
