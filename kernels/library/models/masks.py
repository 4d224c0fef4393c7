"""What the mask of a recorded attention call does, read from its values."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from flashscope.kernels.workload.audit import MaskKind
from flashscope.kernels.workload.scoring import alibi_slopes

HIDDEN = 0.5  # of the lowest number of a dtype: what is below hides a pair in an additive mask
ROUNDED = 4  # roundings of a dtype that a bias of ALiBi may have behind it: slope, place, product and sum
HEADS_AXIS = -3


class ReadMask(NamedTuple):
    """A mask in the terms of an AttentionCall, whose attributes these are."""

    mask: MaskKind
    causal: bool = False
    window: tuple[int, int] | None = None
    key_lengths: tuple[int, ...] | None = None
    query_lengths: tuple[int, ...] | None = None
    kept_share: float = 1.0
    alibi: bool = False


def read_mask(
    mask: Any, batch: int, rows: int, keys: int, *, causal: bool, heads: int = 1, pads: Sequence[int] = ()
) -> ReadMask:
    """Say what a mask does.

    Args:
        mask: Bool (True: keep) or additive, (Nq, Nk) to (batch, heads, Nq, Nk); None: there is none.
        batch: Sequences.
        rows: Nq.
        keys: Nk.
        causal: Whether the call is causal beside it, aligned to the bottom right.
        heads: Of Q; ALiBi's bias is known by its slopes, which go by their number.
        pads: Keys before each sequence of the batch that are padding, as the model was given them; none: it
            was given no padding.
    """
    if mask is None:
        share = float(_causal(rows, keys).double().mean()) if causal and rows > 1 else 1.0
        return ReadMask("causal", causal=True, kept_share=share) if share < 1 else ReadMask("none")
    if not isinstance(mask, torch.Tensor):  # such as flex attention's, which is code
        return ReadMask("arbitrary")
    mask = mask[..., :keys].detach().cpu()
    keep = _kept(mask)
    if causal:
        keep = keep & _causal(rows, keys)
    biased = mask.dtype != torch.bool and bool(((mask != 0) & keep).any())
    if biased and not _is_alibi(mask, keep, heads):
        return ReadMask("bias", causal=causal)
    return _read_kept(keep, batch, rows, keys, pads)._replace(alibi=biased)


def _read_kept(keep: Any, batch: int, rows: int, keys: int, pads: Sequence[int]) -> ReadMask:
    """Of bool, (Nq, Nk) to (batch, heads, Nq, Nk)."""
    keep = keep.reshape((1,) * (4 - keep.dim()) + tuple(keep.shape))
    share = float(keep.double().mean())
    if bool((keep != keep[:, :1]).any()):
        return ReadMask("arbitrary", kept_share=share)  # heads differ
    return _named(keep[:, 0].expand(-1, rows, keys), batch, share, pads)


def mask_in_numbers(padding: Any, rows: int, keys: int, *, causal: bool, window: int | None) -> Any:
    """The mask that libraries of FlashAttention are told of in numbers, as one that can be read.

    Args:
        padding: (batch, Nk), what is not 0 counts; None: all keys do.
        rows: Nq.
        keys: Nk.
        causal: Keep only keys k <= q + Nk - Nq.
        window: Keys that a query sees, itself among them; None: all.

    Returns:
        Bool, (batch or 1, 1, Nq, Nk).
    """
    keep = _causal(rows, keys) if causal else torch.ones(rows, keys, dtype=torch.bool)
    if window is not None:
        offsets = torch.arange(keys)[None] - torch.arange(rows)[:, None] - (keys - rows)
        keep = keep & (offsets > -window) & (offsets < window)
    keep = keep[None, None]
    return keep if padding is None else keep & (padding[:, None, None, -keys:] != 0).cpu()


def _kept(mask: Any) -> Any:
    """Which pairs a mask keeps, bool or additive."""
    return mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min * HIDDEN


def _is_alibi(mask: Any, keep: Any, heads: int) -> bool:
    """Whether an additive mask is ALiBi's bias where it keeps pairs, but for a number for each row.

    Args:
        mask: (..., heads, Nq or 1, Nk).
        keep: The pairs it keeps, which broadcasts with it.
        heads: Of Q.
    """
    if mask.dim() < -HEADS_AXIS or mask.shape[HEADS_AXIS] != heads:
        return False
    bias, keep = torch.broadcast_tensors(mask, keep)
    if not bool((keep.sum(-1) > 1).any()):
        return False  # one key alone tells no slope
    heads_of = zip(bias.unbind(HEADS_AXIS), keep.unbind(HEADS_AXIS), alibi_slopes(heads), strict=True)
    return all(_has_slope(one, kept, slope) for one, kept, slope in heads_of)


def _has_slope(bias: Any, keep: Any, slope: float) -> bool:
    """Whether a head's bias (..., Nq, Nk) grows by a slope from key to key that is kept, but for rounding."""
    left = bias.double() - slope * torch.arange(bias.shape[-1], dtype=torch.float64)
    inf = torch.inf
    spread = left.masked_fill(~keep, -inf).amax(-1) - left.masked_fill(~keep, inf).amin(-1)
    largest = bias.double().abs().masked_fill(~keep, 0).max()
    return bool((spread <= ROUNDED * torch.finfo(bias.dtype).eps * largest).all())


