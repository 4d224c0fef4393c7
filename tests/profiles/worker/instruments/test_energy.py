"""Energy: from a counter that moves in steps, with what that leaves unknown, or absent with the reason."""

import threading
from collections.abc import Callable
from pathlib import Path

import pynvml
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.profiles.wire.measurement import BY_POWER
from flashscope.profiles.worker.instruments import energy as module
from flashscope.profiles.worker.instruments.energy import (
    Counter,
    CounterStep,
    NoCounterError,
    power_between,
    spend,
)
from flashscope.profiles.worker.instruments.gpu_state import GpuState
from flashscope.profiles.worker.instruments.rapl import cpu_counter
from tests.profiles.worker.fake_nvml import UUID, FakeNvml

PERIOD_S = 0.1
READING_S = 0.003


def steps_of(watts: float, phase: float, seconds: float) -> list[CounterStep]:
    """What readings 10 ms apart see of a counter that steps every 0.1 s, on a device of constant power."""
    steps, known, began = [], 0.0, 0.0
    for index in range(int(seconds / (module.POLL_S + READING_S))):
        begin = index * (module.POLL_S + READING_S)
        moment = begin + READING_S / 2
        value = watts * (int((moment + phase) / PERIOD_S) * PERIOD_S) * 1e3
        if index and value != known:
            steps.append(CounterStep(began, begin + READING_S, value))
        began, known = begin, value
    return steps


@given(watts=st.floats(1, 2000), phase=st.floats(0, PERIOD_S), seconds=st.floats(1, 30))
def test_what_the_counters_steps_leave_unknown_holds_the_power(
    watts: float, phase: float, seconds: float
) -> None:
    power = power_between(steps_of(watts, phase, seconds))
    assert power is not None
    assert power.low <= watts * (1 + 1e-9)
    assert power.high >= watts * (1 - 1e-9)
    assert (power.high - power.low) / power.mean < 0.06 / (seconds - 2 * PERIOD_S)


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.15])
def test_fewer_than_two_steps_say_nothing(seconds: float) -> None:
    assert power_between(steps_of(100.0, 0.0, seconds)) is None


class Board:
    """A bench whose counter counts 200 W of a clock that a loop moves on."""

    def __init__(self, limit_w: float | None = 700.0) -> None:
        self.now, self.limit_w = 0.0, limit_w
        self.sensed_w: float | None = None

    def energy_counter(self) -> Counter:
        return Counter(
            lambda: 200e3 * (self.now // PERIOD_S) * PERIOD_S,
            "a counter",
            self.limit_w,
            lambda: self.sensed_w,
        )

    def loop(self) -> int:
        self.now += 2.0
        return 100


@pytest.fixture
def board(monkeypatch: pytest.MonkeyPatch) -> Board:
    """A board whose watch sees every step of it: it reads as the clock goes on, in the loop's own thread."""
    made = Board()

    class Stepped(module.Watch):
        def _poll(self) -> None:
            steps = range(1, 20)
            self.steps = [
                CounterStep(k * PERIOD_S - 0.005, k * PERIOD_S + 0.005, 200e3 * k * PERIOD_S) for k in steps
            ]
            power = self._counter.power()
            self.powers = [] if power is None else [power - 20.0, power + 10.0]

    monkeypatch.setattr(module, "Watch", Stepped)
    monkeypatch.setattr("flashscope.profiles.worker.instruments.energy.time.monotonic", lambda: made.now)
    return made


def test_the_energy_of_a_run_is_the_power_times_what_a_run_took(board: Board) -> None:
    figures = spend(board, board.loop, 2.0)
    energy, power = figures["energy_mj"], figures["power_w"]
    assert energy.value is not None
    assert power.value == pytest.approx(200.0)
    assert energy.value == pytest.approx(200.0 * 2.0 / 100 * 1e3)
    assert None not in (energy.low, energy.high)
    assert (energy.low or 0.0) < energy.value < (energy.high or 0.0)
    assert energy.source == "a counter, 19 steps over 1.8 s"
    assert figures["power_limit_w"].value == 700.0


def test_where_another_sensor_tells_the_power_the_energy_is_told_by_it_too(board: Board) -> None:
    assert BY_POWER not in spend(board, board.loop, 2.0)
    board.sensed_w = 210.0
    told = spend(board, board.loop, 2.0)[BY_POWER]
    assert told.value == pytest.approx((190.0 + 220.0) / 2 * 2.0 / 100 * 1e3)
    assert told.source == "mean of 2 readings of the power, times the time"


def test_a_loop_too_short_for_the_counter_has_no_energy_and_says_so(board: Board) -> None:
    figures = spend(board, board.loop, 0.5)
    assert figures["energy_mj"].value is None
    assert "too short" in figures["energy_mj"].missing


def test_a_counter_that_hardly_moved_has_no_energy_and_says_so(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.Watch, "_poll", lambda _: None)
    assert "moved 0 times" in spend(board, board.loop, 2.0)["power_w"].missing


def test_a_counter_that_fails_on_the_way_ends_no_loop() -> None:
    def fail() -> float:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)

    class Failing:
        def energy_counter(self) -> Counter:
            return Counter(fail, "a counter")

    assert spend(Failing(), lambda: 1, 1.0)["energy_mj"].missing


def test_a_loop_that_is_cancelled_leaves_no_thread_behind() -> None:
    def cancelled() -> int:
        raise KeyboardInterrupt

    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        spend(Board(), cancelled, 2.0)
    assert set(threading.enumerate()) <= before


REFUSALS: dict[str, tuple[Callable[[], Counter], str]] = {
    "an old GPU": (
        lambda: GpuState(
            UUID, FakeNvml({"nvmlDeviceGetTotalEnergyConsumption": pynvml.NVML_ERROR_NOT_SUPPORTED})
        ).energy_counter(),
        "this GPU has no energy counter",
    ),
    "no driver": (
        lambda: GpuState(UUID, FakeNvml({"nvmlInit": pynvml.NVML_ERROR_DRIVER_NOT_LOADED})).energy_counter(),
        "driver is not loaded",
    ),
    "a CPU that tells nothing": (lambda: cpu_counter(Path("/nowhere")), "no RAPL"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_without_a_counter_the_reason_is_named(name: str) -> None:
    ask, words = REFUSALS[name]
    with pytest.raises(NoCounterError, match=words):
        ask()


def test_nvmls_counter_comes_with_the_power_limit() -> None:
    counter = GpuState(UUID, FakeNvml()).energy_counter()
    assert (counter.read(), counter.limit_w, counter.power()) == (5_000_000.0, 700.0, 321.0)
    silent = GpuState(UUID, FakeNvml({"nvmlDeviceGetFieldValues": pynvml.NVML_ERROR_NOT_SUPPORTED}))
    assert silent.energy_counter().power() is None


def test_a_cpus_counter_goes_on_where_a_package_starts_anew(tmp_path: Path) -> None:
    for number, now in enumerate((900, 40)):
        folder = tmp_path / f"intel-rapl:{number}"
        folder.mkdir()
        (folder / "max_energy_range_uj").write_text("999\n")
        (folder / "energy_uj").write_text(f"{now}\n")
    counter = cpu_counter(tmp_path)
    assert counter.read() == pytest.approx(0.94)
    (tmp_path / "intel-rapl:0" / "energy_uj").write_text("100\n")
    assert counter.read() == pytest.approx(1.14)
    assert counter.read() == pytest.approx(1.14)
