"""What surrounds samples: told in words with counts, and unknown where NVML tells nothing."""

import os
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from flashscope.profiles.worker.instruments.conditions import Condition, condition_figures
from flashscope.profiles.worker.instruments.gpu_state import UNSEEN, GpuState
from tests.profiles.worker.fake_nvml import UUID, FakeNvml

OURS = os.getpid()


def test_reasons_are_counted_over_the_samples_in_words() -> None:
    seen = [
        Condition((), ("software power cap",), 50.0),
        Condition(("hardware slowdown",), ("software power cap",), 60.0),
        Condition((), (), 52.0),
        Condition((), (), 51.0),
    ]
    figures = condition_figures(seen)
    assert figures["slowed"].value == 0.25
    assert figures["slowed"].source == "NVML after each sample: hardware slowdown 1 of 4"
    assert figures["capped"].value == 0.5
    assert "software power cap 2 of 4" in figures["capped"].source
    heat = figures["temperature_c"]
    assert (heat.low, heat.value, heat.high) == (50.0, 51.5, 60.0)


def test_nothing_told_is_no_figure_and_no_reason_is_none_in_force() -> None:
    assert condition_figures([Condition(None, None, None)] * 3) == {}
    assert condition_figures([Condition((), (), None)])["slowed"].value == 0


def test_a_gpu_tells_slowdowns_apart_from_what_else_keeps_clocks_lower() -> None:
    seen = GpuState(UUID, FakeNvml()).condition()
    assert seen == Condition(("hardware thermal slowdown",), ("software power cap",), 55)


@pytest.mark.parametrize("mode", [pynvml.NVML_COMPUTEMODE_DEFAULT, pynvml.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS])
def test_a_gpu_that_takes_one_process_at_a_time_says_so(mode: int) -> None:
    class Moded(FakeNvml):
        def _answer(self, name: str, arguments: tuple[Any, ...]) -> Any:
            return mode if name == "nvmlDeviceGetComputeMode" else super()._answer(name, arguments)

    exclusive = mode == pynvml.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS
    assert GpuState(UUID, Moded()).is_exclusive() is exclusive


def test_without_nvml_nothing_is_known_and_nothing_is_rejected() -> None:
    state = GpuState(UUID, FakeNvml({"nvmlInit": pynvml.NVML_ERROR_DRIVER_NOT_LOADED}))
    assert state.condition() == Condition(None, None, None)
    assert state.slowdowns() == ()
    assert state.memory_used() is None
    assert not state.is_exclusive()
    assert "driver is not loaded" in state.others().missing


@pytest.mark.parametrize(
    ("pids", "parked", "others"),
    [
        ([OURS], (), 0),
        ([OURS, 7, 8], (), 2),
        ([7], (), 0),
        ([7, 8], (), 1),
        ([], (), None),
        ([OURS, 7, 8], (7,), 1),
        ([OURS, 8], (7,), 1),
        ([21, 22, 23], (7,), 1),
        ([21], (7,), 0),
    ],
    ids=[
        *("alone", "two others", "alone in a container", "another, in a container", "none are shown"),
        *("beside a parked one", "beside one that has ended", "and in a container", "which has ended there"),
    ],
)
def test_other_processes_are_counted_without_this_one_and_parked_workers(
    pids: list[int], parked: tuple[int, ...], others: int | None
) -> None:
    class Crowded(FakeNvml):
        def _answer(self, name: str, arguments: tuple[Any, ...]) -> Any:
            if name == "nvmlDeviceGetComputeRunningProcesses":
                return [SimpleNamespace(pid=pid) for pid in pids]
            return super()._answer(name, arguments)

    told = GpuState(UUID, Crowded()).others(parked)
    assert told.value == others
    assert told.missing == ("" if pids else UNSEEN)
