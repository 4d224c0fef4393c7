"""Processes that a kernel of the user's own has started: how they work, and that they rest where it rests."""

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress

import psutil

BECOME_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux's <sys/prctl.h>


def adopt_orphans() -> None:
    """Have what a process of ours leaves behind be a child of this one: a daemon forks twice to be nobody's.

    Linux alone can; elsewhere such a daemon stays unseen.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(BECOME_SUBREAPER, 1, 0, 0, 0)


class StartedProcesses:
    """Those that have been started from this process since this was made, and whatever they started."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._before = {one.pid for one in _children()}
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

    def end(self) -> list[str]:
        """End all that are left; those in a group of their own, which nobody else would end, by name."""
        told = []
        for one in self._started() if os.getpid() == self._pid else ():  # a copy of it ends nobody
            with suppress(OSError, psutil.Error):
                ours = one.status() == psutil.STATUS_ZOMBIE or os.getpgid(one.pid) == os.getpgid(0)
                told += [] if ours else [f"{one.name()} ({one.pid})"]
                one.kill()
        return told

    def _started(self) -> Iterator[psutil.Process]:
        return (one for one in _children() if one.pid not in self._before)


def _children() -> list[psutil.Process]:
    """Those of this process, asked of it anew.

    Psutil knows a process by the time at which it began: one that was asked for before a kernel had numbers
    rounded in another way is called another process.
    """
    return psutil.Process().children(recursive=True)
