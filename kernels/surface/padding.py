"""Sequences that lie one behind the other, copied into a batch with padding, and results taken out of one."""

from typing import Any

from flashscope.kernels.surface.reading import row_major
from flashscope.kernels.workload.arrays import array_module, in_bits


def pad(array: Any, starts: tuple[int, ...], longest: int) -> Any:
    """A copy of an array (tokens, heads, head_dim) as (batch, heads, longest, head_dim).

    Padding holds any of the tokens: it never enters a result.

    Args:
        array: Of either kind.
        starts: Where each sequence begins, and behind the last where it ends.
        longest: Rows of each sequence with its padding.
    """
    xp = array_module(array)
    places = xp.minimum(xp.asarray(starts[:-1])[:, None] + xp.arange(longest), len(array) - 1)
    return row_major(in_bits(array)[places].swapaxes(1, 2)).view(array.dtype)


def take_out(padded: Any, starts: tuple[int, ...]) -> Any:
    """The rows of the sequences without padding, (tokens, heads, width).

    Args:
        padded: (batch, heads, longest, width), of either kind.
        starts: Where each sequence begins among the tokens, and behind the last where it ends.
    """
    xp = array_module(padded)
    tokens = xp.arange(starts[-1])
    sequence = xp.searchsorted(xp.asarray(starts[1:]), tokens, side="right")
    row = tokens - xp.asarray(starts[:-1])[sequence]
    return in_bits(padded).swapaxes(1, 2)[sequence, row].view(padded.dtype)
