"""What a build with clocks is: its program, the buffers that it records into, and how they are read."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from flashscope.kernels.cuda.clocks import WarpBars
from flashscope.kernels.cuda.program import Program, Target, TileSize, ceil_div
from flashscope.kernels.workload.errors import UnsupportedError

ReadBars = Callable[[Mapping[str, Any], int], WarpBars]
Shape = tuple[int, ...]
CLOCK_SMS = "CLOCK_SMS"
"""What a build is compiled with of which so many SMs alone write out their clocks."""


class ClockedBuild(NamedTuple):
    """A build with clocks of one problem.

    Attributes:
        tile: Its tile.
        program: Its program.
        recorded: Shape and dtype of each buffer that it records into, which must be zero before.
        most_bars: As many bars as there can be.
        bars: From what the buffers hold after a run, and the number of SMs that wrote it, to bars.
        source: What it is, in words.
        packed: Query heads that it takes as one.
    """

    tile: TileSize
    program: Program
    recorded: dict[str, tuple[Shape, Any]]
    most_bars: int
    bars: ReadBars
    source: str
    packed: int = 1

    def of_first(self, sms: int, multiprocessors: int) -> "ClockedBuild":
        """The same whose first SMs alone write out their clocks, with room for their even share of bars."""
        program = replace(self.program, defines={**self.program.defines, CLOCK_SMS: sms})
        most = ceil_div(self.most_bars * min(sms, multiprocessors), multiprocessors)
        return self._replace(program=program, most_bars=most)


def require_room(kernel: str, program: Program, target: Target) -> None:
    """See that a program has the shared memory for its clocks, too.

    Raises:
        UnsupportedError: It has not.
    """
    if any(one.shared_bytes > target.shared_memory for one in program.launches):
        raise UnsupportedError(f"{kernel}'s tiles leave no room in shared memory for clocks.")


def recording(names: tuple[str, str], shapes: tuple[Shape, Shape]) -> dict[str, tuple[Shape, Any]]:
    """The buffers of a recording: the clocks, then the anchors."""
    return dict(zip(names, zip(shapes, (np.uint32, np.uint64), strict=True), strict=True))
