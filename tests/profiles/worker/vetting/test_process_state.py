"""The process before and after code of the user's own: what was replaced or left changed is told."""

import ctypes
import gc
import os
import platform
import random
import signal
import statistics
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest

from flashscope.profiles.worker.failures import CaughtError, Refusal
from flashscope.profiles.worker.instruments import bench_cpu
from flashscope.profiles.worker.instruments.gpu_state import GpuState
from flashscope.profiles.worker.vetting import answers, process_state, scales
from flashscope.profiles.worker.vetting.openblas import functions, openblas_threads
from flashscope.profiles.worker.vetting.process_state import ProcessState
from tests.profiles.worker.fake_nvml import FakeNvml

JUDGES = ("time", "numpy", "statistics", "psutil", "random", "threading", "flashscope.profiles.worker")
UPWARD = 0x800  # FE_UPWARD of <fenv.h> on x86
SYSTEM = f"{process_state.__name__}.sys"


@pytest.fixture(autouse=True)
def few_modules_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of tests has loaded everything; a worker has little beside what judges and times."""
    judges = {name: one for name, one in sys.modules.items() if name.startswith(JUDGES)}
    monkeypatch.setattr(process_state, "sys", SimpleNamespace(**{**vars(sys), "modules": judges}))


@pytest.fixture
def state() -> Iterator[ProcessState]:
    state = ProcessState()
    yield state
    state.trouble()  # puts functions back


def test_a_process_that_nobody_touched_is_as_it_was(state: ProcessState) -> None:
    assert state.trouble() == ""
    assert not state.spoilt


@pytest.mark.parametrize(
    ("owner", "name", "told"),
    [
        (time, "perf_counter_ns", "time.perf_counter_ns"),
        (np, "isfinite", "numpy.isfinite"),
        (np.linalg, "norm", "numpy.linalg.norm"),
        (bench_cpu.CpuBench, "sample", "CpuBench.sample"),
        (psutil.Process, "children", "psutil.Process.children"),
        (random.SystemRandom, "random", "random.SystemRandom.random"),
        (threading.Event, "wait", "threading.Event.wait"),
    ],
)
def test_a_replaced_function_is_named_and_put_back(
    state: ProcessState, owner: Any, name: str, told: str
) -> None:
    real = getattr(owner, name)
    setattr(owner, name, lambda *_given, **_more: 0)
    found = state.trouble()
    assert told in found
    assert getattr(owner, name) is real
    assert state.spoilt


def test_other_code_in_the_same_function_is_told(state: ProcessState) -> None:
    method = bench_cpu.CpuBench.time_ms
    real = method.__code__
    method.__code__ = (lambda *_given: 0.0).__code__
    assert "CpuBench.time_ms" in state.trouble()
    assert method.__code__ is real


def test_a_constant_of_the_checks_is_named_and_put_back(
    state: ProcessState, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dict(scales.SCALES)
    monkeypatch.setattr(answers, "ROWS", 1)
    found = state.trouble()
    assert found.startswith("It replaced constants of the process that judges it: ")
    assert f"{answers.__name__}.ROWS" in found
    assert answers.ROWS > 1
    scales.SCALES.clear()  # type: ignore[attr-defined]
    assert f"{scales.__name__}.SCALES" in state.trouble()
    assert before == scales.SCALES


def test_other_code_in_a_function_of_a_library_is_told(state: ProcessState) -> None:
    real = statistics.harmonic_mean.__code__
    statistics.harmonic_mean.__code__ = (lambda *_given: 1e9).__code__
    assert "statistics.harmonic_mean" in state.trouble()
    assert statistics.harmonic_mean.__code__ is real


def test_a_timer_that_interrupts_the_process_is_a_setting(state: ProcessState) -> None:
    signal.setitimer(signal.ITIMER_PROF, 3600)
    try:
        told = f"It left settings changed: timers that interrupt it. {process_state.REMEDY}"
        assert state.trouble() == told
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def test_all_that_was_replaced_is_counted(state: ProcessState) -> None:
    for name in ("abs", "max", "isnan", "isfinite", "sort"):
        setattr(np, name, lambda *_given, **_more: 0)
    assert state.trouble().endswith("and 2 more.")


def test_settings_that_were_left_changed_are_named(state: ProcessState) -> None:
    before, interval = np.geterr(), sys.getswitchinterval()
    try:
        gc.disable()
        sys.setswitchinterval(2 * interval)
        np.seterr(all="ignore")
        told = state.trouble()
    finally:
        gc.enable()
        sys.setswitchinterval(interval)
        np.seterr(**before)
    assert told == (
        "It left settings changed: the garbage collector, NumPy's handling of floating-point errors, the "
        f"interval at which threads switch. {process_state.REMEDY}"
    )
    assert state.trouble() == ""


def test_what_makes_the_warnings_prints_and_calls_of_others_fail_is_a_setting(
    state: ProcessState, monkeypatch: pytest.MonkeyPatch
) -> None:
    with warnings.catch_warnings(), monkeypatch.context() as changed:
        warnings.filterwarnings("error", "whatever others are warned of")
        changed.setattr(f"{SYSTEM}.stdout", None)
        changed.setattr(f"{SYSTEM}.getrecursionlimit", lambda: 60)
        told = state.trouble()
    assert told.startswith(
        "It left settings changed: warnings that it makes errors, how deep calls may be nested, where its "
        "output goes. "
    )
    assert state.trouble() == ""


def test_silenced_warnings_and_deeper_calls_are_nobodys_harm(
    state: ProcessState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{SYSTEM}.getrecursionlimit", lambda: 10 * process_state.USUAL_DEPTH)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert state.trouble() == ""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="The modes have other numbers there.")
def test_another_way_of_rounding_is_a_setting(state: ProcessState) -> None:
    """It changes what all others compute, and the time at which psutil says that a process began."""
    maths = ctypes.CDLL(None)
    before = maths.fegetround()
    maths.fesetround(UPWARD)
    try:
        told = state.trouble()
    finally:
        maths.fesetround(before)
    assert told.startswith("It left settings changed: how numbers are rounded. ")
    assert state.trouble() == ""


@pytest.mark.skipif(not hasattr(os, "sched_getscheduler"), reason="The system has no such policies.")
def test_a_policy_by_which_others_go_first_is_a_setting(
    state: ProcessState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getscheduler", lambda _process: 5)
    assert "settings changed: its priority" in state.trouble()


def test_threads_that_libraries_are_to_use_are_a_setting(
    state: ProcessState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", f"{(os.cpu_count() or 1) + 1}")
    assert "the threads that libraries are to use" in state.trouble()


def test_threads_of_products_that_were_set_past_the_environment_are_a_setting(state: ProcessState) -> None:
    """A kernel whose products run on more threads than its neighbours' leaves them spinning, too."""
    if not (before := openblas_threads()):
        pytest.skip("NumPy's products are not OpenBLAS's here.")
    (set_threads,) = functions("set_num_threads")
    set_threads(before[0] + 1)
    try:
        assert state.trouble().startswith("It left settings changed: the threads of NumPy's products. ")
    finally:
        set_threads(before[0])
    assert state.trouble() == ""


