"""Attention on several ranks, measured in a process of its own; and what its spans come to."""

from collections.abc import Callable
from contextlib import nullcontext
from queue import Queue

import pytest
from msgspec.structs import replace

from flashscope.kernels.context_parallel.drawing import MOST_PAIRS
from flashscope.kernels.context_parallel.running import Ranks
from flashscope.kernels.workload.errors import InputError, KernelError
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.engine.line_kinds import start_lines
from flashscope.profiles.wire.ranks import (
    PassMeasured,
    RanksAnswer,
    RanksCompared,
    RanksEnded,
    RanksToMeasure,
    StepTime,
)
from flashscope.profiles.worker.ranks.bench_host import HostBench
from flashscope.profiles.worker.ranks.measuring import devices_of, measure
from flashscope.profiles.worker.ranks.spans import TimedRun, busy_ms, exposed_ms, lockstep_ms

SMALL = Problem(seqlen_q=96, seqlen_k=96, heads=2, head_dim=16, causal=True, passes="both")


def product(begin: float, end: float, step: int = 0) -> StepTime:
    return StepTime(lane="product", step=step, begin_ms=begin, end_ms=end)


def transfer(begin: float, end: float, step: int = 0) -> StepTime:
    return StepTime(lane="transfer", step=step, begin_ms=begin, end_ms=end)


def test_a_transfer_is_exposed_where_no_product_runs() -> None:
    spans = [product(1, 4), transfer(0, 3), product(3.5, 5), transfer(4, 7)]
    assert busy_ms(spans[::2]) == 4
    assert exposed_ms(spans) == 1 + 2


def test_a_transfer_beside_a_product_is_not_exposed() -> None:
    assert exposed_ms([product(0, 5), transfer(1, 2), transfer(1.5, 5)]) == 0
    assert exposed_ms([product(0, 5)]) == 0
    assert exposed_ms([transfer(0, 5)]) == 5


def test_ranks_in_turns_take_the_slowest_ones_time_in_every_step() -> None:
    first = [product(0, 1), product(3, 6, step=1)]
    second = [product(1, 3), transfer(6, 7, step=1)]
    assert lockstep_ms([first, second]) == 2 + 3


@pytest.mark.parametrize(
    ("ranks", "gpus", "devices"), [(0, 0, (0, 1)), (4, 0, (0, 1, 0, 1)), (0, 1, (0,)), (3, 1, (0, 0, 0))]
)
def test_ranks_go_to_gpus_in_turns(ranks: int, gpus: int, devices: tuple[int, ...]) -> None:
    asked = RanksToMeasure(scheme="ring", problem=SMALL, backend="cuda", ranks=ranks, gpus=gpus)
    assert devices_of(asked, there=2) == devices


def test_more_gpus_than_there_are_is_refused() -> None:
    asked = RanksToMeasure(scheme="ring", problem=SMALL, backend="cuda", gpus=4)
    with pytest.raises(InputError, match="not 4 GPUs here, but 2"):
        devices_of(asked, there=2)


def answers(*asked: RanksToMeasure) -> list[RanksAnswer]:
    """What a process answers, until it is through."""
    told: Queue[RanksAnswer] = Queue()
    process = start_lines("ranks", asked, told.put)
    found: list[RanksAnswer] = []
    try:
        while sum(isinstance(one, RanksEnded) for one in found) < len(asked):
            found.append(told.get(timeout=300))
    finally:
        process.end()
    return found


@pytest.mark.parametrize(("late", "kept"), [(0, True), (2, True), (3, False)])
def test_a_run_that_waited_for_the_host_is_run_again(
    late: int, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[bool] = []
    timed = HostBench.time

    def time(self: HostBench, ranks: Ranks, run: Callable[[], None]) -> TimedRun:
        runs.append(len(runs) >= late)
        return timed(self, ranks, run)._replace(in_time=runs[-1])

    monkeypatch.setattr(HostBench, "time", time)
    asked = RanksToMeasure(scheme="ring", problem=SMALL, backend="cpu", alone=False, repeats=1)
    told: list[RanksAnswer] = []
    with nullcontext() if kept else pytest.raises(KernelError, match="waited for the host: measure again"):
        measure(replace(asked, problem=replace(SMALL, passes="forward")), told.append)
    assert len(runs) == min(late + 1, 3)
    assert len(told) == kept


def test_both_passes_are_measured_and_right() -> None:
    asked = RanksToMeasure(scheme="zigzag", problem=SMALL, backend="cpu", ranks=3, repeats=2)
    forward, backward, ended = answers(asked)
    assert isinstance(ended, RanksEnded)
    assert (ended.reason, ended.kernel) == ("", "flash2")
    for one, passes in ((forward, "forward"), (backward, "backward")):
        assert isinstance(one, PassMeasured)
        assert one.passes == passes
        assert one.passed
        assert len(one.ms) == len(one.alone_ms) == 2
        assert one.limit == pytest.approx(1)
        assert [rank.rank for rank in one.ranks] == [0, 1, 2]
        assert all(rank.sent_bytes and rank.held_bytes and rank.product_ms for rank in one.ranks)
        assert all(rank.exposed_ms <= rank.transfer_ms + 1e-9 for rank in one.ranks)


@pytest.mark.parametrize("drawn", [True, False])
def test_a_long_problem_is_judged_in_rows_that_are_drawn_in_every_head_and_says_so(
    drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if drawn:
        monkeypatch.setitem(MOST_PAIRS, "cpu", 0)
    problem = replace(SMALL, seed=3)
    asked = RanksToMeasure(scheme="ring", problem=problem, backend="cpu", repeats=1, rows=5, alone=False)
    told: list[RanksAnswer] = []
    assert measure(asked, told.append).reason == ""
    for one in told:
        assert isinstance(one, PassMeasured)
        assert one.passed
        rows = {"rows": 5, "seed": 3} if drawn else {}
        assert one.compared == RanksCompared(heads=2, **rows)
    outputs = {error.output for error in told[1].errors}  # type: ignore[union-attr]
    gradients = {f"d{name}{of}" for name in "QKV" for of in ("", " of a row")}
    answer = {"O", "O of a row", "LSE", "LSE of a row"}
    assert outputs == (gradients | answer if drawn else gradients)


def test_what_cannot_be_shared_is_said_and_the_next_goes_on() -> None:
    ulysses = RanksToMeasure(scheme="ulysses", problem=SMALL, backend="cpu", ranks=3, repeats=1)
    ring = RanksToMeasure(scheme="ring", problem=SMALL, backend="cpu", repeats=1)
    refused, *others = answers(ulysses, ring)
    assert isinstance(refused, RanksEnded)
    assert refused.misused
    assert "heads in equal parts" in refused.reason
    assert [type(one) for one in others] == [PassMeasured, PassMeasured, RanksEnded]
