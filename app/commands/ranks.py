"""`ranks`: one sequence on several GPUs, scheme by scheme, each pass beside one GPU with all of it.

Exit codes: 0 when all was measured and is right; 1 when something was not, or is wrong; 2 where nothing could
be asked for like this; 128 plus the signal's number after Ctrl-C or SIGTERM, what is done until then printed.
"""

from collections import deque
from queue import SimpleQueue
from typing import NamedTuple

from flashscope.app.commands.exit_codes import FAILED, SIGNALLED, USAGE_ERROR
from flashscope.app.commands.local import hear_signals
from flashscope.app.commands.messages import complain, say_json, tell
from flashscope.app.commands.printed.ranks import (
    RanksResult,
    print_forecasts,
    print_results,
    progress_line,
    result_document,
    title_of,
)
from flashscope.installation import driver_here
from flashscope.kernels.catalogue.registry import AUTO
from flashscope.kernels.catalogue.spec import installed
from flashscope.kernels.context_parallel.schemes import Scheme
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Backend, Dtype, Passes, Problem
from flashscope.profiles.engine.ranks_process import RANKS_CUT_OFF, RanksProcess
from flashscope.profiles.wire.ranks import LinkKind, PassMeasured, RanksAnswer, RanksToMeasure

GPU_SEQLENS = tuple(1 << power for power in range(14, 19))
CPU_SEQLENS = (1024,)

AnswerQueue = SimpleQueue[RanksAnswer | int]  # an int is the number of a signal that arrived


class RanksChoices(NamedTuple):
    """What is asked for: each scheme at each length.

    Attributes:
        schemes: Which.
        seqlens: N; None: those that fit the backend.
        backend: As `sweep` takes it.
        gpus: How many; 0: all.
        ranks: How many; None: one on each GPU, two on a CPU.
        causal: Whether under a causal mask.
        passes: Forward, backward or both.
        batch: Sequences.
        heads: Query heads.
        kv_heads: Key/value heads; None: as many.
        head_dim: d.
        dtype: Of the inputs; None: that which fits the backend.
        transport: How arrays go from GPU to GPU.
        repeats: Timed runs.
        seed: What inputs are drawn by.
    """

    schemes: tuple[Scheme, ...]
    seqlens: tuple[int, ...] | None
    backend: str
    gpus: int
    ranks: int | None
    causal: bool
    passes: Passes
    batch: int
    heads: int
    kv_heads: int | None
    head_dim: int
    dtype: Dtype | None
    transport: LinkKind
    repeats: int
    seed: int


def run(choices: RanksChoices, *, as_json: bool) -> int:
    """Measure, print, and say by the exit code whether all is there and right."""
    asked = requests_of(choices)
    results: list[RanksResult] = []
    answers: AnswerQueue = SimpleQueue()
    hear_signals(answers.put)
    waiting, stopped = deque(asked), None
    while waiting and stopped is None:
        process = RanksProcess(waiting, answers.put)
        try:
            stopped = _follow(waiting, answers, results)
        finally:
            process.end()
    if as_json:
        say_json([result_document(one) for one in results])
    else:
        print_results(results)
        print_forecasts(results)
    return _exit_code(results) if stopped is None else SIGNALLED + stopped


def requests_of(choices: RanksChoices) -> list[RanksToMeasure]:
    """Each scheme at each length, the schemes of a length one after the other.

    Raises:
        InputError: There is no such problem, or GPUs are asked for where there is none.
    """
    backend = _backend(choices.backend)
    if backend == "cpu" and choices.gpus:
        raise InputError(f"--gpus {choices.gpus} takes GPUs, and it would run on the CPU; leave it out.")
    seqlens = choices.seqlens or (GPU_SEQLENS if backend == "cuda" else CPU_SEQLENS)
    problems = [
        Problem(
            batch=choices.batch,
            seqlen_q=seqlen,
            seqlen_k=seqlen,
            heads=choices.heads,
            kv_heads=choices.kv_heads,
            head_dim=choices.head_dim,
            dtype=choices.dtype or ("bfloat16" if backend == "cuda" else "float32"),
            causal=choices.causal,
            passes=choices.passes,
            seed=choices.seed,
        )
        for seqlen in seqlens
    ]
    return [
        RanksToMeasure(
            scheme=scheme,
            problem=problem,
            backend=backend,
            ranks=choices.ranks or 0,
            gpus=choices.gpus,
            transport=choices.transport,
            repeats=choices.repeats,
        )
        for problem in problems
        for scheme in choices.schemes
    ]


def _backend(word: str) -> Backend:
    """The backend that is meant: `auto` is a GPU's where there is a driver, and CuPy."""
    if word == AUTO:
        return "cuda" if driver_here() and installed("cupy") else "cpu"
    return "cuda" if word == "cuda" else "cpu"


def _follow(waiting: deque[RanksToMeasure], answers: AnswerQueue, results: list[RanksResult]) -> int | None:
    """Hear one process until it has done all that waits, or ends; the number of a signal that came before."""
    first = True
    while waiting:
        result = _result(waiting[0], answers)
        if isinstance(result, int):
            return result
        cut_off = result.ended.reason == RANKS_CUT_OFF
        if cut_off and not result.passes and not first:  # it is for the next process
            return None
        results.append(result)
        if result.ended.reason:
            complain("ranks", f"{title_of(waiting[0])}: {result.ended.reason}")
        else:
            tell(progress_line(result))
        waiting.popleft()
        if cut_off:
            return None
        first = False
    return None


def _result(asked: RanksToMeasure, answers: AnswerQueue) -> RanksResult | int:
    """What comes of a request; the number of a signal that came before."""
    passes: list[PassMeasured] = []
    while isinstance(answer := answers.get(), PassMeasured):
        passes.append(answer)
    return answer if isinstance(answer, int) else RanksResult(asked, tuple(passes), answer)


def _exit_code(results: list[RanksResult]) -> int:
    if results and all(one.ended.misused for one in results):
        return USAGE_ERROR
    right = all(one.passed for result in results for one in result.passes)
    return 0 if right and not any(one.ended.reason for one in results) else FAILED