def _causal(rows: int, keys: int) -> Any:
    return torch.ones(rows, keys, dtype=torch.bool).tril(keys - rows)


def _named(keep: Any, batch: int, share: float, pads: Sequence[int]) -> ReadMask:
    """Of (batch or 1, Nq, Nk)."""
    if bool(keep.all()):
        return ReadMask("none")
    if (found := _pattern(keep[0])) is not None and bool((keep == keep[:1]).all()):
        causal, window = found
        kind: MaskKind = "window" if window else "causal"
        return ReadMask(kind, causal=causal, window=window, kept_share=share)
    padded = _padding(keep.expand(batch, -1, -1), pads)
    if padded is None:
        return ReadMask("arbitrary", kept_share=share)
    (causal, window), row_counts, key_counts = padded
    rows, keys = keep.shape[1:]
    return ReadMask(
        "padding",
        causal=causal,
        window=window,
        key_lengths=None if set(key_counts) == {keys} else key_counts,
        query_lengths=None if set(row_counts) == {rows} else row_counts,
        kept_share=share,
    )


def _pattern(keep: Any) -> tuple[bool, tuple[int, int] | None] | None:
    """Causal and window of one sequence's (Nq, Nk); None where it is neither, nor keeps all."""
    rows, keys = keep.shape
    if bool(keep.all()):
        return False, None
    causal = _causal(rows, keys)
    if bool((keep == causal).all()):
        return rows > 1, None
    offsets = torch.arange(keys)[None] - torch.arange(rows)[:, None] - (keys - rows)  # k - q, 0 at the end
    if not bool(keep.any()):
        return None
    left, right = -int(offsets[keep].min()), int(offsets[keep].max())
    if left < 0 or right < 0 or bool((keep != ((offsets >= -left) & (offsets <= right))).any()):
        return None
    return (True, (left, -1)) if right == 0 and rows > 1 else (False, (left, right))


def _padding(
    keep: Any, pads: Sequence[int]
) -> tuple[tuple[bool, tuple[int, int] | None], tuple[int, ...], tuple[int, ...]] | None:
    """What the sequences of a batch share beside their padding, their rows and their keys; None: nothing.

    What rows of the padding see is not looked at.
    """
    batch, rows, keys = keep.shape
    seen = keep.any(1)
    if bool((keep.all(1) == seen).all()) and all(map(_in_one_piece, seen)):  # all rows see the same keys
        return (False, None), (rows,) * batch, tuple(map(int, seen.sum(1)))
    if len(pads) != batch:
        return None
    patterns, row_counts, key_counts = set(), [], []
    for one, pad in zip(keep, pads, strict=True):
        first_row = pad if rows == keys else 0
        own = one[first_row:]
        pattern = _pattern(own[:, pad:])
        if pattern is None or bool(own[:, :pad].any()):
            return None
        patterns.add(pattern)
        row_counts.append(rows - first_row)
        key_counts.append(keys - pad)
    told = patterns - {(False, None)} or patterns  # of a short sequence a window may hide nothing
    windows = {window for _, window in told if window}
    causal = any(causal for causal, _ in told)
    if len(windows) > 1:
        return None
    return (causal, next(iter(windows), None)), tuple(row_counts), tuple(key_counts)


def _in_one_piece(seen: Any) -> bool:
    """Whether the keys that are seen lie side by side, and there are some."""
    places = seen.nonzero().flatten()
    return len(places) > 0 and int(places[-1] - places[0]) + 1 == len(places)
