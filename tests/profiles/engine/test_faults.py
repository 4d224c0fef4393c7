"""Whatever a kernel does, its point ends with the right status and the sweep goes on."""

import os
import signal

import pytest

from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.wire.events import (
    LogLine,
    PlanFinished,
    PlanStarted,
    PointFailed,
    PointMeasured,
    PointProgress,
    PointStarted,
)
from tests.faults import COMPILER_LOG
from tests.matrix import chosen
from tests.profiles.engine.conftest import Ladder
from tests.profiles.heard import QUICK, Heard, done, quick_plan, running_children

OUTCOMES = {
    "abort": ("failed", "killed by SIGABRT while it ran abort at N = 64"),
    "kill-itself": ("failed", "killed by SIGKILL while it ran kill-itself at N = 64"),
    "raise": ("failed", "RuntimeError: the kernel says no"),
    "raise-no-utf8": ("failed", r"no file named caf\udce9"),
    "compile-error": ("failed", "The compiler refused the kernel."),
    "out-of-memory": ("oom", "Memory ran out"),
    "wrong": ("wrong", "differs from the float64 oracle"),
    "nan": ("wrong", "NaN"),
    "exact-as-8-bit": ("wrong", "on 8-bit inputs differs from the float64 oracle"),
}


@chosen("kernel", OUTCOMES, {"abort", "raise-no-utf8", "out-of-memory", "wrong"})
def test_a_fault_ends_its_own_point_and_the_sweep_goes_on(heard: Heard, kernel: str) -> None:
    failed, after = heard.sweep(quick_plan(kernel, "flash2"))
    status, words = OUTCOMES[kernel]
    assert failed.status == status
    assert words in failed.reason
    assert "\n" not in failed.reason
    done(after)
    assert heard.all(PlanFinished)[0].outcome == "finished"


def test_a_compile_error_carries_the_compilers_log(heard: Heard) -> None:
    (failed,) = heard.sweep(quick_plan("compile-error"))
    assert failed.detail == COMPILER_LOG


def test_a_crash_carries_the_last_words_of_the_worker(heard: Heard) -> None:
    (failed,) = heard.sweep(quick_plan("abort"))
    assert "Fatal Python error: Aborted" in failed.detail


def test_a_wrong_output_is_never_timed_but_keeps_its_error_and_footprint(heard: Heard) -> None:
    (failed,) = heard.sweep(quick_plan("wrong"))
    assert failed.measurement is not None
    assert failed.measurement.samples == ()
    assert failed.measurement.correctness is not None
    assert failed.measurement.correctness.outputs[0].error > 0.9
    assert failed.measurement.value("peak_bytes") is not None


def test_an_endless_kernel_is_killed_at_its_deadline(heard: Heard, ladder: Ladder) -> None:
    protocol = Protocol(warmup=0, repeats=3, deadline_s=3.0)
    failed, after = heard.sweep(quick_plan("hang", "flash2", protocol=protocol))
    assert failed.status == "timeout"
    assert "3 s" in failed.reason
    assert failed.started_ns is not None
    assert failed.ended_ns is not None
    assert (failed.ended_ns - failed.started_ns) / 1e9 >= 3.0
    assert ladder.climbed == ["terminated"]
    done(after)


@pytest.mark.matrix
def test_a_worker_killed_from_outside_fails_its_point_only(heard: Heard) -> None:
    protocol = Protocol(warmup=0, repeats=1000, time_cap_s=2.0, interleave=False, drift_check=False)
    heard.engine.run(quick_plan("slow", "flash2", protocol=protocol))
    heard.until(PointProgress, lambda e: e.phase == "measure")
    (worker,) = running_children()
    os.kill(worker.pid, signal.SIGKILL)
    failed = heard.until(PointFailed)
    assert failed.status == "failed"
    assert "SIGKILL" in failed.reason
    assert heard.until(PointMeasured).index == 1


def test_a_worker_killed_between_sweeps_is_replaced(heard: Heard) -> None:
    heard.sweep(quick_plan("flash2"))
    (worker,) = running_children()
    os.kill(worker.pid, signal.SIGKILL)
    heard.until(LogLine, lambda e: e.level == "warning" and "SIGKILL" in e.text)
    (point,) = heard.sweep(quick_plan("flash2"))
    done(point)
    (other,) = running_children()
    assert other.pid != worker.pid


def test_a_kernel_that_is_not_supported_says_why(heard: Heard) -> None:
    plan = quick_plan("standard", "flash2", seqlens=(64,))
    (failed, _) = heard.sweep(
        type(plan)(
            backend="cpu",
            kernels=plan.kernels,
            problems=tuple(type(p)(seqlen_q=8, seqlen_k=8, dtype="float16") for p in plan.problems),
            protocol=QUICK,
        )
    )
    assert failed.status == "unsupported"
    assert "float16" in failed.reason


def test_what_will_not_fit_is_not_launched_and_shows_its_arithmetic(heard: Heard) -> None:
    (failed,) = heard.sweep(quick_plan("standard", seqlens=(1 << 20,)))
    assert failed.status == "will-not-fit"
    assert "8,192" in failed.reason  # S and P: 2 * 4 bytes * 2^40
    assert "workspace S" in failed.detail
    assert "free" in failed.detail
    assert heard.all(PointProgress) == []


def test_a_plan_for_a_gpu_that_is_not_there_ends_as_failed_with_the_remedy(heard: Heard) -> None:
    heard.engine.probe()
    plan = quick_plan("flash2", backend="cuda")
    heard.engine.run(plan)
    begun = heard.until(PlanStarted)
    if begun.machine.device("cuda") is not None:
        pytest.skip("this machine has a GPU")
    finished = heard.until(PlanFinished)
    assert finished.outcome == "failed"
    assert "NVML" in finished.reason
    assert heard.all(PointStarted) == []


def test_whatever_a_kernel_prints_becomes_log_lines(heard: Heard) -> None:
    (point,) = heard.sweep(quick_plan("chatter"))
    done(point)
    heard.drain()
    lines = [e.text for e in heard.all(LogLine) if e.source == "worker"]
    assert any("not a message" in line for line in lines)
    assert "to stderr" in lines
    assert any(line.endswith("from Python") for line in lines)


def test_a_worker_imports_neither_the_window_nor_a_gpu_library_for_the_cpu(heard: Heard) -> None:
    heard.sweep(quick_plan("tell-imports"))
    heard.engine.close()
    heard.drain()
    (line, *_) = [e.text for e in heard.all(LogLine) if "loaded:" in e.text]
    loaded = set(line.partition("loaded:")[2].split())
    assert "numpy" in loaded
    assert not loaded & {"PySide6", "pyqtgraph", "app", "torch"}
