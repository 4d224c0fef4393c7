"""Events of a trace: the running maximum rises, alpha is small, a value is not finite."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

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
    events: list[StepEvent] = []
    for t, at in enumerate(timeline.maxima):
        events += [StepEvent(at, kind) for kind in _kinds(recording, choice, t, alpha_below)]
    return tuple(events)


def _kinds(recording: Recording, choice: RowChoice, t: int, alpha_below: float) -> list[EventKind]:
    kinds: list[EventKind] = []
    i, _ = recording.at(t)
    row = choice.row_in(recording, i)
    if row is not None:
        local = row - i * recording.block_q
        before = recording.m_before[t, local]
        if np.isfinite(before) and recording.m[t, local] > before:
            kinds.append("max-rises")
        if np.isfinite(before) and recording.alpha[t, local] < alpha_below:
            kinds.append("alpha-below")
    if not recording.finite[t]:
        kinds.append("non-finite")
    return kinds
