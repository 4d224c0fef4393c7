"""Kernels in turns, with real child processes: they alternate, and a fault of one costs no other."""

import os
import signal

import pytest

from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.results.model.drift import drift_text, drifts
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.model.session import PointState
from flashscope.profiles.results.model.trust import trust_of
from flashscope.profiles.wire.events import (
    LogLine,
    PlanFinished,
    PointFailed,
    PointProgress,
    PointStarted,
    SamplingStarted,
)
from flashscope.profiles.wire.measurement import TURNS_BROKEN_OFF, Figure
from tests.faults import HANGS, SLOW_S
from tests.matrix import chosen
from tests.profiles.engine.conftest import Gate, Ladder
from tests.profiles.heard import Heard, done, quick_plan, running_children

TURNS = Protocol(warmup=1, repeats=4, drift_check=False)
ALONE = Protocol(warmup=1, repeats=4, interleave=False, drift_check=False)
LONG = Protocol(warmup=0, repeats=100_000, time_cap_s=600.0)


def swept(
    heard: Heard, *kernels: str, protocol: Protocol = TURNS, seqlens: tuple[int, ...] = (64,)
) -> list[PointState]:
    """A sweep's points at their end."""
    return heard.sweep(quick_plan(*kernels, seqlens=seqlens, protocol=protocol))


def rounds_of(end: PointState) -> list[int | None]:
    done(end)
    return [sample.round for sample in done(end).samples]


def launches(heard: Heard) -> list[str]:
    heard.engine.close()
    heard.drain()
    return [e.text[0] for e in heard.all(LogLine) if e.text.endswith(" ran")]


@pytest.mark.parametrize("cold", [True, False], ids=["cold", "warm"])
def test_a_kernel_that_gives_its_first_answer_again_is_wrong(heard: Heard, cold: bool) -> None:
    protocol = Protocol(warmup=1, repeats=4, drift_check=False, cold=cold)
    replayed, right = swept(heard, "replay", "flash2", protocol=protocol)
    assert (replayed.status, replayed.reason.startswith("Of the last timed run")) == ("wrong", True)
    done(right)


def test_kernels_of_a_problem_are_checked_one_by_one_and_then_sampled_in_turns(heard: Heard) -> None:
    ends = swept(heard, "say-a", "say-b", "say-c")
    checks, warm_up = ["A", "A", "B", "B", "C", "C"], ["A", "B", "C"]  # a check: first run, footprint
    said = launches(heard)
    assert said[:9] == checks + warm_up
    rounds = ["".join(said[start : start + 3]) for start in (9, 12, 15, 18)]
    assert len(said) == 21
    assert all(sorted(one) == ["A", "B", "C"] for one in rounds)
    assert [rounds[1], rounds[3]] == [rounds[0][::-1], rounds[2][::-1]]
    assert [rounds_of(end) for end in ends] == [[0, 1, 2, 3]] * 3
    (sampling,) = heard.all(SamplingStarted)
    assert sampling.indices == (0, 1, 2)


def test_without_interleaving_each_kernel_is_measured_whole_before_the_next(heard: Heard) -> None:
    ends = swept(heard, "say-a", "say-b", protocol=ALONE)
    assert launches(heard) == ["A"] * 7 + ["B"] * 7
    assert [rounds_of(end) for end in ends] == [[None] * 4] * 2


def test_in_a_warm_series_every_turn_begins_with_an_unrecorded_run(heard: Heard) -> None:
    ends = swept(heard, "say-a", "say-b", protocol=Protocol(warmup=0, repeats=2, cold=False))
    first, second = [*"AABB"], [*"BBAA"]
    assert launches(heard)[4:] in (first + second, second + first)
    assert [rounds_of(end) for end in ends] == [[0, 1]] * 2


@pytest.mark.parametrize(
    ("kernel", "told"),
    [("wrong-in-turns", "O differs from the float64 oracle by"), ("leave-a-row-out-in-turns", "holds NaN")],
)
def test_what_is_timed_is_judged_too_by_its_last_run(heard: Heard, kernel: str, told: str) -> None:
    spoilt, right = swept(heard, kernel, "flash2")
    assert spoilt.status == "wrong"
    assert spoilt.reason.startswith("Of the last timed run, though the first run was right: ")
    assert told in spoilt.reason
    assert rounds_of(right) == [0, 1, 2, 3]


