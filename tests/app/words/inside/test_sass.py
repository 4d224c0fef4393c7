"""Machine code in words: how a build fills a multiprocessor of the GPU that is chosen."""

import pytest

from flashscope.app.words.inside.sass import occupancy_text
from flashscope.kernels.cuda.reading.cards import CARDS, GpuCard
from flashscope.kernels.cuda.sass.listing import KernelListing
from flashscope.kernels.cuda.sass.resources import Resources

BY_NAME = {card.name: card for card in CARDS}
H100, RTX_4090 = BY_NAME["H100"], BY_NAME["RTX 4090"]


def kernel(registers: int, threads: int, static: int, dynamic: int) -> KernelListing:
    taken = Resources(registers, stack=0, spilled=0, shared=static, reloaded=0)
    return KernelListing("flash2", [], taken, threads, dynamic, 1)


@pytest.mark.parametrize(
    ("one", "card", "told"),
    [
        (kernel(168, 384, 0, 200 << 10), H100, "1 block an SM, 12 of 64 warps (18.8%); registers and"),
        (kernel(64, 128, 0, 40 << 10), H100, "5 blocks an SM, 20 of 64 warps (31.2%); shared memory lets"),
        (kernel(32, 1024, 0, 0), H100, "2 blocks an SM, 64 of 64 warps (100%); registers and warps let"),
        (kernel(16, 32, 0, 0), H100, "32 blocks an SM, 32 of 64 warps (50.0%); blocks let in no more."),
        (kernel(64, 128, 8 << 10, 32 << 10), RTX_4090, "2 blocks an SM, 8 of 48 warps (16.7%); shared"),
    ],
)
def test_the_limit_that_binds_is_named_with_what_is_on_an_sm(
    one: KernelListing, card: GpuCard, told: str
) -> None:
    assert occupancy_text(one, card).startswith(f"Occupancy: {told}")


def test_static_shared_memory_counts_beside_what_is_asked_for_at_launch() -> None:
    alone, both = kernel(32, 128, 0, 100 << 10), kernel(32, 128, 20 << 10, 100 << 10)
    assert "2 blocks" in occupancy_text(alone, H100)
    assert "1 block " in occupancy_text(both, H100)


def test_what_fits_no_sm_is_said_with_the_limit() -> None:
    assert occupancy_text(kernel(64, 128, 0, 200 << 10), RTX_4090) == (
        "No block of it fits an SM of the RTX 4090: shared memory lets in none."
    )
