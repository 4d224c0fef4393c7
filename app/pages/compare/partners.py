"""Which two of some sessions have most to compare."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import TypeAlias

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.compare.pairing import Regime
from flashscope.profiles.store import SessionFileError, loading

Measured: TypeAlias = frozenset[tuple[Regime, str, Problem]]
"""What was measured: how, of which kernel, on which problem."""


def partners(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The two that share most points that were measured, in their order; empty: no two share any.

    Reads every file: not for the window's thread.
    """
    pairs = combinations(_measured(paths), 2)
    shared = {(one, other): len(ours & theirs) for (one, ours), (other, theirs) in pairs}
    best = max(shared, key=shared.__getitem__, default=None)
    return best if best is not None and shared[best] else ()


def _measured(paths: Sequence[Path]) -> Iterator[tuple[Path, Measured]]:
    """Of each that can be read."""
    for path in paths:
        with suppress(SessionFileError, OSError), loading(path) as (session, _readings):
            how, done = Regime.of(session), (state for state in session.cells if state.status == "done")
            yield path, frozenset((how, state.point.kernel, state.point.problem) for state in done)
