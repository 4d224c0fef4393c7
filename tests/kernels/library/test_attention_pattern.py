"""A mask of Transformers told as numbers keeps the pairs of the mask, or is refused in words."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.mask import Mask

pytestmark = pytest.mark.transformers


@pytest.fixture(autouse=True)
def _modules(models: Any) -> None:
    """Import what is tested as the other tests of models do."""


def kept_by(pattern: Any, batch: int, rows: int, keys: int) -> Any:
    """The pairs of a pattern as kernels take it, bool (batch, Nq, Nk); rows of padding keep none."""
    kept = np.zeros((batch, rows, keys), bool)
    for b in range(batch):
        own_rows = pattern.query_lengths[b] if pattern.query_lengths else rows
        own_keys = pattern.key_lengths[b] if pattern.key_lengths else pattern.keys
        mask = Mask.of(own_rows, own_keys, causal=pattern.causal, window=pattern.window)
        for row in range(own_rows):
            band = mask.band(row)
            kept[b, row, band.start : band.stop] = True
    return kept


def function_of(kind: str, width: int) -> Any:
    """A mask function of Transformers."""
    from transformers import masking_utils as masks  # noqa: PLC0415 - only where it is installed

    return {
        "causal": masks.causal_mask_function,
        "every pair": masks.bidirectional_mask_function,
        "window": masks.sliding_window_causal_mask_function(width),
        "window both ways": masks.sliding_window_bidirectional_mask_function(width),
    }[kind]


def made_elsewhere(function: Any) -> Any:
    """The same function, of which nothing is known."""

    def elsewhere(*places: Any) -> Any:
        return function(*places)

    return elsewhere


@dataclass(frozen=True)
class Case:
    """What Transformers asks a mask for.

    Attributes:
        kind: As in `function_of`, and so is the next.
        width: See there.
        rows: Nq.
        past: Tokens before them.
        dropped: Keys of these that a cache with a window has forgotten, where it has as many.
        empty: Places of a static cache that hold nothing yet.
        paddings: Tokens at the end of each sequence that are padding.
        known: Whether the function is one of Transformers' own.
    """

    kind: str
    width: int
    rows: int
    past: int
    dropped: int
    empty: int
    paddings: tuple[int, ...]
    known: bool


CASES = st.builds(
    Case,
    kind=st.sampled_from(["causal", "every pair", "window", "window both ways"]),
    width=st.integers(1, 20),
    rows=st.integers(1, 12),
    past=st.integers(0, 12),
    dropped=st.integers(0, 12),
    empty=st.integers(0, 6),
    paddings=st.lists(st.integers(0, 11), min_size=1, max_size=3).map(tuple),
    known=st.booleans(),
)


@given(case=CASES)
def test_a_pattern_keeps_the_pairs_of_the_mask(case: Case) -> None:
    import torch  # noqa: PLC0415 - only where it is installed
    from transformers.masking_utils import sdpa_mask  # noqa: PLC0415 - as above

    from flashscope.kernels.library.models.attention_pattern import pattern_for  # noqa: PLC0415 - as above

    tokens, dropped = case.past + case.rows, min(case.past, case.dropped)
    lengths = torch.tensor([max(dropped + 1, tokens - padding) for padding in case.paddings])
    real = torch.arange(tokens) < lengths[:, None]
    function, causal = function_of(case.kind, case.width), case.kind in {"causal", "window"}
    asked = {
        "batch_size": len(case.paddings),
        "q_length": case.rows,
        "kv_length": tokens - dropped + (case.empty if causal else 0),
        "q_offset": case.past,
        "kv_offset": dropped,
        "attention_mask": real,
    }
    mask = sdpa_mask(**asked, mask_function=function, allow_is_causal_skip=False)[:, 0].numpy()
    asked["mask_function"] = function if case.known else made_elsewhere(function)
    shifted = case.past > dropped and not real.all()  # rows and keys of sequences are cut unlike
    unlike = shifted and (case.kind == "window both ways" or (case.kind == "window" and not case.known))
    if not mask.any(axis=2).all() or unlike:
        with suppress(UnsupportedError):
            pattern_for(**asked)
        return
    found = kept_by(pattern_for(**asked), *mask.shape)
    is_real = real[:, case.past :].numpy()
    np.testing.assert_array_equal(found[is_real], mask[is_real])


@given(rows=st.integers(1, 9), keys=st.integers(1, 9), data=st.data())
def test_any_mask_is_kept_exactly_or_refused(rows: int, keys: int, data: st.DataObject) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    from flashscope.kernels.library.models.attention_pattern import read_mask  # noqa: PLC0415 - as above

    lowest, highest = data.draw(st.integers(-9, 9)), data.draw(st.integers(-9, 9))
    diagonals = np.arange(keys) - np.arange(rows)[:, None]
    mask = (diagonals >= lowest) & (diagonals <= highest)
    if data.draw(st.booleans()):
        mask[data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, keys - 1))] ^= True
    mask[:, keys - data.draw(st.integers(0, keys - 1)) :] = False
    try:
        pattern = read_mask(torch.from_numpy(mask)[None, None])
    except UnsupportedError:
        return
    np.testing.assert_array_equal(kept_by(pattern, 1, rows, keys)[0], mask)


def test_a_causal_mask_and_a_window_are_known_without_computing_the_mask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from flashscope.kernels.library.models import attention_pattern  # noqa: PLC0415 - needs PyTorch

    monkeypatch.delattr(attention_pattern, "sdpa_mask")
    many = {"batch_size": 1, "q_length": 1 << 20, "kv_length": 1 << 20}
    for kind, causal, window in (
        ("causal", True, None),
        ("every pair", False, None),
        ("window", True, (4095, -1)),
        ("window both ways", False, (4096, 4096)),
    ):
        found = attention_pattern.pattern_for(**many, mask_function=function_of(kind, 4096))
        assert (found.causal, found.window, found.key_lengths) == (causal, window, None)


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        ([[0.0, 0.5], [0.0, 0.0]], "A bias that is added"),
        ([[False, False], [False, False]], "keeps no pair"),
        ([[True, False, True], [True, True, True]], "none of them"),
    ],
)
def test_a_mask_that_is_no_band_is_refused(mask: Any, words: str) -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    from flashscope.kernels.library.models.attention_pattern import read_mask  # noqa: PLC0415 - as above

    with pytest.raises(UnsupportedError, match=words):
        read_mask(torch.tensor(mask)[None, None])


def test_masks_of_single_heads_and_of_other_axes_are_refused() -> None:
    import torch  # noqa: PLC0415 - only where it is installed

    from flashscope.kernels.library.models.attention_pattern import read_mask  # noqa: PLC0415 - as above

    heads = torch.ones(1, 2, 4, 4, dtype=torch.bool)
    heads[0, 1, 0, 3] = False
    with pytest.raises(UnsupportedError, match="Heads with masks of their own"):
        read_mask(heads)
    with pytest.raises(UnsupportedError, match=r"must have the axes \(batch, heads, Nq, Nk\)"):
        read_mask(heads[0])
