"""What a mask does is read from its values, however it is written."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.kernels.workload.mask import Mask
from flashscope.kernels.workload.scoring import alibi_slopes

pytestmark = pytest.mark.torch
SIZES = st.integers(1, 12)


def read(keep: Any, *, additive: bool = False, causal: bool = False, pads: tuple[int, ...] = ()) -> Any:
    """What is read of a bool array (batch, Nq, Nk), or of the same as numbers to be added."""
    torch = import_module("torch")
    mask = torch.from_numpy(np.ascontiguousarray(keep))[:, None]
    if additive:
        mask = torch.zeros(mask.shape).masked_fill(~mask, torch.finfo(torch.float32).min)
    batch, rows, keys = keep.shape
    masks = import_module("flashscope.kernels.library.models.masks")
    return masks.read_mask(mask, batch, rows, keys, causal=causal, pads=pads)


def kept(rows: int, keys: int, *, causal: bool, window: tuple[int, int] | None) -> Any:
    """What our own masks keep, bool (Nq, Nk)."""
    offsets = np.arange(keys)[None] - np.arange(rows)[:, None] - (keys - rows)
    keep = np.ones((rows, keys), bool)
    if causal:
        keep &= offsets <= 0
    if window is not None:
        keep &= (offsets >= -window[0] if window[0] >= 0 else True) & (
            offsets <= window[1] if window[1] >= 0 else True
        )
    return keep


@given(rows=SIZES, more=st.integers(0, 8), left=st.integers(0, 12), additive=st.booleans())
def test_causal_masks_and_windows_are_read_as_what_keeps_the_same_pairs(
    rows: int, more: int, left: int, additive: bool
) -> None:
    keys = rows + more
    keep = kept(rows, keys, causal=True, window=(left, -1))
    found = read(np.stack([keep] * 2), additive=additive)
    again = kept(rows, keys, causal=found.causal, window=found.window)
    assert (again == keep).all()
    assert found.mask in {"none", "causal", "window"}
    assert found.kept_share == pytest.approx(keep.mean())
    own = Mask.of(rows, keys, causal=found.causal, window=found.window)
    assert own.kept_pairs() == keep.sum()


@given(rows=st.integers(2, 10), data=st.data())
def test_padding_before_sequences_is_read_as_their_lengths(rows: int, data: st.DataObject) -> None:
    pads = tuple(data.draw(st.lists(st.integers(0, rows - 2), min_size=2, max_size=3)))
    whole = kept(rows, rows, causal=True, window=None)
    keep = np.stack([whole & (np.arange(rows)[None] >= pad) for pad in pads])
    found = read(keep, pads=pads)
    if any(pads):
        assert (found.mask, found.causal) == ("padding", True)
        assert found.key_lengths == found.query_lengths == tuple(rows - pad for pad in pads)
    else:
        assert found.mask == "causal"


def test_keys_of_the_same_padding_in_every_row_are_lengths() -> None:
    keep = np.ones((2, 3, 8), bool)
    keep[1, :, 5:] = False
    found = read(keep)
    assert (found.mask, found.causal) == ("padding", False)
    assert (found.key_lengths, found.query_lengths) == ((8, 5), None)


def test_a_mask_with_holes_is_arbitrary() -> None:
    keep = np.random.default_rng(0).random((1, 9, 9)) > 0.5
    assert read(keep).mask == "arbitrary"


def test_numbers_that_are_added_are_a_bias() -> None:
    torch = import_module("torch")
    masks = import_module("flashscope.kernels.library.models.masks")
    slopes = -torch.arange(6.0)[None, None, None].expand(1, 2, 6, 6)
    assert masks.read_mask(slopes, 1, 6, 6, causal=False).mask == "bias"


def biased(heads: int, rows: int, keys: int, *, centred: bool = True) -> Any:
    """ALiBi's bias (1, heads, Nq, Nk), by distance, or as Bloom has it by the place of the key alone."""
    torch = import_module("torch")
    slopes = torch.tensor(alibi_slopes(heads))[None, :, None, None]
    places = torch.arange(keys) - (torch.arange(rows)[:, None] + keys - rows if centred else 0)
    return slopes * places


