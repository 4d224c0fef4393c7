"""Linformer in PyTorch, in a process of its own: prints what each rank gives as one JSON document.

Started by `profiles.claims.trials.low_rank`; PyTorch neither enters the window's process nor a worker's.
"""

import json
import sys
from importlib import import_module

from profiles.claims.trials.low_rank import HEAD_DIM, RANKS, SEQLEN, draw, held, projection


def main() -> None:
    """Time exact attention and every rank, and print it."""
    library = import_module("kernels.library.linformer")
    bound = library.Linformer(*draw())
    ranks: list[tuple[int | None, float, int, float]] = []
    for rank in (None, *RANKS):
        e = None if rank is None else projection(rank, SEQLEN)
        ranks.append((rank, bound.milliseconds(e), held(SEQLEN, HEAD_DIM, rank), bound.error(e)))
    sys.stdout.write(json.dumps({"device": bound.device, "ranks": ranks}))


if __name__ == "__main__":
    main()
