"""Processes that a kernel of the user's own has started: how they work, and that they rest where it rests."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress

import psutil


class StartedProcesses:
    """Those that have been started from this process since this was made, and whatever they started."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._before = {one.pid for one in self._process.children(recursive=True)}
        self._held: list[int] = []

    def at_work(self) -> bool:
        """Whether any of them works at this moment, or would if it had a core."""
        for one in self._started():
            with suppress(psutil.Error):
                if one.status() == psutil.STATUS_RUNNING:
                    return True
        return False

    def hold(self) -> None:
        """Have them stand still: what they would make ahead of a run is not made."""
        for one in self._started():
            with suppress(psutil.Error):
                one.suspend()
                self._held.append(one.pid)

    def let_go(self) -> None:
        """Have those that were held go on."""
        for pid in self._held:
            with suppress(OSError):
                os.kill(pid, signal.SIGCONT)
        self._held.clear()

    def _started(self) -> Iterator[psutil.Process]:
        return (one for one in self._process.children(recursive=True) if one.pid not in self._before)
