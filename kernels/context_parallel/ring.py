"""The programs of `ring` and `zigzag`: K and V travel round, and the sums of dK and dV a step behind them.

A program is a generator that a rank walks; it yields where all ranks meet, and what was posted then moves
while the product runs. K and V for the next step arrive in one of two buffers while the other is read.
"""

from collections.abc import Iterator

from flashscope.kernels.context_parallel.rank import SequenceRank
from flashscope.kernels.context_parallel.schemes import RankStep
from flashscope.kernels.context_parallel.steps import (
    KeyValue,
    RunningGradients,
    RunningRows,
    key_buffers,
    own_saved,
    wanted,
)


def forward(rank: SequenceRank) -> Iterator[None]:
    """O and LSE of the rank's rows."""
    held: KeyValue = rank.owned.k, rank.owned.v
    rows = RunningRows(rank, rank.owned.q)
    for turn, step in enumerate(rank.partition.forward(rank.index)):
        rank.step = turn
        coming = _hand_on(rank, step, held)
        yield
        rows.attend(step.blocks, held)
        rank.arrived()
        held = coming
    rank.output, rank.lse = rows.finish()


def backward(rank: SequenceRank) -> Iterator[None]:
    """The gradients of the rank's rows and keys."""
    held: KeyValue = rank.owned.k, rank.owned.v
    rows = RunningGradients(rank, own_saved(rank))
    sums: KeyValue | None = None  # dK and dV of what the step before worked on
    for turn, step in enumerate(rank.partition.backward(rank.index)):
        rank.step = turn
        coming = _hand_on(rank, step, held)
        taken = _take_sums(rank, step, sums)
        yield
        found = rows.differentiate(step.blocks, held) if step.keys_of else []
        rank.arrived()
        sums = taken or sums or _no_sums(rank)
        rows.add_to(sums, found)
        held = coming
    rows.finish(*(sums or ()))


def _hand_on(rank: SequenceRank, step: RankStep, held: KeyValue) -> KeyValue:
    """Post the K and V of a step to the next rank, and take those of the step behind it."""
    for to in wanted(step, "K and V"):
        before = (rank.index - 1) % rank.partition.ranks
        of = (step.keys_of[0] - 1) % rank.partition.ranks
        place = rank.step % 2
        coming = key_buffers(rank, (f"K {place}", f"V {place}"), rank.partition.holdings[of].key_count)
        rank.send(to, *held)
        rank.receive(before, *coming)
        return coming
    return held


def _take_sums(rank: SequenceRank, step: RankStep, sums: KeyValue | None) -> KeyValue | None:
    """Post the sums of the step before to the next rank, and take those of the keys of this step."""
    for to in wanted(step, "dK and dV"):
        before = (rank.index - 1) % rank.partition.ranks
        of = step.keys_of[0] if step.keys_of else rank.index
        place = rank.step % 2
        taken = key_buffers(
            rank,
            (f"dK {place}", f"dV {place}"),
            rank.partition.holdings[of].key_count,
            "float32",
        )
        rank.send(to, *(sums or ()))
        rank.receive(before, *taken)
        return taken
    return None


def _no_sums(rank: SequenceRank) -> KeyValue:
    """Zeros for the rank's own keys, on which the first step works."""
    made = key_buffers(rank, ("dK 0", "dV 0"), rank.holding.key_count, "float32")
    for one in made:
        one.fill(0)
    return made
