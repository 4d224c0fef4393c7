"""Events of a trace: the running maximum rises, alpha is small, a value is not finite."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from flashscope.app.stepper.choice import RowChoice
from flashscope.app.stepper.cursor import Timeline
from flashscope.app.stepper.recording import Recording

EventKind = Literal["max-rises", "alpha-below", "non-finite", "passes", "written"]


@dataclass(frozen=True)
class StepEvent:
    """What happens at a step to the row watched; `non-finite` may concern any row of the tile."""

    at: int
    kind: EventKind


def find_events(
    recording: Recording, timeline: Timeline, choice: RowChoice, alpha_below: float = 0.5
) -> tuple[StepEvent, ...]:
    """All events, ordered by step.

    The tile with a row's first score that is not masked makes no event: there is no earlier maximum to rise
    from, and nothing to rescale.
    """
    happens = _happenings(recording, choice, alpha_below)
    steps = timeline.maxima
    told = np.flatnonzero(np.any([*happens.values()], axis=0)[: len(steps)]).tolist()
    return tuple(StepEvent(steps[t], kind) for t in told for kind, there in happens.items() if there[t])


def _happenings(
    recording: Recording, choice: RowChoice, alpha_below: float
) -> dict[EventKind, NDArray[np.bool_]]:
    """In which tiles each kind of event happens (bool, (T,))."""
    blocks, of_tile = np.unique(recording.tile[:, 0], return_inverse=True)
    rows = [choice.row_in(recording, i) for i in blocks.tolist()]
    watched = np.array([row is not None for row in rows], bool)[of_tile]
    tiles = np.arange(recording.tiles)
    local = np.array([(row or 0) % recording.block_q for row in rows], np.intp)[of_tile]
    before = recording.m_before[tiles, local]
    met = watched & np.isfinite(before)
    return {
        "max-rises": met & (recording.m[tiles, local] > before),
        "alpha-below": met & (recording.alpha[tiles, local] < alpha_below),
        "non-finite": ~recording.finite,
    }
