"""How much of n times one GPU's speed n ranks reach: what a scheme allows, and a model of what they reach.

**What the mask alone allows.** Nobody is done before the rank that computes most pairs. With P pairs in all,
of which rank r computes P_r, n ranks are at best P / max P_r times as fast as one; that over n is the limit.

The contiguous causal ring: with chunks of c = N / n rows rank r sees r chunks whole, c^2 pairs each, and its
own up to the diagonal, c (c + 1) / 2. The last rank has most, (n - 1) c^2 + c (c + 1) / 2, of the
N (N + 1) / 2 in all, so

    limit = N (N + 1) / 2 / (n ((n - 1) c^2 + c (c + 1) / 2)) = (N + 1) / ((2n - 1) c + 1) -> n / (2n - 1)

for long chunks: 67 % on two ranks, 57 % on four, 53 % on eight, and half on many. It holds however fast the
links are. With zigzag each rank has the chunks r and 2n - 1 - r of 2n, so r + (2n - 1 - r) whole chunks and
two diagonals whatever r is: the limit is 1 where 2n divides N.

**A model.** Each step takes as long as the slowest rank's product, or its transfer where that takes longer,
as all ranks hand on at once; a step without a product is a transfer that nothing hides. A product takes its
start and its operations at the rate of the blocks, a transfer its start and its bytes at that of the link.
One GPU takes a start and all operations at its own rate, measured where it has all of it, and else at that
of the blocks. Links are alike, as within a host or a domain of NVLink. Merging is left out, that GPUs differ
in speed, of which the slowest sets the pace, and that blocks get slower as they get shorter, so more GPUs
reach less than it says: a forecast, no measurement.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from flashscope.kernels.context_parallel.schemes import Partition, RankStep
from flashscope.kernels.workload.problem import Passes, Problem

OF_ALL = 16  # ranks up to which each is looked at in any case


class RankRates(NamedTuple):
    """What was measured of a GPU and a link.

    Attributes:
        flops_s: Operations a second of the block kernel.
        link_bytes_s: Bytes a second that one rank sends while it receives as many.
        product_start_s: What a product takes beside its operations.
        transfer_start_s: What a transfer takes beside its bytes.
        alone_flops_s: Operations a second of one GPU that has all of it; None: as many as of the blocks.
    """

    flops_s: float
    link_bytes_s: float
    product_start_s: float = 0.0
    transfer_start_s: float = 0.0
    alone_flops_s: float | None = None


class RanksForecast(NamedTuple):
    """What the model says of one pass on n ranks.

    Attributes:
        ranks: n.
        seconds: Of n ranks.
        alone_s: Of one GPU that has all of it.
        exposed_s: Of `seconds`, those in which there is a transfer and no product.
    """

    ranks: int
    seconds: float
    alone_s: float
    exposed_s: float

    @property
    def efficiency(self) -> float:
        """What one GPU takes over n times what n take."""
        return self.alone_s / (self.ranks * self.seconds)


def balance_limit(partition: Partition) -> float:
    """The efficiency that the share of the pairs allows, with links that take no time."""
    per_head = [
        len(partition.head_share(rank).heads) * sum(step.pairs for step in partition.forward(rank))
        for rank in _looked_at(partition)
    ]
    problem = partition.problem
    return problem.heads * problem.kept_pairs / (partition.ranks * max(per_head))


def forecast(partition: Partition, rates: RankRates, passes: Passes) -> RanksForecast:
    """The model's answer for a forward or a backward pass.

    Args:
        partition: Who does what.
        rates: Of the GPU and the link.
        passes: `forward` or `backward`.
    """
    ranks = _looked_at(partition)
    steps = [getattr(partition, passes)(rank) for rank in ranks]
    seconds, exposed, flops = 0.0, 0.0, _flops(partition.problem, passes)
    for of_ranks in zip(*steps, strict=True):
        pairs = zip(ranks, of_ranks, strict=True)
        product = max(_product_s(partition, rank, step, rates, flops) for rank, step in pairs)
        transfer = max(_transfer_s(step, rates) for step in of_ranks)
        seconds += max(product, transfer)
        exposed += max(0.0, transfer - product)
    alone_flops_s = rates.alone_flops_s or rates.flops_s
    alone = rates.product_start_s + flops / alone_flops_s
    return RanksForecast(partition.ranks, seconds, alone, exposed)


def _looked_at(partition: Partition) -> Sequence[int]:
    """The ranks of which the slowest is looked for.

    Without a mask, and where the diagonal begins in a corner, all do alike or the last does most, but for the
    row that a chunk may have more: of many the first, the middle and the last stand for all. Under a causal
    mask with more keys than rows zigzag's chunks do not balance, and the slowest changes from step to step.
    """
    problem, ranks = partition.problem, partition.ranks
    alike = not problem.causal or problem.seqlen_q == problem.seqlen_k
    return (0, ranks // 2, ranks - 1) if alike and ranks > OF_ALL else range(ranks)


def _product_s(partition: Partition, rank: int, step: RankStep, rates: RankRates, flops: int) -> float:
    if not step.blocks:
        return 0.0
    problem = partition.problem
    share = len(partition.head_share(rank).heads) / problem.heads * step.pairs / problem.kept_pairs
    return len(step.blocks) * rates.product_start_s + share * flops / rates.flops_s


def _transfer_s(step: RankStep, rates: RankRates) -> float:
    if not step.transfers:
        return 0.0
    return rates.transfer_start_s + sum(one.nbytes for one in step.transfers) / rates.link_bytes_s


def _flops(problem: Problem, passes: Passes) -> int:
    """The operations of one pass."""
    return replace(problem, passes=passes, deterministic=False).flops
