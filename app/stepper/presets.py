"""The traces that the Stepper offers, each as a request to an engine."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from msgspec.structs import replace as with_fields

from flashscope.app.stepper.shaped_inputs import falling, one_hot, rising, sink
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.trace import Array, LoopOrder, TimedKernel, TraceRequest
from flashscope.profiles.results.model.session import Session

SLIDE_SCORES = (1.0, 3.0, 2.0, 0.5)
SLIDE_VALUES = (1.0, 2.0, 3.0, 4.0)
MAX_SEQLEN = 512  # a trace keeps all of S: 1 MiB at this length


@dataclass(frozen=True)
class Options:
    """What the user chooses for a problem of their own; backend and loop order apply to presets too."""

    backend: Backend = "cpu"
    order: LoopOrder = "flash2"
    seqlen: int = 64
    head_dim: int = 16
    block_q: int = 8
    block_k: int = 8
    causal: bool = False
    window: tuple[int, int] | None = None
    reverse: bool = False
    seed: int = 0


@dataclass(frozen=True)
class StepperPreset:
    """A trace that the Stepper offers.

    Attributes:
        key: Its name in code.
        title: Its name on screen.
        idea: What it shows, in one sentence.
        order: The loop order it is meant for; the user may take the other one.
        make: The request, for a backend and loop order.
    """

    key: str
    title: str
    idea: str
    order: LoopOrder
    make: Callable[[Backend, LoopOrder], TraceRequest]


def score_row(
    scores: tuple[float, ...],
    values: tuple[float, ...],
    block: int,
    *,
    reverse: bool = False,
    backend: Backend = "cpu",
    order: LoopOrder = "flash1",
) -> TraceRequest:
    """One query row with exactly these scores: Q = 1, K = the scores, scale 1, head dim 1."""
    column = [np.asarray(column, dtype=np.float32)[:, None] for column in ((1.0,), scores, values)]
    q, k, v = (Array.of(a) for a in column)
    problem = Problem(seqlen_q=1, seqlen_k=len(scores), head_dim=1, scale=1.0)
    return TraceRequest(
        problem=problem,
        backend=backend,
        order=order,
        block_q=1,
        block_k=block,
        reverse=reverse,
        inputs=(q, k, v),
    )


def own(options: Options) -> TraceRequest:
    """A square problem with random inputs."""
    problem = Problem(
        seqlen_q=options.seqlen,
        seqlen_k=options.seqlen,
        head_dim=options.head_dim,
        causal=options.causal,
        window=options.window,
        seed=options.seed,
    )
    return TraceRequest(
        problem=problem,
        backend=options.backend,
        order=options.order,
        block_q=min(options.block_q, options.seqlen),
        block_k=min(options.block_k, options.seqlen),
        reverse=options.reverse,
    )


def last_gpu_problem(
    session: Session | None, backend: Backend = "cuda", order: LoopOrder = "flash2"
) -> TraceRequest | None:
    """The last problem a GPU session ran, at most 256 rows of it; None without one.

    In 16 bits it is a timed kernel that is followed, launched with all heads: that of the loop order, or
    flash3 or flash3-fp8 if that ran last. Else it is one head alone.

    A block mask is that of the whole problem and is left out, and so are lengths and pages.
    """
    if session is None or session.backend != "cuda" or not session.points:
        return None
    ran = [state.point for state in session.points if state.status != "pending"] or [session.points[0].point]
    last, kernel = ran[-1].problem, ran[-1].kernel
    problem = Problem(
        seqlen_q=min(last.seqlen_q, 256),
        seqlen_k=min(last.seqlen_k, 256),
        head_dim=last.head_dim,
        dtype=last.dtype if backend == "cuda" else "float32",
        causal=last.causal,
        window=last.window,
        scale=last.scale,
        seed=last.seed,
    )
    timed: TimedKernel = ""
    if backend == "cuda" and problem.dtype != "float32":
        newer = kernel in {"flash3", "flash3-fp8"} and order == "flash2"
        timed = cast("TimedKernel", kernel) if newer else order
        problem = with_fields(problem, batch=last.batch, heads=last.heads, kv_heads=last.kv_heads)
    return TraceRequest(problem=problem, backend=backend, order=order, kernel=timed, block_q=32, block_k=32)


def preset_of(request: TraceRequest) -> str | None:
    """Key of the preset that makes this request, None when none does."""
    made = (p.key for p in PRESETS if p.make(request.backend, request.order) == request)
    return next(made, None)


def _slide(backend: Backend, order: LoopOrder) -> TraceRequest:
    return score_row(SLIDE_SCORES, SLIDE_VALUES, 2, backend=backend, order=order)


def _slide_reversed(backend: Backend, order: LoopOrder) -> TraceRequest:
    return score_row(SLIDE_SCORES, SLIDE_VALUES, 2, reverse=True, backend=backend, order=order)


def _random(backend: Backend, order: LoopOrder) -> TraceRequest:
    return own(Options(backend=backend, order=order))


def _causal(backend: Backend, order: LoopOrder) -> TraceRequest:
    return own(Options(backend=backend, order=order, causal=True, seed=1))


def _window(backend: Backend, order: LoopOrder) -> TraceRequest:
    return own(Options(backend=backend, order=order, window=(20, 6), seed=3))


def _overflow(backend: Backend, order: LoopOrder) -> TraceRequest:
    problem = Problem(seqlen_q=32, seqlen_k=32, head_dim=16, scale=16.0, seed=2)
    return TraceRequest(problem=problem, backend=backend, order=order, block_q=8, block_k=8)


def _huge(backend: Backend, order: LoopOrder) -> TraceRequest:
    problem = Problem(seqlen_q=32, seqlen_k=32, head_dim=16, scale=800.0, seed=4)
    return TraceRequest(problem=problem, backend=backend, order=order, block_q=8, block_k=8)


def _masked_rows(backend: Backend, order: LoopOrder) -> TraceRequest:
    problem = Problem(seqlen_q=36, seqlen_k=24, head_dim=16, causal=True, seed=5)
    return TraceRequest(problem=problem, backend=backend, order=order, block_q=8, block_k=8)


PRESETS: tuple[StepperPreset, ...] = (
    StepperPreset(
        "slide",
        "Slide example",
        "S = [1, 3 | 2, 0.5]: the first tile has the maximum, α = 1",
        "flash1",
        _slide,
    ),
    StepperPreset(
        "slide-reversed",
        "Slide example, reversed",
        "The same scores from the right: the maximum rises, α = 0.368 rescales what came before",
        "flash1",
        _slide_reversed,
    ),
    StepperPreset(
        "random", "Random, N = 64", "Eight by eight tiles of standard-normal inputs", "flash2", _random
    ),
    StepperPreset("causal", "Causal, N = 64", "Tiles above the diagonal are never loaded", "flash2", _causal),
    StepperPreset("window", "Window, N = 64", "Only tiles near the diagonal are loaded", "flash2", _window),
    StepperPreset(
        "overflow", "Large scores", "Scores near 200: e^S alone overflows float32", "flash2", _overflow
    ),
    StepperPreset(
        "huge", "Logits of 10⁴", "Scores near ten thousand: one key of a row wins", "flash2", _huge
    ),
    StepperPreset("rising", "Rising maxima", "Every tile raises the maximum of every row", "flash2", rising),
    StepperPreset("falling", "Falling maxima", "The first tile has the maximum: α is 1", "flash2", falling),
    StepperPreset(
        "masked-rows",
        "Rows without keys",
        "Causal with more queries than keys: the first 12 rows keep no key",
        "flash2",
        _masked_rows,
    ),
    StepperPreset(
        "one-hot", "One-hot", "One key takes all the weight, another in each row", "flash2", one_hot
    ),
    StepperPreset(
        "sink", "Attention sink", "The first key takes most of the weight of all rows", "flash2", sink
    ),
)
