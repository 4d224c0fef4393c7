"""What is asked of a process that measures attention on several ranks, and its answers; JSON, a line each.

It does one request after the other, and ends each with `RanksEnded`.
"""

from math import inf
from typing import Literal, get_args

import msgspec

from flashscope.kernels.context_parallel.drawing import ROWS
from flashscope.kernels.context_parallel.place import RankLane
from flashscope.kernels.context_parallel.schemes import Scheme
from flashscope.kernels.workload.problem import Backend, Passes, Problem

LinkKind = Literal["peer", "nccl"]
REPEATS = 7
TRANSPORTS: tuple[LinkKind, ...] = get_args(LinkKind)


class RanksToMeasure(msgspec.Struct, frozen=True, kw_only=True):
    """Measure a problem on several ranks, and on one.

    Attributes:
        scheme: Who holds and does what.
        problem: What all compute together.
        backend: Where.
        ranks: How many ranks; 0: one on each GPU.
        gpus: On how many GPUs, in turns; 0: all there are, or none on a CPU.
        transport: How arrays go from GPU to GPU.
        repeats: Timed runs.
        heads: K/V heads that are compared with float64; 0: all.
        rows: Rows of each rank that are, in each of them, where all are too many.
        alone: Whether one device with all of it runs beside them, in turns.
    """

    scheme: Scheme
    problem: Problem
    backend: Backend
    ranks: int = 0
    gpus: int = 0
    transport: LinkKind = "peer"
    repeats: int = REPEATS
    heads: int = 0
    rows: int = ROWS
    alone: bool = True


class StepTime(msgspec.Struct, frozen=True, kw_only=True):
    """When a product or a transfer of a rank ran, in ms since its run began."""

    lane: RankLane
    step: int
    begin_ms: float
    end_ms: float


class RankMeasured(msgspec.Struct, frozen=True, kw_only=True):
    """What a rank did in the run whose time is the median.

    Attributes:
        rank: Its number.
        sent_bytes: Bytes that it sent.
        held_bytes: Memory that it took, its part of the inputs with it.
        product_ms: Time in which it had a product.
        transfer_ms: Time in which something arrived.
        exposed_ms: Time in which something arrived and it had no product.
        steps: Each of these.
    """

    rank: int
    sent_bytes: int
    held_bytes: int
    product_ms: float
    transfer_ms: float
    exposed_ms: float
    steps: tuple[StepTime, ...]


class RanksError(msgspec.Struct, frozen=True, kw_only=True):
    """How far an output is off float64's, and the largest error that passes.

    Attributes:
        output: Which one, as `kernels.oracle.verdict.Deviation` has it.
        error: What it is off by; None: it is no number, as where it holds NaN.
        bound: The largest that passes.
    """

    output: str
    error: float | None
    bound: float

    @property
    def used(self) -> float:
        """The share of its bound that the error uses."""
        if self.error is None or (self.error and not self.bound):
            return inf
        return self.error / self.bound if self.error else 0.0


class RanksCompared(msgspec.Struct, frozen=True, kw_only=True):
    """What of a run was compared with float64; see `kernels.context_parallel.judging`.

    Attributes:
        heads: K/V heads of all sequences.
        rows: Rows of each rank that were drawn in each of them; None: all were compared.
        seed: What they were drawn by; None: they were not.
    """

    heads: int
    rows: int | None = None
    seed: int | None = None


class PassMeasured(msgspec.Struct, frozen=True, kw_only=True, tag="pass"):
    """One pass of a problem on several ranks.

    Attributes:
        passes: `forward` or `backward`.
        backend: Where.
        devices: The CUDA index of each rank's GPU; on a CPU all are 0.
        ms: Of each run, what the slowest rank took.
        alone_ms: Of each run of one device with all of it; empty: it had none.
        alone_missing: Why it had none.
        flops: Operations of the pass, all ranks together.
        limit: The efficiency that the mask allows this scheme.
        ranks: What each rank did.
        errors: Of the last timed run.
        passed: Whether all errors pass.
        compared: What of that run they are of; None: an older version did not keep that.
    """

    passes: Passes
    backend: Backend
    devices: tuple[int, ...]
    ms: tuple[float, ...]
    alone_ms: tuple[float, ...]
    alone_missing: str
    flops: int
    limit: float
    ranks: tuple[RankMeasured, ...]
    errors: tuple[RanksError, ...]
    passed: bool
    compared: RanksCompared | None = None

    @property
    def shared(self) -> bool:
        """Whether ranks share a GPU, so that no time is that of several."""
        return self.backend == "cuda" and len(set(self.devices)) < len(self.devices)


class RanksEnded(msgspec.Struct, frozen=True, kw_only=True, tag="ended"):
    """No more of a request comes.

    Attributes:
        reason: Why not all of it was done, in a sentence; empty: it was.
        detail: What else is known of that.
        misused: Whether another request would have been right.
        device: What it ran on, by name.
        kernel: What computed blocks.
        timer: What timed it, in words.
    """

    reason: str = ""
    detail: str = ""
    misused: bool = False
    device: str = ""
    kernel: str = ""
    timer: str = ""


class RanksResult(msgspec.Struct, frozen=True):
    """A request and all that came of it.

    Attributes:
        asked: What was to be measured.
        passes: What was, in order.
        ended: How that ended.
    """

    asked: RanksToMeasure
    passes: tuple[PassMeasured, ...]
    ended: RanksEnded


RanksAnswer = PassMeasured | RanksEnded

decode_ranks_request: msgspec.json.Decoder[RanksToMeasure] = msgspec.json.Decoder(RanksToMeasure)
decode_ranks_answer: msgspec.json.Decoder[RanksAnswer] = msgspec.json.Decoder(RanksAnswer)
