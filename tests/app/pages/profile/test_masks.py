"""A block mask of millions of blocks in the form: drawn and counted beside the window's thread."""

import threading

import pytest

from flashscope.app.pages.profile.form.form import DRAWING
from flashscope.kernels.workload import block_pattern
from flashscope.kernels.workload.block_mask import BlockMask
from tests.app.bench import Bench


@pytest.fixture
def drawn_on(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For every mask that is drawn from now on whether the window's thread draws it."""
    made: list[bool] = []
    random = BlockMask.random
    block_pattern._mask.cache_clear()

    def counting(*lengths: int, **choices: float) -> BlockMask:
        made.append(threading.current_thread() is threading.main_thread())
        return random(*lengths, **choices)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(BlockMask, "random", counting)
    return made


def choose_blocks(bench: Bench, seqlens: tuple[int, ...], pattern: str) -> None:
    form = bench.page.form
    form.chips.set_seqlens(seqlens)
    form.masking.kind.setCurrentText("blocks")
    form.masking.block_size.setCurrentText("64")
    form.masking.pattern.setEditText(pattern)


@pytest.mark.matrix
def test_a_large_mask_is_drawn_beside_the_windows_thread_and_then_shown(
    bench: Bench, drawn_on: list[bool]
) -> None:
    form = bench.page.form
    choose_blocks(bench, (65_536,), "random:0.01")
    assert form.blocked_reason == DRAWING
    bench.qtbot.waitUntil(lambda: form.blocked_reason is None)
    assert drawn_on == [False]
    assert form.dry_table.text_at(1, 0) == "64k"
    assert bench.page.plan().problems[0].block_mask is not None
    assert drawn_on == [False], "it is kept for the sweep"


@pytest.mark.matrix
def test_of_masks_typed_one_after_the_other_the_last_is_drawn(bench: Bench, drawn_on: list[bool]) -> None:
    form = bench.page.form
    for pattern in ("random:0", "random:0.0", "random:0.02"):
        choose_blocks(bench, (65_536,), pattern)
    bench.qtbot.waitUntil(lambda: form.blocked_reason is None)
    assert drawn_on == [False]


@pytest.mark.matrix
def test_a_small_mask_is_there_at_once(bench: Bench, drawn_on: list[bool]) -> None:
    choose_blocks(bench, (1024,), "random:0.25")
    assert bench.page.form.blocked_reason is None
    assert set(drawn_on) == {True}
