"""The block-by-block state of a backward pass, recorded while a K/V head and its queries were computed."""

from math import prod
from typing import Literal, get_args

import msgspec

from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.mask import Mask
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.trace import MOST_PLACES, Array

BackwardKernel = Literal["flash1", "flash2", "flash3"]
BACKWARD_KERNELS: tuple[BackwardKernel, ...] = get_args(BackwardKernel)


class BackwardTraceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to trace: all that one K/V head takes part in, of a kernel's backward pass.

    Attributes:
        problem: The workload, as a timed kernel is launched with it. Its pass is not looked at.
        backend: Where to compute it.
        kernel: Whose backward pass: on a GPU the timed one, in 16 bits, in tiles of its own.
        head: Which K/V head is on show, among those of all sequences.
        block_q: Queries of a tile, Br.
        block_k: Keys of a tile, Bc.
    """

    problem: Problem
    backend: Backend = "cpu"
    kernel: BackwardKernel = "flash2"
    head: int = 0
    block_q: int = 16
    block_k: int = 16

    @property
    def group(self) -> int:
        """Query heads that meet the K/V head."""
        return self.problem.heads // self.problem.key_heads

    @property
    def sequence(self) -> int:
        """The sequence of the K/V head on show."""
        return self.head // self.problem.key_heads

    @property
    def mask(self) -> Mask:
        """Which pairs are kept, the same in all heads."""
        return self.problem.mask

    @property
    def grid(self) -> tuple[int, int, int]:
        """Query heads, query blocks of each, and key blocks."""
        problem = self.problem
        return self.group, -(-problem.seqlen_q // self.block_q), -(-problem.seqlen_k // self.block_k)

    def asks_for(self, other: "BackwardTraceRequest") -> bool:
        """Whether another request is this one, whatever tile a timed kernel has chosen for it on a GPU."""
        return self.subject == other.subject

    @property
    def subject(self) -> "BackwardTraceRequest":
        """The request without the tile that a timed kernel chooses itself."""
        problem = msgspec.structs.replace(self.problem, passes="backward")
        own = {"block_q": 16, "block_k": 16} if self.backend == "cuda" else {}
        return msgspec.structs.replace(self, problem=problem, **own)

    def area(self, i: int, j: int) -> tuple[slice, slice]:
        """The queries and the keys of tile (i, j)."""
        problem, rows, keys = self.problem, self.block_q, self.block_k
        return (
            slice(i * rows, min((i + 1) * rows, problem.seqlen_q)),
            slice(j * keys, min((j + 1) * keys, problem.seqlen_k)),
        )

    def check_tiling(self) -> None:
        """Refuse a head that there is not, and blocks that are none or too many to be shown.

        Raises:
            InputError: The text has the numbers.
        """
        heads = self.problem.batch * self.problem.key_heads
        if not 0 <= self.head < heads:
            raise InputError(f"There is no K/V head {self.head} to look at: the {heads} heads count from 0.")
        if min(self.block_q, self.block_k) < 1:
            raise InputError(
                f"The blocks of a trace must be at least 1 long, not {self.block_q} x {self.block_k}."
            )
        places = prod(self.grid)
        if places > MOST_PLACES:
            raise InputError(f"This trace would have {places} tiles where at most {MOST_PLACES} are shown.")


class DqPass(msgspec.Struct, frozen=True, kw_only=True):
    """What a launch that computes dQ alone recorded: R tiles, the queries outside and the keys inside.

    Br and Bc are its own tile. Tiles are told head by head, each block of queries in the order of its walk.

    Attributes:
        block_q: Br.
        block_k: Bc.
        tile: int32 (R, 3): query head in the group, i and j of each tile.
        p: float32 (R, Br, Bc); `dp` and `ds` alike: as `BackwardTrace` has them.
        dp: See `p`.
        ds: See `p`.
        dq: float32 (R, Br, d): dQ of the tile's queries after it, without the scale.
        t_ns: int64 (R,): %globaltimer when the tile ended.
        sm: int32 (R,): the SM that computed it.
    """

    block_q: int
    block_k: int
    tile: Array
    p: Array
    dp: Array
    ds: Array
    dq: Array
    t_ns: Array | None = None
    sm: Array | None = None


class BackwardTrace(msgspec.Struct, frozen=True, kw_only=True):
    """What one traced backward pass recorded: T tiles as they ran, of a K/V head and its G query heads.

    Where tiles of keys run side by side, as on a GPU, they are told one after the other, in the order in
    which their blocks take them; each in the order of its own walk over queries. Br, Bc the tile. What lies
    behind the last query or key is 0. As in the kernels, dQ and dK lack the scale until the end.

    Attributes:
        request: What was asked for.
        device: The device that computed it.
        source: Where the states come from, in words for the provenance badge.
        tile: int32 (T, 3): query head in the group, i and j of each tile.
        p: float32 (T, Br, Bc): P computed again from LSE; 0 where the mask hides a pair.
        dp: float32 (T, Br, Bc): dP = dO V^T, of hidden pairs, too, where the kernel computes it.
        ds: float32 (T, Br, Bc): dS = P (dP - delta), before it is rounded for the products.
        delta: float32 (T, Br): rowsum(dO O) of the tile's queries.
        dq: float32 (T, Br, d): dQ of the tile's queries after it: the sum of what the tiles told so far
            add, which on a GPU may come to memory in another order. None: a launch of its own computes dQ,
            and `dq_pass` has it.
        dk: float32 (T, Bc, d): dK of the tile's keys after it; `dv` alike.
        dv: See `dk`.
        q: float32 (G, Nq, d): the inputs as computed with; `grad_output` and `output` alike.
        k: float32 (Nk, d); `v` alike.
        v: See `k`.
        grad_output: dO.
        output: O as the forward pass left it.
        lse: float32 (G, Nq): its log-sum-exp, natural log.
        grad_q: float32 (G, Nq, d): dQ as the kernel returned it, with the scale.
        grad_k: float32 (Nk, d): dK as the kernel returned it, with the scale; `grad_v` dV.
        grad_v: See `grad_k`.
        exact_q: float64 (G, Nq, d): the oracle's dQ; `exact_k` and `exact_v` its dK and dV.
        exact_k: float64 (Nk, d).
        exact_v: float64 (Nk, d).
        t_ns: int64 (T,): %globaltimer when the tile ended, CUDA only.
        sm: int32 (T,): the SM that computed the tile, CUDA only.
        dq_pass: The launch that computes dQ alone; None: there is none.
    """

    request: BackwardTraceRequest
    device: str
    source: str
    tile: Array
    p: Array
    dp: Array
    ds: Array
    delta: Array
    dk: Array
    dv: Array
    q: Array
    k: Array
    v: Array
    grad_output: Array
    output: Array
    lse: Array
    grad_q: Array
    grad_k: Array
    grad_v: Array
    exact_q: Array
    exact_k: Array
    exact_v: Array
    dq: Array | None = None
    t_ns: Array | None = None
    sm: Array | None = None
    dq_pass: DqPass | None = None

    @property
    def apart(self) -> BackwardTraceRequest:
        """The request in the tiles of the launch that computes dQ alone; of none in its own."""
        if self.dq_pass is None:
            return self.request
        one = self.dq_pass
        return msgspec.structs.replace(self.request, block_q=one.block_q, block_k=one.block_k)
