"""Which pairs the layers of a Transformers model keep, told as numbers in place of an N x N mask.

Idea: Transformers makes masks of small functions, and those of a causal mask and of a sliding window are
known by their code; what they keep is a band of the scores, so that a kernel skips the tiles beside it. Any
other function, and a mask that a user made, is computed whole as for PyTorch, and read: one that is a band
and lengths after all is taken.
Limit: pairs that are no band are refused with the reason, as is padding that is not on the right. What comes
out for rows that are padding means nothing, and is not what PyTorch gives there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from inspect import getclosurevars
from typing import Any, NamedTuple

import torch
from transformers.masking_utils import (
    and_masks,
    bidirectional_mask_function,
    causal_mask_function,
    sdpa_mask,
    sliding_window_bidirectional_overlay,
    sliding_window_overlay,
)

from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import UNBOUNDED

AXES = 4  # of a mask: (batch, heads, Nq, Nk)
BOTH = and_masks().__code__  # the functions below are made anew for every mask, their code is the same
WINDOW = sliding_window_overlay(1).__code__
WINDOW_BOTH_WAYS = sliding_window_bidirectional_overlay(1).__code__


class Diagonals(NamedTuple):
    """A band of the scores, between two diagonals: lowest <= k - q <= highest; None is unbounded."""

    lowest: int | None
    highest: int | None

    def within(self, other: "Diagonals") -> "Diagonals":
        """The pairs that both keep."""
        lowest = [side for side in (self.lowest, other.lowest) if side is not None]
        highest = [side for side in (self.highest, other.highest) if side is not None]
        return Diagonals(max(lowest, default=None), min(highest, default=None))

    def moved(self, by: int) -> "Diagonals":
        """The same pairs where keys are counted from `by` further on than rows."""
        return Diagonals(*(None if side is None else side + by for side in self))

    def keeps(self, diagonals: Any) -> Any:
        """Which of the pairs are between the two, bool.

        Args:
            diagonals: k - q of each, a tensor of whole numbers.
        """
        kept = torch.ones_like(diagonals, dtype=torch.bool)
        if self.lowest is not None:
            kept &= diagonals >= self.lowest
        if self.highest is not None:
            kept &= diagonals <= self.highest
        return kept


EVERY_PAIR = Diagonals(None, None)
PLAIN = {causal_mask_function: Diagonals(None, 0), bidirectional_mask_function: EVERY_PAIR}


@dataclass(frozen=True)
class AttentionPattern:
    """What layers of a model keep, in the words of `kernels.Problem`; it takes the place of their mask.

    Attributes:
        keys: The keys that any row sees, from the first; those behind are cut off.
        causal: As in `Problem`, and so are the next three; aligned to the bottom right of these keys.
        window: See `Problem`.
        query_lengths: See `Problem`.
        key_lengths: See `Problem`.
        ndim: What a mask that is already made is known by.
    """

    keys: int
    causal: bool = False
    window: tuple[int, int] | None = None
    query_lengths: tuple[int, ...] | None = None
    key_lengths: tuple[int, ...] | None = None
    ndim: int = AXES

    @classmethod
    def of(
        cls, band: Diagonals, rows: int, keys: int, lengths: Sequence[int] | None = None
    ) -> "AttentionPattern":
        """The pattern of a band of the scores, and of padding on the right.

        Args:
            band: The pairs it keeps, rows and keys counted from the first of the arrays.
            rows: Nq.
            keys: Nk of the arrays.
            lengths: Keys of each sequence that are not padding; None: all of them.

        Raises:
            UnsupportedError: It is none that kernels take.
        """
        seen = keys if band.highest is None else min(keys, band.highest + rows)
        shift = seen - rows
        left = None if band.lowest is None or band.lowest <= 1 - rows else shift - band.lowest
        right = UNBOUNDED if band.highest is None else band.highest - shift
        if seen < 1 or (left is not None and left < 0):
            raise UnsupportedError("The mask leaves rows at the end without a key, which no kernel takes.")
        causal = right == 0
        sees_the_last = causal or right >= rows - 1
        window = (UNBOUNDED if left is None else left, UNBOUNDED if sees_the_last else right)
        # Under a causal mask a row that is no padding sees none of the keys behind its own.
        key_lengths = None if causal else _lengths(lengths, seen)
        bounded = causal or window != (UNBOUNDED, UNBOUNDED)
        if bounded and key_lengths is not None and shift:
            raise UnsupportedError(
                "A window that is not causal, beside padding and more keys than rows, is not taken."
            )
        return cls(
            keys=seen,
            causal=causal,
            window=None if window == (UNBOUNDED, UNBOUNDED) else window,
            query_lengths=key_lengths if bounded else None,  # a window goes by the lengths of both
            key_lengths=key_lengths,
        )


def pattern_for(
    *,
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: Any = 0,
    kv_offset: int = 0,
    mask_function: Callable[..., Any] = causal_mask_function,
    attention_mask: Any = None,
    **options: Any,
) -> AttentionPattern:
    """The mask function that Transformers is given for our kernels; see transformers.AttentionMaskInterface.

    Args:
        batch_size: Number of sequences.
        q_length: Nq.
        kv_length: Nk, with places of a static cache that are still empty.
        q_offset: Place of the first row in its sequence.
        kv_offset: Place of the first key in its sequence.
        mask_function: Which pairs are kept, by their places.
        attention_mask: Bool (batch, places): which are no padding; None: none is.
        **options: What else PyTorch's own mask takes (`transformers.masking_utils.sdpa_mask`).

    Raises:
        UnsupportedError: Kernels do not take such a mask; the text says why.
    """
    if isinstance(attention_mask, AttentionPattern):  # `generate` makes it ahead for a static cache
        return attention_mask
    band = _band_of(mask_function)
    if band is None:
        skips = {"allow_is_causal_skip": False, "allow_is_bidirectional_skip": False}
        mask = sdpa_mask(
            batch_size,
            q_length,
            kv_length,
            q_offset,
            kv_offset,
            mask_function,
            attention_mask,
            **{**options, **skips},
        )
        return read_mask(mask)
    local = band.moved(int(q_offset) - kv_offset)
    seen = kv_length if local.highest is None else min(kv_length, local.highest + q_length)
    lengths = None if attention_mask is None else _without_padding(attention_mask[:, kv_offset:][:, :seen])
    told = seen if attention_mask is None else attention_mask.shape[1] - kv_offset
    if local.highest is not None and told < seen:
        raise UnsupportedError(
            f"The attention mask tells of {told + kv_offset} tokens, and there are {seen + kv_offset}."
        )
    return AttentionPattern.of(local, q_length, kv_length, lengths)


def read_mask(mask: Any) -> AttentionPattern:
    """The pattern of a mask as PyTorch takes it.

    Args:
        mask: (batch or 1, heads or 1, Nq, Nk), bool, True where a pair is kept; or floating, 0 where it is
            kept and -inf, or the lowest number of its dtype, where it is not.

    Raises:
        UnsupportedError: It is no band of the scores with padding on the right; the text says what it is.
    """
    kept = _kept(mask)
    if not bool((kept == kept[:, :1]).all()):
        raise UnsupportedError("Heads with masks of their own are not taken by our kernels.")
    kept = kept[:, 0]
    rows, keys = kept.shape[1:]
    places = torch.arange(keys, device=kept.device)
    lengths = ((places + 1) * kept.any(dim=1)).amax(dim=1)  # behind the last key that any row keeps
    diagonals = places - torch.arange(rows, device=kept.device)[:, None]
    of_kept = diagonals.expand_as(kept)[kept]
    if not of_kept.numel():
        raise UnsupportedError("The mask keeps no pair at all.")
    lowest, highest = int(of_kept.min()), int(of_kept.max())
    for band in (EVERY_PAIR, Diagonals(None, highest), Diagonals(lowest, None), Diagonals(lowest, highest)):
        again = (places < lengths[:, None, None]) & band.keeps(diagonals)
        if bool((again == kept).all()):
            alike = lengths.unique()
            return AttentionPattern.of(band, rows, keys if len(alike) > 1 else int(alike), lengths.tolist())
    raise UnsupportedError(
        "Our kernels take causal masks, sliding windows and padding on the right; this mask is none of them: "
        "padding on the left or between tokens, sequences packed into one row, chunks, or one of the user's "
        "own."
    )


def _kept(mask: Any) -> Any:
    """Which pairs a mask keeps, bool (batch, heads, Nq, Nk)."""
    if not isinstance(mask, torch.Tensor) or mask.ndim != AXES:
        shape = f" of shape {tuple(mask.shape)}" if hasattr(mask, "shape") else ""
        raise UnsupportedError(f"A mask must have the axes (batch, heads, Nq, Nk), not {type(mask)}{shape}.")
    if mask.dtype is torch.bool:
        return mask
    kept = mask == 0
    dropped = mask <= torch.finfo(mask.dtype).min
    if not bool((kept | dropped).all()):
        raise UnsupportedError("A bias that is added to the scores is not taken by our kernels.")
    return kept


def _band_of(mask_function: Any) -> Diagonals | None:
    """The band that a function of Transformers keeps, None where it is not one that is known."""
    if mask_function in PLAIN:
        return PLAIN[mask_function]
    code = getattr(mask_function, "__code__", None)
    if code not in {BOTH, WINDOW, WINDOW_BOTH_WAYS}:
        return None
    made_of = getclosurevars(mask_function).nonlocals
    if code is BOTH:
        bands = [_band_of(function) for function in made_of["mask_functions"]]
        known = [band for band in bands if band is not None]
        return reduce(Diagonals.within, known, EVERY_PAIR) if len(known) == len(bands) else None
    width = made_of["sliding_window"]
    return Diagonals(1 - width, None) if code is WINDOW else Diagonals(-width, width)


def _without_padding(real: Any) -> list[int]:
    """The keys of each sequence that are no padding, which is on the right.

    Args:
        real: Bool (batch, keys or fewer): those left out are padding.

    Raises:
        UnsupportedError: Padding is elsewhere.
    """
    counts = real.sum(dim=1)
    if bool((real == (torch.arange(real.shape[1], device=real.device) < counts[:, None])).all()):
        return counts.tolist()  # type: ignore[no-any-return]
    if bool((real.int().diff(dim=1) >= 0).all()):
        raise UnsupportedError(
            "Padding on the left is not taken by our kernels: pad on the right "
            '(tokenizer.padding_side = "right"), or run prompts of one length together.'
        )
    raise UnsupportedError("Padding between tokens is not taken by our kernels: pad on the right.")


def _lengths(lengths: Sequence[int] | None, keys: int) -> tuple[int, ...] | None:
    """Lengths of which one at least is not all the keys; None where all are."""
    if lengths is None or all(length >= keys for length in lengths):
        return None
    return tuple(min(length, keys) for length in lengths)
