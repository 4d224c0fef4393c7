"""Problems that nobody tuned for: drawn from a seed, with lengths, heads and batches off every grid."""

import math
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from flashscope.kernels.workload.problem import Backend, Dtype, Problem


class Range(NamedTuple):
    """What is drawn on a backend.

    Attributes:
        number: Problems.
        seqlens: Keys, from the fewest to the most.
        most_pairs: Scores of a problem at most: batch x heads x Nq x Nk.
        most_rows: Query rows and keys of a problem at most, of all heads.
        most_heads: Query heads.
        dtype: Of the tensors.
    """

    number: int
    seqlens: tuple[int, int]
    most_pairs: int
    most_rows: int
    most_heads: int
    dtype: Dtype


RANGES: dict[Backend, Range] = {
    "cuda": Range(60, (64, 32768), 1 << 33, 1 << 19, 48, "bfloat16"),
    "cpu": Range(12, (16, 512), 1 << 21, 1 << 13, 6, "float32"),
}
HEAD_DIMS = (64, 64, 96, 128, 128, 128, 192, 256)
MOST_BATCH = 24
FEWER_ROWS, CAUSAL = 0.25, 0.5  # shares of the problems


def draw(backend: Backend, seed: int) -> Iterator[Problem]:
    """As many problems as the backend's range says, the same ones for a seed."""
    random, ranges = Random(seed), RANGES[backend]  # noqa: S311 - nothing is kept secret
    return (_one(random, ranges) for _ in range(ranges.number))


def _one(random: Random, ranges: Range) -> Problem:
    """With fewer K/V heads, fewer rows than keys, a mask, lengths of their own, or none of these."""
    seqlen_k = _length(random, *ranges.seqlens)
    seqlen_q = _length(random, 1, seqlen_k) if random.random() < FEWER_ROWS else seqlen_k
    key_heads, group = _heads(random, ranges.most_heads)
    room = min(ranges.most_pairs // (seqlen_q * seqlen_k), ranges.most_rows // seqlen_k)
    key_heads = max(1, min(key_heads, room // group))
    group = max(1, min(group, room // key_heads))
    most = max(1, min(MOST_BATCH, room // (key_heads * group)))
    batch = round(math.exp(random.uniform(0, math.log(most))))
    return Problem(
        batch=batch,
        heads=key_heads * group,
        kv_heads=None if group == 1 else key_heads,
        seqlen_q=seqlen_q,
        seqlen_k=seqlen_k,
        head_dim=random.choice(HEAD_DIMS),
        dtype=ranges.dtype,
        causal=random.random() < CAUSAL,
        **_masked(random, batch, seqlen_q, seqlen_k),
    )


def _masked(random: Random, batch: int, seqlen_q: int, seqlen_k: int) -> dict[str, Any]:
    """A window to the left for one in eight, lengths of their own for one in eight of several sequences."""
    kind = random.randrange(8)
    if kind == 0:
        return {"window": (_length(random, 1, seqlen_k), random.choice((0, 0, -1)))}
    if kind == 1 and batch > 1 and seqlen_q == seqlen_k:
        lengths = (*(random.randint(1, seqlen_k) for _ in range(batch - 1)), seqlen_k)
        return {"query_lengths": lengths, "key_lengths": lengths}
    return {}


def _heads(random: Random, most: int) -> tuple[int, int]:
    """K/V heads, and the query heads of each."""
    group = min(most, random.choice((1, 1, 2, 3, 4, 8)))
    return random.randint(1, max(1, most // group)), group


def _length(random: Random, fewest: int, most: int) -> int:
    """Drawn by its logarithm, so that short ones are as likely as long ones."""
    return round(math.exp(random.uniform(math.log(fewest), math.log(most))))
