"""A problem on several ranks, and on one device: run in turns, timed and judged."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from math import isfinite, nan
from statistics import median_low
from typing import Any, Protocol

from msgspec.structs import replace

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.context_parallel.drawing import all_compared, draw_heads, draw_rows
from flashscope.kernels.context_parallel.forecast import balance_limit
from flashscope.kernels.context_parallel.judging import judge_backward, judge_forward
from flashscope.kernels.context_parallel.rank import SequenceRank
from flashscope.kernels.context_parallel.running import Ranks
from flashscope.kernels.context_parallel.schemes import Partition
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.launching.passes import PassLaunch, after_forward, draw_given, prepare_passes
from flashscope.kernels.oracle.verdict import Deviation, Verdict
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError, KernelError
from flashscope.kernels.workload.problem import ONE_PASS, Passes, Problem
from flashscope.profiles.wire.ranks import (
    PassMeasured,
    RankMeasured,
    RanksAnswer,
    RanksCompared,
    RanksEnded,
    RanksError,
    RanksToMeasure,
    StepTime,
)
from flashscope.profiles.worker.ranks.spans import TimedRun, busy_ms, exposed_ms

HOST_RANKS = 2  # where nobody says how many
WARM_UP = 2  # runs; the second allocates what the first one's buffers took the place of
LONG_FLOPS = 1e14  # a run of a tenth of a second and more on one device: one is warm-up enough
ATTEMPTS = 3  # at a run for which the host was too slow
TOO_SLOW = (
    f"GPUs began a run before the host had enqueued all of it, {ATTEMPTS} times, and so waited for the host: "
    "measure again while fewer programs run on it."
)
NOT_ASKED = "One device was not asked for."
RESERVE = 1.05  # of what a kernel is predicted to take
SayRanks = Callable[[RanksAnswer], None]


class RanksBench(Protocol):
    """The instruments of a backend for several ranks.

    Attributes:
        timer: What times, in words.
        device: What the first rank is on.
        devices: The CUDA index of each rank's GPU; on a CPU all are 0.
    """

    timer: str
    device: Device
    devices: tuple[int, ...]

    def ranks(self, partition: Partition) -> Ranks:
        """The ranks of a partition, their inputs drawn."""

    def here(self) -> AbstractContextManager[Any]:
        """Have what one device does alone be done where the first rank is."""

    def free_bytes(self) -> int:
        """Memory of that device that nobody holds."""

    def time(self, ranks: Ranks, run: Callable[[], None]) -> TimedRun:
        """Run all ranks once."""

    def time_alone(self, run: Callable[[], None]) -> float:
        """Run on the first rank's device once; in ms."""


def bench_of(asked: RanksToMeasure) -> RanksBench:
    """The instruments that a request needs."""
    if asked.backend == "cuda":
        describe()  # which says what is missing
        from flashscope.kernels.context_parallel.gpu import gpu_count  # noqa: PLC0415 - it imports CuPy
        from flashscope.profiles.worker.ranks.bench_gpus import GpusBench  # noqa: PLC0415 - it imports CuPy

        return GpusBench(devices_of(asked, gpu_count()), asked.transport)
    from flashscope.profiles.worker.ranks.bench_host import HostBench  # noqa: PLC0415 - the one that is needed

    return HostBench(asked.ranks or HOST_RANKS)


def devices_of(asked: RanksToMeasure, there: int) -> tuple[int, ...]:
    """The GPU of each rank, of so many that there are.

    Raises:
        InputError: There are fewer than are asked for.
    """
    if asked.gpus > there:
        raise InputError(f"There are not {asked.gpus} GPUs here, but {there}; ask for fewer, or for all.")
    gpus = asked.gpus or there
    return tuple(rank % gpus for rank in range(asked.ranks or gpus))


def measure(asked: RanksToMeasure, say: SayRanks) -> RanksEnded:
    """Measure what is asked; each pass is told as it is done.

    Raises:
        KernelError: It cannot be; the text says why.
        MemoryError: The ranks' part of it does not fit.
    """
    bench = bench_of(asked)
    partition = Partition(asked.scheme, asked.problem, len(bench.devices))
    ranks = bench.ranks(partition)
    ranks.forward()  # from which a backward pass alone starts
    for passes in ONE_PASS:
        if asked.problem.passes in {passes, "both"}:
            say(_measure_pass(asked, bench, ranks, passes))
    return RanksEnded(device=bench.device.name, kernel=ranks.kernel.name, timer=bench.timer)


