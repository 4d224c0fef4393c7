"""What the sequences of a batch have together, by their lengths.

All is counted once for the same lengths: a table asks again for every row it draws.
"""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from flashscope.kernels.workload.mask import Mask


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
