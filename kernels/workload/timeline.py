"""When and where each stage of a tiled kernel ran: bars on lanes, by clocks between the stages."""

from typing import Literal

import msgspec

from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Backend, Passes, Problem
from flashscope.kernels.workload.trace import Array

STAGES = ("load", "QKᵀ", "softmax", "PV", "store", "dOVᵀ", "dS", "dQ", "dV", "dK", "add dQ", "merge")
LOAD, QK, SOFTMAX, PV, STORE, DOV, DS, DQ, DV, DK, ADD_DQ, MERGE = range(len(STAGES))
PRODUCTS = QK, PV, DOV, DQ, DV, DK
FORWARD_STAGES = LOAD, QK, SOFTMAX, PV, STORE  # and MERGE, where keys are taken in parts
BACKWARD_STAGES = LOAD, QK, SOFTMAX, DOV, DS, DQ, ADD_DQ, DV, DK, STORE
NO_PLACE = -1  # of a bar that belongs to no head, no query block or no key block
MOST_BARS = 1_500_000  # 33 bytes each
MOST_LANES = 4_096
MOST_ROUNDS = 100
MOST_REGISTERS = 255  # of a thread, on every GPU so far

ClockedKernel = Literal["flash1", "flash2", "flash3-a", "flash3-b", "flash3-c", "flash3", "flash3-fp8"]
RowKind = Literal["SM", "thread"]


def stages_of(passes: Passes) -> tuple[str, ...]:
    """The names of the stages of a pass, in the order in which a tile goes through them."""
    return tuple(STAGES[one] for one in (BACKWARD_STAGES if passes == "backward" else FORWARD_STAGES))


class TimelineRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to record a timeline of.

    Attributes:
        problem: The workload, all of its heads.
        backend: Where to compute it.
        kernel: The timed kernel whose source is built once more, with clocks between its stages.
        sms: How many SMs of a GPU write out their clocks, the first ones; None: all do.
        rounds: How often that build and the timed one run, in turns; the timeline is of the quickest one.
    """

    problem: Problem
    backend: Backend = "cpu"
    kernel: ClockedKernel = "flash2"
    sms: int | None = None
    rounds: int = 5


class StageTimeline(msgspec.Struct, frozen=True, kw_only=True):
    """The quickest run of a build with clocks. R rows of L lanes each, B bars, K blocks.

    All times are in ns since the run began. Bars are in the order of their lanes, and in a lane in the order
    in which they ran; no two bars of a lane overlap. Between them the lane waits.

    Attributes:
        request: What was asked for.
        device: The device that computed it.
        source: Where the clocks come from, in words for the provenance badge.
        build: The digest of the kernel's source, as `kernels.catalogue.sources` has it.
        block_q: Rows of a tile, Br.
        block_k: Columns of a tile, Bc.
        row_kind: What a row is.
        rows: int32 (R,): the number that the device gives each row.
        lanes: The names of the lanes of a row.
        lane: int32 (B,): the place of each bar's lane, row times L plus the lane in the row.
        stage: uint8 (B,): the place of each bar's stage in `STAGES`.
        tile: int32 (B, 3): head, i and j of the tile; -1 where a bar belongs to no one of them.
        begin: int64 (B,): when each bar begins.
        end: int64 (B,): when it ends.
        block_lane: int32 (K,): the place of the lane that each block ran on.
        block: int32 (K, 2): its head, and the query block of the outer loop, or the key block where
            `outer_is_keys`; of a backward pass with grouped heads the first query head of the group.
        block_begin: int64 (K,): when it began.
        block_end: int64 (K,): when it ended.
        span_ns: How long the run took.
        packed: Query heads that share K and V and whose rows are one head here, one after the other: its
            number is then that of the first of them, and i counts tiles of all their rows.
        clocked_ns: int64 (rounds,): how long the build with clocks took in each round.
        plain_ns: int64 (rounds,): how long the timed build took, in turns with it.
        registers: What a thread takes of them in the build with clocks and in the timed one; None: on a CPU,
            and in older files.
    """

    request: TimelineRequest
    device: str
    source: str
    build: str
    block_q: int
    block_k: int
    row_kind: RowKind
    rows: Array
    lanes: tuple[str, ...]
    lane: Array
    stage: Array
    tile: Array
    begin: Array
    end: Array
    block_lane: Array
    block: Array
    block_begin: Array
    block_end: Array
    span_ns: int
    clocked_ns: Array
    plain_ns: Array
    packed: int = 1
    registers: tuple[int, int] | None = None


def outer_is_keys(request: TimelineRequest) -> bool:
    """Whether a block of the outer loop has keys, and the queries pass by; else it has queries."""
    return request.kernel == "flash1" or request.problem.passes == "backward"


def check_asked(request: TimelineRequest) -> None:
    """Refuse a number of rounds that tells nothing, or takes too long, and SMs where there are none.

    Raises:
        InputError: The text has the numbers.
    """
    if not 1 <= request.rounds <= MOST_ROUNDS:
        raise InputError(f"A timeline takes 1 to {MOST_ROUNDS} rounds, not {request.rounds}.")
    if request.sms is not None and request.backend == "cpu":
        raise InputError("A CPU has no SMs to choose from; leave them out.")
    if request.sms is not None and request.sms < 1:
        raise InputError(f"A timeline is of one SM at least, not of {request.sms}.")


def check_bars(bars: int) -> None:
    """Refuse more bars than a timeline holds.

    Raises:
        InputError: The text has the numbers.
    """
    if bars > MOST_BARS:
        raise InputError(
            f"This timeline would have up to {bars} bars where at most {MOST_BARS} are recorded; "
            "shorten the sequences, or choose fewer heads, or on a GPU fewer SMs."
        )
