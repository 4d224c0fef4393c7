"""A launch in slow motion that tells which of its tiles are done: what is asked for, and its tiles."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.mask import Mask
from flashscope.kernels.workload.problem import Backend, Problem

LEAST_S, MOST_S = 5.0, 60.0
MOST_TILES: dict[Backend, int] = {"cpu": 4_096, "cuda": 32_768}
"""That are computed, all heads together."""

LiveKernel = Literal["flash1", "flash2", "flash3"]
Tile = tuple[int, int, int]  # head, i and j


class LiveRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to launch in slow motion.

    Attributes:
        problem: The workload, all of its heads.
        backend: Where to compute it.
        kernel: The kernel, in the order of its own loops.
        seconds: How long the launch is to take: it waits between its tiles.
    """

    problem: Problem
    backend: Backend = "cpu"
    kernel: LiveKernel = "flash2"
    seconds: float = 15.0


def check_pace(request: LiveRequest) -> None:
    """Refuse what is too short to be seen or too long to be waited for.

    Raises:
        InputError: The text has the limits.
    """
    if not LEAST_S <= request.seconds <= MOST_S:
        raise InputError(
            f"A launch in slow motion takes {LEAST_S:g} to {MOST_S:g} s, not {request.seconds:g}."
        )


def check_tiles(tiles: int, backend: Backend) -> None:
    """Refuse more tiles than are told of one by one.

    Raises:
        InputError: The text has the numbers.
    """
    most = MOST_TILES[backend]
    if tiles > most:
        raise InputError(
            f"This launch has {tiles} tiles where at most {most} are shown; shorten the sequences or "
            "choose fewer heads."
        )


def kept_tiles(problem: Problem, block_q: int, block_k: int) -> Iterator[tuple[int, int]]:
    """The tiles (i, j) of one head that are computed; a mask that hides a tile whole leaves it out."""
    mask: Mask = problem.mask
    for i in range(-(-problem.seqlen_q // block_q)):
        rows = slice(i * block_q, min((i + 1) * block_q, problem.seqlen_q))
        for j in range(-(-problem.seqlen_k // block_k)):
            columns = slice(j * block_k, min((j + 1) * block_k, problem.seqlen_k))
            if mask.keeps(rows, columns):
                yield i, j