def test_without_verification_nothing_that_was_timed_is_judged(heard: Heard) -> None:
    protocol = Protocol(warmup=1, repeats=4, drift_check=False, verify=False)
    (end,) = swept(heard, "wrong-in-turns", protocol=protocol)
    assert rounds_of(end) == [None] * 4


@pytest.mark.matrix  # it takes a second
def test_after_its_samples_each_kernel_runs_back_to_back_alone(heard: Heard) -> None:
    protocol = Protocol(warmup=0, repeats=3, sustain_s=0.2, drift_check=False)
    ends = swept(heard, "say-a", "say-b", protocol=protocol)
    assert [rounds_of(end) for end in ends] == [[0, 1, 2]] * 2
    said = launches(heard)[4 + 6 :]  # after the checks and the rounds
    assert said == sorted(said)
    for end in ends:
        figures = done(end).figures
        assert figures["sustained_ms"].value
        assert "second half of 0.2 s" in figures["sustained_ms"].source
        assert "sustained_mhz" not in figures


@pytest.mark.matrix
def test_the_drift_check_takes_no_runs_back_to_back(heard: Heard) -> None:
    protocol = Protocol(warmup=0, repeats=3, sustain_s=0.1)
    *_, last, again = swept(heard, "flash2", seqlens=(64, 96), protocol=protocol)
    assert "sustained_ms" in done(last).figures
    assert "sustained_ms" not in done(again).figures


def test_a_kernel_that_fails_back_to_back_costs_no_other(heard: Heard) -> None:
    protocol = Protocol(warmup=0, repeats=3, sustain_s=0.2, drift_check=False)
    spoilt, right = swept(heard, "raise-when-sustained", "flash2", protocol=protocol)
    assert spoilt.status == "failed"
    assert right.status == "done"


def test_problems_do_not_mix(heard: Heard) -> None:
    ends = swept(heard, "flash1", "flash2", seqlens=(16, 32))
    assert [e.indices for e in heard.all(SamplingStarted)] == [(0, 1), (2, 3)]
    assert all(rounds_of(end) == [0, 1, 2, 3] for end in ends)


def test_a_kernel_that_has_enough_leaves_the_turns_to_the_others(heard: Heard) -> None:
    protocol = Protocol(warmup=0, repeats=9, time_cap_s=2 * SLOW_S, cold=False)
    ends = swept(heard, "slow", "flash2", protocol=protocol)
    assert len(rounds_of(ends[0])) == 3  # the least, at its cap
    assert rounds_of(ends[1]) == [*range(9)]
    first, second = (end.ended_ns for end in ends)
    assert first is not None
    assert second is not None
    assert first < second  # told of at once


def test_every_kernel_that_takes_turns_shows_its_newest_sample(heard: Heard) -> None:
    swept(heard, "slow", "flash2", protocol=Protocol(warmup=0, repeats=8))
    told = {e.index for e in heard.all(PointProgress) if e.phase == "measure" and e.last_ms}
    assert told == {0, 1}


@pytest.mark.matrix  # it takes a second
def test_cancelling_ends_every_point_that_takes_turns_after_the_repeat_in_flight(
    heard: Heard, gate: Gate
) -> None:
    heard.engine.run(quick_plan("gated", "flash2", seqlens=(64, 128), protocol=LONG))
    gate.let(2)
    gate.await_run(heard, 3)
    heard.engine.cancel()
    heard.barrier()
    gate.let(100)
    assert heard.until(PlanFinished).outcome == "cancelled"
    assert gate.left() == 99
    assert_both_were_cancelled(heard)


@pytest.mark.matrix
def test_cancelling_ends_a_point_that_waits_for_its_turns_with_the_one_that_is_checked(
    heard: Heard, ladder: Ladder
) -> None:
    heard.engine.run(quick_plan("slow", "hang", seqlens=(64, 128), protocol=LONG))
    heard.until(LogLine, lambda e: e.text == HANGS)
    heard.engine.cancel()
    assert heard.until(PlanFinished).outcome == "cancelled"
    assert ladder.climbed == ["terminated"]
    assert_both_were_cancelled(heard)


