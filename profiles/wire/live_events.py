"""What an engine says of a launch in slow motion."""

from flashscope.kernels.workload.live import LiveRequest
from flashscope.kernels.workload.trace import Array
from flashscope.profiles.wire.event_base import EventBase


class LiveStarted(EventBase, frozen=True, kw_only=True, tag="live-started"):
    """A launch in slow motion begins.

    Attributes:
        request: What was asked for.
        block_q: Rows of a tile, Br.
        block_k: Columns of a tile, Bc.
        tiles: How many are computed, of all heads.
        multiprocessors: SMs of the GPU; 0: it runs on a CPU.
        tile_ns: How long a block waits after a tile; 0: the tiles of all blocks share the time, on a CPU.
    """

    request: LiveRequest
    block_q: int
    block_k: int
    tiles: int
    multiprocessors: int = 0
    tile_ns: int = 0


class LiveTiles(EventBase, frozen=True, kw_only=True, tag="live-tiles"):
    """Tiles of a launch that runs are done.

    Attributes:
        tile: int32 (T, 3): head, i and j of each, in the order in which they were done.
        finished_ns: int64 (T,): when each was done, in ns since the launch began.
        t_ns: When this was said, by time.monotonic_ns of this machine.
        sm: int32 (T,): the SM that ended each; None on a CPU.
    """

    tile: Array
    finished_ns: Array
    t_ns: int
    sm: Array | None = None


class LiveEnded(EventBase, frozen=True, kw_only=True, tag="live-ended"):
    """The answer to a launch in slow motion.

    Attributes:
        took_ns: How long it took, its waits included: no runtime of the kernel.
        same: Whether O and LSE are those of the kernel without waits, to the bit.
    """

    took_ns: int
    same: bool
