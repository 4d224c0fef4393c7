"""Sequences of different lengths in one batch, and a K/V cache in pages: what of them is accepted.

Sequence b of a batch has query_lengths[b] rows and key_lengths[b] keys at the front of its part of the
arrays; what lies behind is padding. In pages a sequence's keys lie in stretches of `page_size`, each in the
page that the sequence's row of a page table names.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2s
from operator import eq

from flashscope.kernels.workload.errors import InputError

PAGE_SIZES = (16, 32, 64, 128, 256)  # keys
SPREAD = "lengths spread"
MOST_NAMED = 4  # lengths of a batch that are told one by one


def check_lengths(name: str, lengths: Sequence[int] | None, batch: int, longest: int) -> None:
    """Refuse lengths that are not one for each sequence.

    Args:
        name: What they are called.
        lengths: Rows or keys of each sequence; None: all are full.
        batch: Number of sequences.
        longest: How many rows or keys the arrays hold for each.

    Raises:
        InputError: There are more or fewer of them, or one is below 0 or longer than the arrays.
    """
    if lengths is None:
        return
    if len(lengths) != batch:
        raise InputError(
            f"{name} must have one length for each of the {batch} sequences, not {len(lengths)}."
        )
    for b, length in enumerate(lengths):
        if not 0 <= length <= longest:
            raise InputError(f"{name} must be from 0 to {longest}, not {length} as of sequence {b}.")


def check_page_size(page_size: int | None, seqlen_k: int) -> None:
    """Refuse pages of another size than those there are, or that do not make up the keys.

    Raises:
        InputError: Either is so.
    """
    if page_size is None:
        return
    if page_size not in PAGE_SIZES:
        raise InputError(f"page_size must be one of {', '.join(map(str, PAGE_SIZES))}, not {page_size}.")
    if seqlen_k % page_size:
        raise InputError(
            f"seqlen_k must be a multiple of the page size of {page_size}, not {seqlen_k}; key_lengths say "
            "where a sequence ends within its last page."
        )


def differ(lengths: Sequence[int] | None, longest: int) -> bool:
    """Whether any of them is not the longest that the arrays hold."""
    return lengths is not None and lengths.count(longest) < len(lengths)


def pages_for(keys: int, page_size: int) -> int:
    """Pages that so many keys of a sequence lie in."""
    return -(-keys // page_size)


def spread_lengths(longest: int, batch: int) -> tuple[int, ...]:
    """Lengths from longest / batch to longest: sequence b of B has ceil(longest (b + 1) / B)."""
    return tuple(_spread(longest, batch))


def is_spread(lengths: Sequence[int] | None, longest: int) -> bool:
    """Whether lengths are these; the first that is not settles it, as there may be very many."""
    return lengths is not None and all(map(eq, lengths, _spread(longest, len(lengths))))


def _spread(longest: int, batch: int) -> Iterator[int]:
    return (-(-longest * (b + 1) // batch) for b in range(batch))


def lengths_words(query_lengths: Sequence[int] | None, key_lengths: Sequence[int] | None) -> str:
    """Lengths in words, others for other lengths.

    `queries 5, 2, 1, keys 33, 64, 1`, or of many `1700 keys of 7 sequences, 3 to 512, fingerprint 0d83e5`.
    """
    told = {"queries": query_lengths, "keys": key_lengths}
    return ", ".join(_lengths_of(name, lengths) for name, lengths in told.items() if lengths is not None)


def _lengths_of(name: str, lengths: Sequence[int]) -> str:
    if len(lengths) <= MOST_NAMED:
        return f"{name} {', '.join(map(str, lengths))}"
    told = f"{sum(lengths)} {name} of {len(lengths)} sequences, {min(lengths)} to {max(lengths)}"
    return f"{told}, fingerprint {_fingerprint(lengths)}"


def _fingerprint(lengths: Sequence[int]) -> str:
    """Six digits that tell lengths from others of the same sum and ends, the same in every process."""
    return blake2s(repr(tuple(lengths)).encode(), digest_size=3).hexdigest()
