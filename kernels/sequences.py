"""The sequences of a batch, each for itself: as problems, and what they have together.

All is made once a problem: a table asks again for every row it draws.
"""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kernels.lengths import SPREAD, lengths_words
from kernels.mask import Mask

if TYPE_CHECKING:
    from kernels.problem import Problem


@lru_cache(maxsize=32)
def alone(problem: "Problem") -> Mapping[int, "Problem"]:
    """The sequences that have rows and keys, by their place in the batch."""
    plain, counts = _plain(problem), zip(problem.row_counts, problem.key_counts, strict=True)
    made = {b: replace(plain, seqlen_q=q, seqlen_k=k) for b, (q, k) in enumerate(counts) if q and k}
    return MappingProxyType(made)


@lru_cache(maxsize=32)
def alike(problem: "Problem") -> Mapping["Problem", int]:
    """Each different problem among them, and how many sequences are such."""
    plain, counts = _plain(problem), different_lengths(problem).items()
    return MappingProxyType({replace(plain, seqlen_q=q, seqlen_k=k): count for (q, k), count in counts})


@lru_cache(maxsize=32)
def different_lengths(problem: "Problem") -> Mapping[tuple[int, int], int]:
    """Their rows and keys, and how many sequences have them."""
    if "ragged" not in problem.features:
        return MappingProxyType({(problem.seqlen_q, problem.seqlen_k): problem.batch})
    counted = Counter(zip(problem.row_counts, problem.key_counts, strict=True))
    return MappingProxyType({lengths: count for lengths, count in counted.items() if all(lengths)})


@lru_cache(maxsize=1024)
def kept_pairs(problem: "Problem") -> int:
    """Pairs that the masks keep of one head of all sequences, which have no block mask."""
    causal, window = problem.causal, problem.window
    counts = different_lengths(problem).items()
    return sum(count * Mask.of(q, k, causal=causal, window=window).kept_pairs() for (q, k), count in counts)


@lru_cache(maxsize=1024)
def lengths_text(problem: "Problem") -> str:
    """Lengths in words, empty where all are full."""
    if "ragged" not in problem.features:
        return ""
    return SPREAD if problem.spreads_lengths else lengths_words(problem.query_lengths, problem.key_lengths)


def _plain(problem: "Problem") -> "Problem":
    """One sequence as long as the arrays, without pages."""
    return replace(problem, batch=1, query_lengths=None, key_lengths=None, page_size=None)
