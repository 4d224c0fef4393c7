"""Which rows of a problem on several ranks are compared with float64 where all are too many.

Every rank gets as many rows of every K/V head, drawn without replacement, and those at both ends of each of
its chunks besides. k of n rows of which m are wrong miss them all with the probability

    prod_{i < k} (1 - m / (n - i)) <= (1 - m / n)^k

so that k >= ln(1 - SURE) / ln(1 - m / n) rows meet one of them with the probability SURE, however many rows a
rank has. A fault in a smaller share of them, one tile of many, may be missed.
"""

import math
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from flashscope.kernels.context_parallel.schemes import Partition
from flashscope.kernels.workload.problem import Backend, Problem

SURE = 0.999
ROWS = 66  # meet a fault in a tenth of a rank's rows, see `rows_to_meet`
MOST_PAIRS: dict[Backend, int] = {"cpu": 1 << 26, "cuda": 1 << 32}
"""(query row, key) pairs of all heads up to which all rows are compared: some seconds."""


class HeadPlace(NamedTuple):
    """A K/V head of a sequence."""

    sequence: int
    kv_head: int


class ComparedRows(NamedTuple):
    """The rows of a K/V head and its query heads that are compared, sorted.

    Attributes:
        rows: Of O, LSE and dQ.
        keys: Of dK and dV.
    """

    rows: list[int]
    keys: list[int]


def rows_to_meet(share: float) -> int:
    """The fewest rows of a rank of which one is wrong with the probability SURE, if that share of them is."""
    return math.ceil(math.log(1 - SURE) / math.log(1 - share))


def share_met(rows: int) -> float:
    """The least share of a rank's rows that so many drawn ones meet with the probability SURE."""
    return -math.expm1(math.log(1 - SURE) / rows)


def all_compared(problem: Problem, backend: Backend) -> bool:
    """Whether a problem has so few pairs that all of its rows are compared."""
    return problem.score_elements <= MOST_PAIRS[backend]


def draw_rows(partition: Partition, head: HeadPlace, count: int) -> ComparedRows:
    """So many rows and keys of each rank, by the problem's seed and the head, and the ends of all chunks."""
    seed, held = f"{partition.problem.seed} {head.sequence} {head.kv_head}", partition.holdings
    random = Random(seed)  # noqa: S311 - rows, not a secret
    return ComparedRows(
        sorted({row for one in held for row in _drawn(random, one.rows, count)}),
        sorted({key for one in held for key in _drawn(random, one.keys, count)}),
    )


def _drawn(random: Random, stretches: Sequence[range], count: int) -> set[int]:
    """So many of a rank's rows, and the ends of its stretches."""
    own = [row for one in stretches for row in one]
    ends = (end for one in stretches for end in (one[0], one[-1]))
    return {*random.sample(own, min(count, len(own))), *ends}


def draw_heads(problem: Problem, count: int) -> list[HeadPlace]:
    """So many K/V heads, drawn by the problem's seed; 0: all."""
    every = [HeadPlace(b, h) for b in range(problem.batch) for h in range(problem.key_heads)]
    random = Random(problem.seed)  # noqa: S311 - heads, not a secret
    return sorted(random.sample(every, min(count or len(every), len(every))))