def test_defaults_that_pytorch_does_not_begin_with_are_settings(
    state: ProcessState, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = ("flash", "mem_efficient", "math", "cudnn")
    attention = SimpleNamespace(**{f"{one}_sdp_enabled": lambda: True for one in kernels})
    begins = SimpleNamespace(
        is_grad_enabled=lambda: True,
        get_float32_matmul_precision=lambda: "highest",
        get_default_dtype=lambda: "torch.float32",
        get_default_device=lambda: SimpleNamespace(type="cpu"),
        are_deterministic_algorithms_enabled=lambda: False,
        backends=SimpleNamespace(cuda=attention),
    )
    monkeypatch.setitem(sys.modules, "torch", begins)
    assert state.trouble() == ""
    begins.get_float32_matmul_precision = lambda: "medium"
    begins.get_default_dtype = lambda: "torch.bfloat16"
    attention.flash_sdp_enabled = lambda: False
    told = (
        "PyTorch's precision of float32 products, PyTorch's default dtype, which kernels PyTorch's "
        "attention may take"
    )
    assert state.trouble() == f"It left settings changed: {told}. {process_state.REMEDY}"


def test_an_attribute_of_an_instrument_is_watched() -> None:
    bench = SimpleNamespace(sweep=np.zeros(8))
    state = ProcessState(bench)
    bench.sweep += 1
    assert state.trouble() == ""
    bench.time_ms = lambda _run: 0.0
    assert state.trouble() == "It changed time_ms of the instruments that time it."


def test_a_kernel_caught_at_more_than_a_wrong_answer_spoils_its_process(state: ProcessState) -> None:
    assert not state.is_spoilt_by(ValueError("a mistake"))
    assert not state.is_spoilt_by(CaughtError(Refusal("wrong", "O differs.")))
    assert state.is_spoilt_by(CaughtError(Refusal("failed", "It wrote behind K.")))


class SlowedNvml(FakeNvml):
    """An NVML whose clocks somebody may set."""

    slowed = False

    def _answer(self, name: str, arguments: tuple[Any, ...]) -> Any:
        clock = self.slowed and name == "nvmlDeviceGetApplicationsClock"
        return 990 if clock else super()._answer(name, arguments)


def test_clocks_that_were_set_through_nvml_are_a_setting() -> None:
    nvml = SlowedNvml()
    state = GpuState(None, nvml)
    process = ProcessState(settings={"the GPU's clocks": state.clocks, "its power limit": state.power_limit})
    assert process.trouble() == ""
    nvml.slowed = True
    assert process.trouble() == f"It left settings changed: the GPU's clocks. {process_state.REMEDY}"
