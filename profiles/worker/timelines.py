"""Recording a timeline: the build with clocks and the timed one in turns; of one round what ran when."""

import time
from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.sources import source_digest
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cpu.device import describe
from flashscope.kernels.cpu.stages import SOURCE, Bars, ClockedLaunch, Nanoseconds, check_clocked
from flashscope.kernels.cuda.device import describe as describe_gpu
from flashscope.kernels.launching.launch import make_inputs, prepare
from flashscope.kernels.workload.timeline import StageTimeline, TimelineRequest, check_asked, check_bars
from flashscope.kernels.workload.trace import Array
from flashscope.profiles.worker.child import blas_threads

BARS_OF_A_TILE = 6  # of flash1, which has two loads


class BuildRounds(NamedTuple):
    """What every round took, in ns, and the bars of the one that other programs disturbed least."""

    clocked: list[int]
    plain: list[int]
    quickest: Bars


def record_timeline(
    request: TimelineRequest, told: Callable[[int, int], None], clock: Nanoseconds = time.perf_counter_ns
) -> StageTimeline:
    """Run both builds in turns, and keep the bars of the quickest round.

    Args:
        request: What to record.
        told: Called between two rounds with how many are done and of how many; may raise, to give up.
        clock: Nanoseconds that never go back.

    Raises:
        InputError: Too many bars or rounds, or SMs that there are not; the text has the numbers.
        UnsupportedError: There is no build with clocks for it; the text says what there is.
    """
    check_asked(request)
    if request.backend == "cuda":
        describe_gpu()
        return import_module("flashscope.kernels.cuda.timeline").record(request, told)  # type: ignore[no-any-return]
    spec, problem = find_kernel(request.kernel), request.problem
    spec.require(problem, describe())
    check_clocked(spec, problem)
    check_bars(most_bars(request))
    return _assembled(request, *_run(request, spec, told, clock))


def most_bars(request: TimelineRequest) -> int:
    """As many bars as a timeline can have where no tile is hidden."""
    spec, problem = find_kernel(request.kernel), request.problem
    shapes = {buffer.name: buffer.shape for buffer in spec.workspace(problem, "cpu")}
    block_q, block_k = shapes["S tile"]
    tiles = -(-problem.seqlen_q // block_q) * -(-problem.seqlen_k // block_k)
    return problem.batch * problem.heads * tiles * BARS_OF_A_TILE


def _run(
    request: TimelineRequest, spec: KernelSpec, told: Callable[[int, int], None], clock: Nanoseconds
) -> tuple[ClockedLaunch, BuildRounds]:
    """Both builds once to warm up, then in turns, each as often first as the other."""
    inputs = make_inputs(request.problem, "cpu")
    plain, clocked = (
        prepare(spec, request.problem, inputs, "cpu"),
        ClockedLaunch(spec, request.problem, inputs, clock),
    )
    watched, timed = list[int](), list[int]()
    quickest: Bars | None = None

    def run_plain() -> None:
        begun = clock()
        plain.run()
        timed.append(clock() - begun)

    def run_clocked() -> None:
        nonlocal quickest
        bars = clocked.run()
        watched.append(bars.span_ns)
        if quickest is None or bars.span_ns < quickest.span_ns:
            quickest = bars

    turns = [run_plain, run_clocked]
    plain.run()
    clocked.run()
    for done in range(request.rounds):
        told(done, request.rounds)
        for turn in turns:
            turn()
        turns.reverse()
    assert quickest is not None  # noqa: S101 - there is a round
    return clocked, BuildRounds(watched, timed, quickest)


def _assembled(request: TimelineRequest, clocked: ClockedLaunch, rounds: BuildRounds) -> StageTimeline:
    """The timeline of the quickest round; one row with one lane: the thread that runs the kernel."""
    bars = rounds.quickest
    outer = bars.tile[:, 2 if request.kernel == "flash1" else 1]
    first = _firsts(np.column_stack((bars.tile[:, 0], outer)))
    last = np.append(first[1:], len(outer)) - 1
    threads = blas_threads()
    blas = f"{threads} BLAS thread{'s' * (threads != 1)}" if threads else "BLAS's own threads"
    return StageTimeline(
        request=request,
        device=describe().name,
        source=f"{SOURCE}, products on {blas}",
        build=source_digest("cpu", request.kernel) or "",
        block_q=clocked.block_q,
        block_k=clocked.block_k,
        row_kind="thread",
        rows=Array.of(np.zeros(1, np.int32)),
        lanes=("Python",),
        lane=Array.of(np.zeros(len(outer), np.int32)),
        stage=Array.of(bars.stage),
        tile=Array.of(bars.tile),
        begin=Array.of(bars.begin),
        end=Array.of(bars.end),
        block_lane=Array.of(np.zeros(len(first), np.int32)),
        block=Array.of(np.column_stack((bars.tile[first, 0], outer[first])).astype(np.int32)),
        block_begin=Array.of(bars.begin[first]),
        block_end=Array.of(bars.end[last]),
        span_ns=bars.span_ns,
        clocked_ns=Array.of(np.array(rounds.clocked, np.int64)),
        plain_ns=Array.of(np.array(rounds.plain, np.int64)),
    )


def _firsts(blocks: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
    """Where another block begins."""
    return np.flatnonzero(np.append(True, (blocks[1:] != blocks[:-1]).any(axis=1)))
