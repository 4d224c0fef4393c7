"""NVIDIA's reasons why a warp issues nothing, each in plain words."""

from collections.abc import Mapping
from typing import NamedTuple

from flashscope.kernels.workload.stalls import ISSUED


class StallWords(NamedTuple):
    """A reason in words.

    Attributes:
        title: NVIDIA's name for it.
        line: What a warp waits for then, plainly.
    """

    title: str
    line: str


REASONS: Mapping[str, StallWords] = {
    ISSUED: StallWords("selected", "No stall: the warp issues its instruction in this cycle."),
    "barrier": StallWords(
        "barrier",
        "The warp waits for others of its block, or on Hopper for products of its warpgroup (wgmma).",
    ),
    "warpgroup_arrive": StallWords(
        "warpgroup arrive",
        "The warp waits until the four warps of its group have come to begin a product.",
    ),
    "long_scoreboard": StallWords(
        "long scoreboard",
        "The warp waits for data from global or local memory, or on Hopper at an mbarrier (TMA).",
    ),
    "short_scoreboard": StallWords(
        "short scoreboard",
        "The warp waits for shared memory, an exponential (MUFU), or a shuffle among its threads.",
    ),
    "math_pipe_throttle": StallWords(
        "math pipe throttle", "The arithmetic unit that the instruction takes is busy with others."
    ),
    "mio_throttle": StallWords(
        "MIO throttle", "The queue to shared memory and to the unit of exponentials (MUFU) is full."
    ),
    "lg_throttle": StallWords("LG throttle", "The queue of loads and stores of global memory is full."),
    "tex_throttle": StallWords("TEX throttle", "The queue of the texture unit is full."),
    "wait": StallWords("wait", "The instruction before has a fixed latency, which is not over yet."),
    "not_selected": StallWords(
        "not selected", "The warp could issue, and another one of its quarter of the SM was chosen."
    ),
    "dispatch_stall": StallWords(
        "dispatch stall", "The instruction is ready, and what sends it off is held up."
    ),
    "branch_resolving": StallWords("branch resolving", "The warp waits until a branch knows where it leads."),
    "no_instructions": StallWords(
        "no instruction", "The next instruction is not there yet: it is fetched, or was in no cache."
    ),
    "imc_miss": StallWords("IMC miss", "A constant that the instruction names is not in its cache."),
    "membar": StallWords("membar", "The warp waits until its writes are seen by others (a memory fence)."),
    "drain": StallWords("drain", "The warp has ended and waits for its last stores."),
    "sleeping": StallWords("sleeping", "The warp sleeps because its program says so."),
    "misc": StallWords("misc", "Another reason of the hardware."),
}
"""What ncu calls them, and their words; those of other architectures go by their names."""


def reason_title(reason: str) -> str:
    """NVIDIA's name for a reason."""
    return REASONS[reason].title if reason in REASONS else reason.replace("_", " ")


def reason_line(reason: str) -> str:
    """What a warp waits for; empty: nobody said."""
    return REASONS[reason].line if reason in REASONS else ""