def assert_both_were_cancelled(heard: Heard) -> None:
    ends = sorted((e.index, e.status) for e in heard.all(PointFailed))
    assert ends == [(0, "cancelled"), (1, "cancelled")]


@chosen(
    "kernel, status",
    [
        ("wrong", "wrong"),
        ("raise", "failed"),
        ("abort", "failed"),
        ("out-of-memory", "oom"),
        ("huge", "will-not-fit"),
        ("raise-in-turns", "failed"),
    ],
    {("raise-in-turns", "failed")},
)
def test_a_fault_costs_the_others_neither_their_samples_nor_their_turns(
    heard: Heard, kernel: str, status: str
) -> None:
    ends = swept(heard, "flash1", kernel, "flash2")
    failed = ends[1]
    assert failed.status == status
    assert rounds_of(ends[0]) == rounds_of(ends[2]) == [0, 1, 2, 3]
    assert heard.all(PlanFinished)[0].outcome == "finished"


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("kernel", "status", "words"),
    [
        ("abort-in-turns", "failed", "was killed by SIGABRT while it ran abort-in-turns at N = 64"),
        pytest.param("out-of-memory-in-turns", "oom", "Memory ran out"),
        pytest.param("hang-in-turns", "timeout", "deadline"),
    ],
)
def test_when_turns_break_down_each_kernel_is_sampled_alone_and_shows_whether_it_was_to_blame(
    heard: Heard, kernel: str, status: str, words: str
) -> None:
    ends = swept(heard, "flash1", kernel, "flash2", protocol=Protocol(warmup=1, repeats=4, deadline_s=3.0))
    failed = ends[1]
    assert failed.status == status
    assert words in failed.reason
    for end in (ends[0], ends[2]):
        assert rounds_of(end) == [None] * 4
        assert "Sampled apart" in done(end).note
        trust = trust_of(done(end))
        assert trust is not None
        assert (trust.word, TURNS_BROKEN_OFF in trust.reasons) == ("doubtful", True)
    assert len(heard.all(PointStarted)) == 3


@pytest.mark.matrix
def test_a_worker_killed_from_outside_during_turns_costs_neither_a_point_nor_the_turns(heard: Heard) -> None:
    heard.engine.run(quick_plan("slow", "flash2", protocol=Protocol(warmup=0, repeats=20)))
    heard.until(PointProgress, lambda e: e.phase == "measure")
    (worker,) = running_children()
    os.kill(worker.pid, signal.SIGKILL)
    warning = heard.until(LogLine, lambda e: e.level == "warning")
    assert "SIGKILL while it ran slow, flash2 in turns" in warning.text
    heard.until(PlanFinished)
    for end in heard.session().points:
        assert rounds_of(end) == [*range(20)]
        assert done(end).note == ""
    assert [e.indices for e in heard.all(SamplingStarted)] == [(0, 1), (0, 1)]
    assert heard.all(PointFailed) == []


def test_the_drift_check_measures_the_first_problem_again_and_is_no_cell(heard: Heard) -> None:
    protocol = Protocol(warmup=0, repeats=3, drift_check=True)
    plan = quick_plan("flash1", "flash2", seqlens=(16, 32), protocol=protocol)
    heard.sweep(plan)
    session = heard.session()
    assert [state.point.problem.seqlen_q for state in session.points] == [16, 16, 32, 32, 16, 16]
    assert [row.seqlen for row in rows(session)] == [16, 16, 32, 32]
    assert [drift.kernel for drift in drifts(session)] == ["flash1", "flash2"]
    assert all(drift.ratio > 0 for drift in drifts(session))
    assert "flash1" in drift_text(session)


def test_counters_are_read_after_all_samples_and_their_lack_costs_no_point(heard: Heard) -> None:
    protocol = Protocol(warmup=0, repeats=3, counters=True)
    first, *_, again = swept(heard, "flash2", seqlens=(64, 96), protocol=protocol)
    for key in ("dram_read_bytes", "dram_write_bytes", "l2_bytes"):
        assert done(first).figures[key] == Figure(missing="hardware counters are read on an NVIDIA GPU alone")
    assert "l2_bytes" not in done(again).figures
    assert any("No traffic of flash2 was counted" in line.text for line in heard.all(LogLine))
