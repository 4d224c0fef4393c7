"""The workers that do not measure: one parked for each folder of libraries, and those that are to end."""

from collections.abc import Iterator
from typing import NamedTuple

from flashscope.profiles.engine.child import Child


class ParkedWorker(NamedTuple):
    """A worker that waits for its next turn.

    Attributes:
        child: The worker.
        pid: Its process by number where it holds a CUDA context, else None.
    """

    child: Child
    pid: int | None


class WorkerPool:
    """Workers beside the one that measures; used from the engine's thread only.

    A parked worker is idle. On a GPU it has given back what kernels and libraries allocated or cached, and
    keeps its CUDA context with the code that was loaded into it (hundreds of MiB) and the buffer that flushes
    the L2 cache, twice the size of that. On a GPU that takes one process at a time there is none: there each
    change of folders starts a worker.
    """

    def __init__(self) -> None:
        self._parked: dict[str, ParkedWorker] = {}
        self._leaving: list[Child] = []

    @property
    def children(self) -> tuple[Child, ...]:
        """Each of them that still runs."""
        return *(worker.child for worker in self._parked.values()), *self._leaving

    @property
    def leaving(self) -> bool:
        """Whether one that was told to end has not ended yet."""
        return bool(self._leaving)

    @property
    def on_gpu(self) -> tuple[int, ...]:
        """The processes of the parked ones that hold a CUDA context."""
        return tuple(worker.pid for worker in self._parked.values() if worker.pid is not None)

    def park(self, ahead: str, child: Child, pid: int | None) -> None:
        """Keep the worker that finds modules in a folder first; empty: in none."""
        self._parked[ahead] = ParkedWorker(child, pid)

    def take(self, ahead: str) -> Child | None:
        """The parked worker of a folder, parked no longer; None: there is none."""
        worker = self._parked.pop(ahead, None)
        return worker and worker.child

    def leave(self, child: Child, *, ask: bool) -> None:
        """Have a worker end: ask first or not, then use force."""
        self._leaving.append(child)
        child.end(ask=ask)

    def leave_all(self) -> None:
        """Have every parked worker end."""
        while self._parked:
            self.leave(self._parked.popitem()[1].child, ask=True)

    def exited(self, child: Child) -> bool:
        """One of them is gone; whether it was parked."""
        if child in self._leaving:
            self._leaving.remove(child)
            return False
        (ahead,) = self._folders_of(child)
        del self._parked[ahead]
        return True

    def forget(self) -> None:
        """All of them have been killed."""
        self._parked.clear()
        self._leaving.clear()

    def _folders_of(self, child: Child) -> Iterator[str]:
        return (ahead for ahead, worker in self._parked.items() if worker.child is child)
