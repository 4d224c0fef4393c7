"""The block-by-block state of the online softmax, recorded while one head was computed."""

from math import log
from typing import Any, Literal, get_args

import msgspec

from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.mask import Mask, PackedMask
from flashscope.kernels.workload.problem import Backend, Problem

MOST_TILES = 100_000  # that run, and
MOST_PLACES = 1 << 22  # that there are, those included of which the mask keeps nothing

MERGING_LANES = 8  # sums that parts of keys go into at most before these are added: flash3_combine.cuh

LoopOrder = Literal["flash1", "flash2"]
TimedKernel = Literal["", "flash1", "flash2", "flash3", "flash3-fp8"]
Fault = Literal[
    "",
    "no-rescale",
    "no-maximum",
    "softmax-per-tile",
    "float16-accumulators",
    "diagonal-masked",
    "key-beyond-diagonal",
    "stale-keys",
]
FAULTS: tuple[Fault, ...] = get_args(Fault)[1:]
FP8_HEADROOM = log(14)  # P_LARGEST over 2^P_SHIFT in flash3_fp8_softmax.cuh
HEADROOM = 8 * log(2)  # LAZINESS in flash2.cu, HEADROOM in flash3_softmax.cuh: powers of two


class Array(msgspec.Struct, frozen=True):
    """A NumPy array as plain bytes, so that it can cross a process or enter a file without pickle."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    @classmethod
    def of(cls, array: Any) -> "Array":
        """Copy an array-like (host memory) into plain bytes, row-major."""
        import numpy as np  # noqa: PLC0415 - the messages stay importable in milliseconds

        host = np.ascontiguousarray(array)
        return cls(host.dtype.str, host.shape, host.tobytes())

    def numpy(self) -> Any:
        """The array again as a NumPy array, read-only, without a copy."""
        import numpy as np  # noqa: PLC0415 - the messages stay importable in milliseconds

        return np.frombuffer(self.data, dtype=np.dtype(self.dtype)).reshape(self.shape)


class TraceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to trace: one head of one problem, computed in tiles; heads that share tiles are traced together.

    Attributes:
        problem: The workload, as a timed kernel is launched with it.
        backend: Where to compute it.
        order: `flash1` (K/V outer, Q inner, O normalised after every tile) or `flash2` (Q outer).
        kernel: The timed kernel to trace on a GPU, in 16 bits, in tiles and an order of its own; empty: the
            loop order in float arithmetic, in the tiles and the order of this request.
        block_q: Rows of a tile, Br.
        block_k: Columns of a tile, Bc.
        reverse: Walk the key blocks from the last to the first.
        inputs: Q (Nq, d), K (Nk, d) and V (Nk, dv) in place of random ones; None draws from the seed.
        fault: What the kernel gets wrong on purpose, on the CPU alone; empty: nothing. `kernels.cpu.faults`
            says what each of them computes.
        head: Which head is on show, among the query heads of all sequences.
        packed: Query heads that fill the rows of tiles one after the other, as a timed kernel took them.
        splits: Parts that a tile's keys are cut into, as a timed kernel took them; each has its own softmax.
    """

    problem: Problem
    backend: Backend = "cpu"
    order: LoopOrder = "flash2"
    kernel: TimedKernel = ""
    block_q: int = 16
    block_k: int = 16
    reverse: bool = False
    inputs: tuple[Array, Array, Array] | None = None
    fault: Fault = ""
    head: int = 0
    packed: int = 1
    splits: int = 1

    @property
    def subject(self) -> "TraceRequest":
        """The request without the tile, the order and the share that a timed kernel chooses itself."""
        if not self.kernel:
            return self
        return msgspec.structs.replace(self, block_q=16, block_k=16, reverse=False, packed=1, splits=1)

    def at_head(self, head: int) -> "TraceRequest":
        """The same of another head, before a timed kernel has chosen anything for it."""
        return msgspec.structs.replace(self.subject, head=head)

    def asks_for(self, other: "TraceRequest") -> bool:
        """Whether another request is this one, whatever tile and share a timed kernel has chosen for it."""
        return self.subject == other.subject

    @property
    def shared(self) -> bool:
        """Whether a row's keys are cut into parts, or heads share tiles."""
        return self.splits > 1 or self.packed > 1

    @property
    def sequence(self) -> int:
        """The sequence of the head on show."""
        return self.head // self.problem.heads

    @property
    def heads(self) -> range:
        """The heads on show, among the query heads of all sequences: those that share its tiles."""
        first = self.head // self.packed * self.packed
        return range(first, first + self.packed)

    @property
    def lengths(self) -> tuple[int, int]:
        """Query rows of a head on show and keys of its sequence, without padding."""
        problem, at = self.problem, self.sequence  # a file may name more sequences than memory has room for
        rows = problem.seqlen_q if problem.query_lengths is None else problem.query_lengths[at]
        return rows, problem.seqlen_k if problem.key_lengths is None else problem.key_lengths[at]

    @property
    def extent(self) -> tuple[int, int]:
        """Rows and keys on show: of packed heads the rows of all, with the padding between them."""
        rows, keys = self.lengths
        return (rows if self.packed == 1 else self.packed * self.problem.seqlen_q), keys

    @property
    def shown(self) -> Problem:
        """What is on show, as a problem of one head: of packed heads the rows of all, without their mask.

        Raises:
            InputError: The sequence has no rows or no keys.
        """
        problem, (rows, keys) = self.problem, self.extent
        alone: dict[str, Any] = {"batch": 1, "heads": 1, "kv_heads": None}
        alone |= {"query_lengths": None, "key_lengths": None, "page_size": None}
        if self.packed > 1:
            alone |= {"window": None, "causal": False}
        return msgspec.structs.replace(problem, seqlen_q=rows, seqlen_k=keys, **alone)

    @property
    def mask(self) -> Mask | PackedMask:
        """Which pairs of the rows and keys on show are kept."""
        problem, (rows, keys) = self.problem, self.lengths
        of_head = Mask.of(rows, keys, causal=problem.causal, window=problem.window, blocks=problem.block_mask)
        return of_head if self.packed == 1 else PackedMask(of_head, problem.seqlen_q)

    @property
    def grid(self) -> tuple[int, int]:
        """Number of query blocks and of key blocks of what is on show."""
        rows, keys = self.extent
        return -(-rows // self.block_q), -(-keys // self.block_k)


def check_tiling(request: TraceRequest) -> None:
    """Refuse a head that there is not, an empty sequence, and blocks that are none or too many to be shown.

    Raises:
        InputError: The text has the numbers.
    """
    problem = request.problem
    heads, group = problem.batch * problem.heads, problem.heads // problem.key_heads
    if not 0 <= request.head < heads:
        raise InputError(f"There is no head {request.head} to look at: the {heads} heads count from 0.")
    if request.packed not in {1, group} or not 1 <= request.splits <= MOST_TILES:
        raise InputError(f"{request.packed} heads in a tile and {request.splits} parts of keys are no share.")
    if not all(request.lengths):
        raise InputError(f"Sequence {request.sequence} has no rows or no keys: look at another head.")
    if request.block_q < 1 or request.block_k < 1:
        raise InputError(
            f"The blocks of a trace must be at least 1 long, not {request.block_q} x {request.block_k}."
        )
    rows, columns = request.grid
    if rows * columns > MOST_PLACES:
        raise InputError(
            f"This trace would have {rows} x {columns} tiles where at most {MOST_PLACES} are shown; "
            "shorten the sequences or enlarge the blocks."
        )


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """What one traced run recorded. T tiles in the order they ran; Br, Bc the tile; ragged tiles are padded.

    Padded or masked scores are -inf; padded rows of m, l, alpha and o hold the empty state (-inf, 0, 1, 0).
    Nq and Nk are those of `request.shown`. Of keys in parts each part begins in the empty state.

    Attributes:
        request: What was asked for.
        device: The device that computed it.
        source: Where the snapshots come from, in words for the provenance badge.
        tile: int32 (T, 2): the (i, j) of each tile.
        s: float32 (T, Br, Bc): scaled, masked scores.
        m: float32 (T, Br): running maximum after the tile, in units of the scaled scores; with
            headroom the reference point of the exponents, which follows it only once it is so far above.
        l: float32 (T, Br): running sum after the tile.
        alpha: float32 (T, Br): exp(m_before - m_after), the factor on old l and old O, also where a fault has
            the kernel forget it; 1 where a fault leaves nothing to rescale.
        o: float32 (T, Br, dv): the accumulator after the tile, as the kernel holds it: unnormalised for
            flash2, normalised for flash1 and where every tile has a softmax of its own.
        q: float32 (Nq, d); k: float32 (Nk, d); v: float32 (Nk, dv): the inputs as computed with.
        output: float32 (Nq, dv): what the traced kernel returned.
        lse: float32 (Nq,): its log-sum-exp, natural log.
        exact_output: float64 (Nq, dv): the oracle's output.
        exact_lse: float64 (Nq,): the oracle's log-sum-exp.
        t_ns: int64 (T,): %globaltimer when the tile ended, CUDA only.
        sm: int32 (T,): the SM that computed the tile, CUDA only.
        headroom: By how much a row's maximum may pass m before m follows it, in units of the scaled scores;
            0: m is the running maximum.
        merge_m, merge_l: float32 (A, Nq): running maximum and sum after each addition of the launch that
            merges parts of keys, in the order of `merging`; None: keys are in one part.
        merge_o: float32 (A, Nq, dv): the accumulator after it, not divided by l.
        twice: bool as uint8 (T, Br): of flash3-fp8, whether the tile's weights left the range of their 8 bits
            under the old m and were computed again with a new one; None: of any other kernel.
        pages: int32: the pages of the sequence in the order of its keys; None: K and V are no pages.
    """

    request: TraceRequest
    device: str
    source: str
    tile: Array
    s: Array
    m: Array
    l: Array
    alpha: Array
    o: Array
    q: Array
    k: Array
    v: Array
    output: Array
    lse: Array
    exact_output: Array
    exact_lse: Array
    t_ns: Array | None = None
    sm: Array | None = None
    headroom: float = 0.0
    merge_m: Array | None = None
    merge_l: Array | None = None
    merge_o: Array | None = None
    pages: Array | None = None
    twice: Array | None = None

    @property
    def normalised(self) -> bool:
        """Whether O is held divided by l."""
        return self.request.order == "flash1" or self.request.fault == "softmax-per-tile"

    @property
    def merging(self) -> tuple[tuple[int, bool, int], ...]:
        """The additions of a merge, as `merge_order` has them."""
        return merge_order(self.request.splits, 0 if self.merge_m is None else self.merge_m.shape[0])


def merge_order(parts: int, additions: int) -> tuple[tuple[int, bool, int], ...]:
    """Each addition that merges parts: the sum it adds to, whether a part is added or a sum, and which.

    Part p goes to sum p mod L, of L sums, and then these to the first.
    """
    lanes = max(1, additions - parts + 1)
    return (
        *((part % lanes, True, part) for part in range(min(parts, additions))),
        *((0, False, lane) for lane in range(1, lanes)),
    )
