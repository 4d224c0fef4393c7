"""Where the wall time of a point goes in its worker: keys of the figures that tell it, in ms.

A point is tried alone, and sampled in a later command: each of the two has figures of its own. They are no
quantities of a kernel; profiles.results.model.efficiency adds them up.
"""

from typing import Literal, get_args

Visit = Literal["trial", "sampling"]
SpentOn = Literal["launch", "check", "flush", "prepare", "count"]
"""Inside launches that are measured or warm up; comparing with the oracle; emptying the cache before a sample
and reading its clocks; making what a kernel takes (inputs, code, memory); running under hardware counters."""
VISITS: tuple[Visit, ...] = get_args(Visit)
ACTIVITIES: tuple[SpentOn, ...] = get_args(SpentOn)


def spent_key(visit: Visit, activity: SpentOn) -> str:
    """The key of the figure."""
    return f"{visit}_{activity}_ms"
