"""All ranks of a partition, walked in step: each does its part of a step, then all meet and exchange."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.context_parallel import gathered, ring, traded
from flashscope.kernels.context_parallel.place import RankPlace
from flashscope.kernels.context_parallel.rank import Channel, Owned, SequenceRank
from flashscope.kernels.context_parallel.schemes import Partition, Scheme
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Problem

BLOCK_KERNELS = ("flash3", "flash2")
Routine = Callable[[SequenceRank], Iterator[None]]
FORWARD: Mapping[Scheme, Routine] = {
    "ring": ring.forward,
    "zigzag": ring.forward,
    "all-gather": gathered.forward,
    "ulysses": traded.forward,
}
BACKWARD: Mapping[Scheme, Routine] = {
    "ring": ring.backward,
    "zigzag": ring.backward,
    "all-gather": gathered.backward,
    "ulysses": traded.backward,
}


def block_kernel(problem: Problem, device: Device) -> KernelSpec:
    """The kernel that computes blocks: flash3 where it takes them, else flash2.

    Raises:
        UnsupportedError: Neither does; the text has each one's reason.
    """
    reasons = []
    for spec in map(find_kernel, BLOCK_KERNELS):
        reason = spec.unsupported(problem, device)
        if reason is None:
            return spec
        reasons.append(reason)
    raise UnsupportedError(f"No kernel computes blocks of this: {'; '.join(reasons)}.")


class Ranks:
    """The ranks of a partition, with what each holds.

    Attributes:
        partition: Who holds what.
        kernel: What computes blocks.
        members: The ranks.
    """

    def __init__(
        self, partition: Partition, places: Sequence[RankPlace], owned: Sequence[Owned], channel: Channel
    ) -> None:
        self.partition = partition
        self.kernel = block_kernel(partition.problem, places[0].device)
        self._channel = channel
        self.members = [
            SequenceRank(index, partition, place, own, spec=self.kernel, channel=channel)
            for index, (place, own) in enumerate(zip(places, owned, strict=True))
        ]

    def forward(self) -> None:
        """Compute O and LSE; on CUDA this enqueues and returns."""
        self._walk(FORWARD[self.partition.scheme])

    def backward(self) -> None:
        """Compute the gradients from what the last forward pass left; likewise."""
        self._walk(BACKWARD[self.partition.scheme])

    def _walk(self, routine: Routine) -> None:
        walked = [(rank, routine(rank)) for rank in self.members]
        for rank in self.members:
            rank.begin()
        ended = False
        while not ended:
            ended = self._step(walked)
            if not ended:
                self._channel.exchange(self.members)

    def _step(self, walked: list[tuple[SequenceRank, Iterator[None]]]) -> bool:
        """Walk each rank to the next meeting; whether they are through."""
        ends = []
        for rank, steps in walked:
            with rank.place.here():
                ends.append(next(steps, True) is True)
        return all(ends)
