"""What the sequences of a batch have together, by their lengths, and each as a problem of its own.

All is counted once for the same lengths: a table asks again for every row it draws.
"""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from flashscope.kernels.workload.mask import Mask

if TYPE_CHECKING:
    from flashscope.kernels.workload.problem import Problem


@lru_cache(maxsize=32)
def different_lengths(rows: tuple[int, ...], keys: tuple[int, ...]) -> Mapping[tuple[int, int], int]:
    """The rows and keys of sequences that have both, and how many sequences have them."""
    counted = Counter(zip(rows, keys, strict=True))
    return MappingProxyType({lengths: count for lengths, count in counted.items() if all(lengths)})


@lru_cache(maxsize=1024)
def kept_pairs(
    rows: tuple[int, ...], keys: tuple[int, ...], *, causal: bool, window: tuple[int, int] | None
) -> int:
    """Pairs that causal and a window keep of one head of all sequences."""
    counts = different_lengths(rows, keys).items()
    return sum(count * Mask.of(q, k, causal=causal, window=window).kept_pairs() for (q, k), count in counts)


@lru_cache(maxsize=32)
def alone(problem: "Problem") -> "Mapping[int, Problem]":
    """`Problem.sequences`."""
    plain, counts = _plain(problem), zip(problem.row_counts, problem.key_counts, strict=True)
    made = {b: replace(plain, seqlen_q=q, seqlen_k=k) for b, (q, k) in enumerate(counts) if q and k}
    return MappingProxyType(made)


@lru_cache(maxsize=32)
def alike(problem: "Problem") -> "Mapping[Problem, int]":
    """`Problem.alike`."""
    plain, counts = _plain(problem), problem.different_lengths.items()
    return MappingProxyType({replace(plain, seqlen_q=q, seqlen_k=k): count for (q, k), count in counts})


def _plain(problem: "Problem") -> "Problem":
    """One sequence as long as the arrays, without pages."""
    return replace(problem, batch=1, query_lengths=None, key_lengths=None, page_size=None)