def with_bias(bias: Any, keep: Any = None, *, heads: int | None = None) -> Any:
    """What is read of a bias of pairs that are kept."""
    torch = import_module("torch")
    masks = import_module("flashscope.kernels.library.models.masks")
    rows, keys = bias.shape[-2:] if keep is None else keep.shape
    mask = bias if keep is None else bias.masked_fill(~torch.from_numpy(keep), torch.finfo(bias.dtype).min)
    return masks.read_mask(mask, 1, rows, keys, causal=False, heads=heads or bias.shape[1])


@given(
    sizes=st.tuples(st.integers(1, 12), st.integers(2, 12), st.integers(0, 8)),
    left=st.integers(1, 12),
    centred=st.booleans(),
    dtype=st.sampled_from(["float32", "float16", "bfloat16"]),
)
def test_alibis_bias_is_known_beside_the_mask_however_its_rows_are_moved(
    sizes: tuple[int, int, int], left: int, centred: bool, dtype: str
) -> None:
    heads, rows, more = sizes
    keep = kept(rows, rows + more, causal=True, window=(left, -1))
    bias = biased(heads, rows, rows + more, centred=centred).to(getattr(import_module("torch"), dtype))
    found = with_bias(bias, keep)
    assert found.alibi
    assert found._replace(alibi=False) == read(keep[None])


@given(heads=st.integers(1, 12), rows=st.integers(3, 12), at=st.data())
def test_a_bias_with_one_number_changed_is_none_of_alibi(heads: int, rows: int, at: st.DataObject) -> None:
    bias = biased(heads, rows, rows)
    place = tuple(at.draw(st.integers(0, size - 1)) for size in bias.shape)
    bias[place] += 0.01
    found = with_bias(bias)
    assert (found.mask, found.alibi) == ("bias", False)


def test_other_slopes_are_no_alibi_of_ours() -> None:
    bias = biased(4, 8, 8)
    for other in (
        bias / 4,
        bias.flip(1),
        -bias.abs(),
        bias[:, :1].expand(1, 4, 8, 8),
        biased(8, 8, 8)[:, :4],
    ):
        assert with_bias(other).mask == "bias"
    assert with_bias(bias[:, :1], heads=4).mask == "bias"  # one slope of four heads
    assert with_bias(bias).alibi


def test_one_key_tells_no_slope() -> None:
    assert with_bias(biased(2, 1, 1, centred=False) + 3).mask == "bias"


def test_a_mask_that_keeps_all_is_none_and_one_row_needs_no_causal_mask() -> None:
    masks = import_module("flashscope.kernels.library.models.masks")
    assert read(np.ones((2, 4, 7), bool)).mask == "none"
    assert masks.read_mask(None, 1, 1, 9, causal=True).mask == "none"
    assert masks.read_mask(None, 1, 9, 9, causal=True).mask == "causal"


def test_heads_with_masks_of_their_own_are_arbitrary() -> None:
    torch = import_module("torch")
    masks = import_module("flashscope.kernels.library.models.masks")
    mask = torch.ones(1, 2, 4, 4, dtype=torch.bool)
    mask[0, 1, 0, 3] = False
    assert masks.read_mask(mask, 1, 4, 4, causal=False).mask == "arbitrary"


@given(rows=SIZES, more=st.integers(0, 6), window=st.integers(1, 12))
def test_a_mask_told_in_numbers_is_read_as_what_was_told(rows: int, more: int, window: int) -> None:
    masks = import_module("flashscope.kernels.library.models.masks")
    keys = rows + more
    made = masks.mask_in_numbers(None, rows, keys, causal=True, window=window)
    assert (made[0, 0].numpy() == kept(rows, keys, causal=True, window=(window - 1, -1))).all()
    found = masks.read_mask(made, 1, rows, keys, causal=False)
    assert (kept(rows, keys, causal=found.causal, window=found.window) == made[0, 0].numpy()).all()


def test_padding_told_as_one_number_a_key_hides_these_keys() -> None:
    torch = import_module("torch")
    masks = import_module("flashscope.kernels.library.models.masks")
    padding = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]])
    made = masks.mask_in_numbers(padding, 1, 4, causal=True, window=None)
    assert masks.read_mask(made, 2, 1, 4, causal=False).key_lengths == (4, 2)


def test_a_mask_that_is_code_is_arbitrary() -> None:
    masks = import_module("flashscope.kernels.library.models.masks")
    assert masks.read_mask(object(), 1, 4, 4, causal=True).mask == "arbitrary"
