"""Conditions of headers that several sources share: copies in whole passes, products of certain widths."""

from collections.abc import Iterator, Mapping

from flashscope.kernels.cuda.program import round_up

WGMMA_WIDTHS = (64, 80, 96, 112, 128, 160, 176, 192, 224, 256)  # that include/wgmma.cuh spells out
FRAGMENT = 16  # rows or columns of a step of mma.sync
CHUNK = 8  # elements of 16 bytes


def no_whole_passes(threads: int, head_dim: int, tiles: Mapping[str, int]) -> Iterator[str]:
    """Which tiles a block cannot copy in whole passes (copy.cuh).

    Args:
        threads: Threads of the block.
        head_dim: Elements of a row.
        tiles: The rows of each tile, by what they are.
    """
    at_once = threads // _power_of_two(round_up(head_dim, FRAGMENT) // CHUNK)
    for what, rows in tiles.items():
        if rows >= at_once and (not at_once or rows % at_once):
            yield (
                f"{threads} threads copy {at_once} rows of head dim {head_dim} at once: {rows} {what}"
                " are not whole passes (copy.cuh)."
            )


def no_width(columns: int, what: str) -> Iterator[str]:
    """That no product of a warpgroup is so wide (wgmma.cuh)."""
    if columns not in WGMMA_WIDTHS:
        told = ", ".join(map(str, WGMMA_WIDTHS))
        yield f"wgmma.cuh has products {told} columns wide, none of {columns} {what}."


def _power_of_two(value: int) -> int:
    return 1 << (value - 1).bit_length()
