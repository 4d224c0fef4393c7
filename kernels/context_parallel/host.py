"""Ranks in host memory, in NumPy: one process, whose ranks share no array.

A channel copies. It may do so at once, or as late as is allowed: when a rank says that it goes on with what
it was sent or with what it sent. A program that reads too early, or writes too early over what still travels,
gives another result in one of the two.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from flashscope.kernels.context_parallel.merging import merge
from flashscope.kernels.context_parallel.place import RankLane
from flashscope.kernels.context_parallel.rank import RankSpan, SequenceRank
from flashscope.kernels.cpu.device import describe


class HostPlace:
    """A rank's part of the host's memory.

    Args:
        clock: Tells the time for stamps; None: nobody measures.
    """

    def __init__(self, clock: Callable[[], Any] = lambda: None) -> None:
        self.device = describe()
        self._clock = clock

    def here(self) -> AbstractContextManager[Any]:
        """Nothing needs to be set."""
        return nullcontext()

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """A new array, full of NaN: nobody reads what nobody wrote."""
        return np.full(shape, np.nan, dtype)

    def address(self, array: Any) -> int:
        """Where it begins."""
        return int(array.ctypes.data)

    def to_host(self, array: Any) -> Any:
        """See `RankPlace`."""
        return array.copy()

    def from_host(self, array: Any) -> Any:
        """See `RankPlace`."""
        return array.copy()

    def put(self, target: Any, source: Any) -> None:
        """See `RankPlace`."""
        target[...] = source

    def add(self, sums: Any, first: int, part: Any) -> None:
        """See `RankPlace`."""
        sums[:, :, first : first + part.shape[2]] += part

    def merge(self, output: Any, lse: Any, first: int, part: Any, part_lse: Any) -> None:
        """See `RankPlace`."""
        rows = slice(first, first + part.shape[2])
        merge(output[:, :, rows], lse[:, :, rows], part, part_lse)

    def stamp(self, lane: RankLane) -> Any:
        """The time: there is one lane, in which ranks take turns."""
        del lane
        return self._clock()


class Delivery(NamedTuple):
    """An array on its way."""

    source: SequenceRank
    target: SequenceRank
    given: Any
    taken: Any


def deliveries(ranks: list[SequenceRank]) -> list[Delivery]:
    """What ranks have posted, each with who takes it; their boxes are empty then.

    Raises:
        RuntimeError: What one sends is not what the other takes.
    """
    found = []
    for target in ranks:
        for source, taken in target.inbox:
            outbox = ranks[source].outbox
            place = next((i for i, (to, _) in enumerate(outbox) if to == target.index), None)
            given = None if place is None else outbox.pop(place)[1]
            if given is None or given.shape != taken.shape or given.dtype != taken.dtype:
                raise RuntimeError(f"rank {source} does not send what rank {target.index} takes")
            found.append(Delivery(ranks[source], target, given, taken))
        target.inbox.clear()
    if any(rank.outbox for rank in ranks):
        raise RuntimeError("something is sent that nobody takes")
    return found


class HostChannel:
    """Copies between ranks.

    Args:
        late: Whether as late as is allowed; else at once.
    """

    def __init__(self, *, late: bool = False) -> None:
        self._late = late
        self._pending: list[Delivery] = []

    def exchange(self, ranks: list[SequenceRank]) -> None:
        """See `Channel`.

        Raises:
            RuntimeError: A rank went on without waiting for what it was sent.
        """
        if self._pending:
            raise RuntimeError(f"rank {self._pending[0].target.index} meets again without waiting")
        self._pending = deliveries(ranks)
        for one in self._pending:
            one.taken.fill(np.nan)
        if not self._late:
            self._deliver(self._pending)
            self._pending = []

    def settle(self, rank: SequenceRank) -> None:
        """See `Channel`."""
        due = [one for one in self._pending if rank in {one.source, one.target}]
        self._pending = [one for one in self._pending if rank not in {one.source, one.target}]
        self._deliver(due)

    def _deliver(self, due: list[Delivery]) -> None:
        for one in due:
            target = one.target
            begin = target.place.stamp("transfer")
            one.taken[...] = one.given
            target.spans.append(RankSpan("transfer", target.step, begin, target.place.stamp("transfer")))
