"""Linformer in PyTorch, in a process of its own: prints what each rank gives as one JSON document.

Started by `profiles.claims.experiments.low_rank`; PyTorch neither enters the window's process nor a worker's.
"""

import json
import sys
from importlib import import_module

from flashscope.profiles.claims.experiments.low_rank import (
    HEAD_DIM,
    RANKS,
    SEQLEN,
    draw_head,
    low_rank_bytes,
    projection,
)


def main() -> None:
    """Time exact attention and every rank, and print it."""
    library = import_module("flashscope.kernels.library.linformer")
    bound = library.Linformer(*draw_head())
    ranks: list[tuple[int | None, float, int, float]] = []
    for rank in (None, *RANKS):
        e = None if rank is None else projection(rank, SEQLEN)
        ranks.append((rank, bound.milliseconds(e), low_rank_bytes(SEQLEN, HEAD_DIM, rank), bound.error(e)))
    sys.stdout.write(json.dumps({"device": bound.device, "ranks": ranks}))