def _measure_pass(asked: RanksToMeasure, bench: RanksBench, ranks: Ranks, passes: Passes) -> PassMeasured:
    run: Callable[[], None] = getattr(ranks, passes)
    problem = replace(asked.problem, passes=passes, deterministic=False)
    for _ in range(WARM_UP):
        run()
    timed, alone_ms, missing = _in_turns(asked, bench, ranks, problem)
    middle = median_low(one.ms for one in timed)
    typical = next(one for one in timed if one.ms == middle)
    compared, verdicts = _judge(asked, ranks, passes)
    return PassMeasured(
        passes=passes,
        backend=asked.backend,
        devices=bench.devices,
        ms=tuple(one.ms for one in timed),
        alone_ms=tuple(alone_ms),
        alone_missing=missing,
        flops=problem.flops,
        limit=balance_limit(ranks.partition),
        ranks=tuple(_measured(rank, steps) for rank, steps in zip(ranks.members, typical.steps, strict=True)),
        errors=_errors(verdicts),
        passed=all(one.passed for one in verdicts),
        compared=compared,
    )


def _in_turns(
    asked: RanksToMeasure, bench: RanksBench, ranks: Ranks, problem: Problem
) -> tuple[list[TimedRun], list[float], str]:
    """Runs of all ranks and of one device in turns, these only where it can; else why not."""
    timed: list[TimedRun] = []
    alone_ms: list[float] = []
    alone, missing = None, NOT_ASKED
    if asked.alone:
        with bench.here():
            alone, missing = _alone(bench, ranks.kernel, problem)
    for _ in range(asked.repeats):
        if alone is not None:
            alone_ms.append(bench.time_alone(alone.run))
        timed.append(_run_in_time(bench, ranks, problem.passes))
    return timed, alone_ms, missing


def _run_in_time(bench: RanksBench, ranks: Ranks, passes: Passes) -> TimedRun:
    """One run of all ranks that none of them began before all of it was enqueued."""
    for _ in range(ATTEMPTS):
        _spoil(ranks, passes)
        timed = bench.time(ranks, getattr(ranks, passes))
        if timed.in_time:
            return timed
    raise KernelError(TOO_SLOW)


def _alone(bench: RanksBench, spec: KernelSpec, problem: Problem) -> tuple[PassLaunch | None, str]:
    """The same kernel on one device with all of the problem, warm; or why there is none."""
    needed, free = RESERVE * spec.predicted_bytes(problem, bench.device.backend), bench.free_bytes()
    if needed > free:
        return None, f"One device would need {needed / 2**30:.3g} GiB, and has {free / 2**30:.3g} GiB free."
    try:
        given = after_forward(spec, problem, draw_given(problem, bench.device.backend), bench.device.backend)
        alone = prepare_passes(spec, problem, given, bench.device.backend)
    except MemoryError:
        return None, "Memory ran out while one device was given all of it."
    for _ in range(1 if problem.flops > LONG_FLOPS else WARM_UP):
        alone.run()
    return alone, ""


def _spoil(ranks: Ranks, passes: Passes) -> None:
    """Fill what a run is to write with NaN."""
    for rank in ranks.members:
        with rank.place.here():
            for array in (rank.output,) if passes == "forward" else rank.gradients:
                array.fill(nan)


def _judge(asked: RanksToMeasure, ranks: Ranks, passes: Passes) -> tuple[RanksCompared, list[Verdict]]:
    """The last timed run against float64, and what of it."""
    problem, judge = asked.problem, judge_forward if passes == "forward" else judge_backward
    heads = draw_heads(problem, asked.heads)
    if all_compared(problem, asked.backend):
        return RanksCompared(heads=len(heads)), [judge(ranks, head) for head in heads]
    compared = RanksCompared(heads=len(heads), rows=asked.rows, seed=problem.seed)
    return compared, [judge(ranks, head, draw_rows(ranks.partition, head, asked.rows)) for head in heads]


def _errors(verdicts: Sequence[Verdict]) -> tuple[RanksError, ...]:
    """The worst of each output."""
    found: dict[str, Deviation] = {}
    for one in (deviation for verdict in verdicts for deviation in verdict.outputs):
        if one.output not in found or not found[one.output].used >= one.used:
            found[one.output] = one
    return tuple(
        RanksError(output=one.output, error=one.error if isfinite(one.error) else None, bound=one.bound)
        for one in found.values()
    )


def _measured(rank: SequenceRank, steps: tuple[StepTime, ...]) -> RankMeasured:
    return RankMeasured(
        rank=rank.index,
        sent_bytes=rank.sent_bytes,
        held_bytes=rank.held_bytes,
        product_ms=busy_ms([one for one in steps if one.lane == "product"]),
        transfer_ms=busy_ms([one for one in steps if one.lane == "transfer"]),
        exposed_ms=exposed_ms(steps),
        steps=steps,
    )
