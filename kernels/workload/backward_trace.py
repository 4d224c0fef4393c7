"""The block-by-block state of a backward pass, recorded while a K/V head and its queries were computed."""

from typing import Literal, get_args

import msgspec

from flashscope.kernels.workload.mask import Mask
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.trace import Array

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
            add, which on a GPU may come to memory in another order. None: a launch of its own computes dQ.
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
