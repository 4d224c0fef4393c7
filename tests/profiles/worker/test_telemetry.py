"""Telemetry: fast enough, honest about what is missing, and every failure named with its remedy."""

import os
import signal
from importlib.util import find_spec
from itertools import pairwise
from multiprocessing import Pipe
from multiprocessing.connection import Connection

import pynvml
import pytest

from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.wire.events import (
    LogLine,
    MachineFound,
    PlanStarted,
    PointFailed,
    PointStarted,
    Readings,
    RequestFailed,
    TelemetryStarted,
)
from flashscope.profiles.wire.messages import Command, Message, StopChild, WatchDevice, decode_message, encode
from flashscope.profiles.worker.child import Link, StopRequestedError
from flashscope.profiles.worker.nvml import NvmlError, throttle_words
from flashscope.profiles.worker.probing.probe import probe_machine
from flashscope.profiles.worker.telemetry import gpm
from flashscope.profiles.worker.telemetry import serve as telemetry
from flashscope.profiles.worker.telemetry.gpu import NvmlSource
from flashscope.profiles.worker.telemetry.serve import watch
from tests.profiles.heard import Heard, quick_plan, running_children
from tests.profiles.worker.fake_nvml import UUID, FakeNvml

FAILURES = {
    pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: "install the NVIDIA driver",
    pynvml.NVML_ERROR_DRIVER_NOT_LOADED: "modprobe nvidia",
    pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "reboot",
    pynvml.NVML_ERROR_NO_PERMISSION: "/dev/nvidia",
}
SECONDS = 10
UNSUPPORTED = pynvml.NVML_ERROR_NOT_SUPPORTED


def test_the_cpu_is_read_on_and_on_and_what_it_cannot_tell_is_none(heard: Heard) -> None:
    heard.engine.watch("cpu")
    started = heard.until(TelemetryStarted)
    assert started.source == "psutil"
    assert started.memory_total
    assert set(started.missing) == {
        "power_w",
        "temperature_c",
        "sm_clock_mhz",
        "memory_clock_mhz",
        "sm_share",
        "tensor_share",
        "dram_share",
        "throttle",
    }
    readings = [r for _ in range(3) for r in heard.until(Readings).readings]
    assert all(a.t_ns < b.t_ns for a, b in pairwise(readings))
    assert all(r.memory_used and r.utilisation is not None and r.power_w is None for r in readings)


def test_telemetry_reads_on_while_a_kernel_hangs(heard: Heard) -> None:
    heard.engine.watch("cpu")
    heard.until(Readings)
    heard.engine.run(quick_plan("hang", protocol=Protocol(deadline_s=60)))
    started = heard.until(PointStarted)
    heard.drain()
    readings = [one for _ in range(5) for one in heard.until(Readings).readings]
    assert readings[-1].t_ns > started.t_ns
    assert heard.all(PointFailed) == []


@pytest.mark.matrix
def test_a_dead_telemetry_child_is_restarted_once_with_a_warning(heard: Heard) -> None:
    heard.engine.probe()
    heard.until(MachineFound)
    known = running_children()
    heard.engine.watch("cpu")

    def kill_telemetry() -> None:
        heard.until(Readings)
        (telemetry,) = [c for c in running_children() if c not in known]
        os.kill(telemetry.pid, signal.SIGKILL)

    kill_telemetry()
    assert "SIGKILL" in heard.until(LogLine, lambda e: e.level == "warning").text
    kill_telemetry()
    assert "SIGKILL" in heard.until(RequestFailed, lambda e: e.request == "watch").reason
    heard.engine.watch("cpu")
    heard.until(Readings)


class Beat:
    """A clock that a link moves on by what it is told to wait."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


class Beating(Link):
    """A link that waits on that clock, and asks to stop after some seconds of it."""

    def __init__(self, beat: Beat) -> None:
        super().__init__(Pipe()[0])
        self.beat = beat
        self.said: list[Message] = []

    def send(self, message: Message) -> None:
        self.said.append(message)

    def receive(self, timeout_s: float | None = None) -> Command | None:
        self.beat.now += timeout_s or 0.0
        return StopChild() if self.beat.now >= SECONDS else None


def test_a_device_is_read_at_least_ten_times_a_second_in_at_most_ten_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    beat = Beat()
    monkeypatch.setattr(telemetry, "time", beat)
    link = Beating(beat)
    watch(link, WatchDevice(backend="cuda", uuid=UUID), FakeNvml())
    batches = [said for said in link.said if isinstance(said, Readings)]
    assert sum(len(batch.readings) for batch in batches) >= 10 * SECONDS
    assert 0 < len(batches) <= 10 * SECONDS


def watched(nvml: FakeNvml, messages: int) -> list[Message]:
    """What a telemetry child says about a fake GPU before it is told to stop."""
    ours, theirs = Pipe()
    said: list[Message] = []
    with pytest.raises(StopRequestedError):
        watch(_Counting(theirs, messages, ours), WatchDevice(backend="cuda", uuid=UUID), nvml)
    while ours.poll():
        said.append(decode_message(ours.recv_bytes()))
    return said


class _Counting(Link):
    """A link whose other end says stop after so many messages."""

    def __init__(self, pipe: Connection, messages: int, other_end: Connection) -> None:
        super().__init__(pipe)
        self._left, self._other_end = messages, other_end

    def send(self, message: Message) -> None:
        super().send(message)
        self._left -= 1
        if self._left == 0:
            self._other_end.send_bytes(encode(StopChild()))


def test_a_gpu_streams_every_field() -> None:
    started, batch = watched(FakeNvml(), 2)
    assert isinstance(started, TelemetryStarted)
    assert (started.device, started.memory_total, started.power_limit_w) == ("Fake GPU", 9000, 700.0)
    assert started.source == "NVML (memory v2)"
    assert started.missing == {}
    assert isinstance(batch, Readings)
    reading = batch.readings[0]
    assert reading.memory_used == 1000
    assert reading.utilisation == 42
    assert reading.power_w == 321.0
    assert reading.temperature_c == 55
    assert (reading.sm_clock_mhz, reading.memory_clock_mhz) == (1980, 3201)
    assert reading.throttle == ("software power cap", "hardware thermal slowdown")


def test_shares_come_once_a_window_has_passed_and_stay_until_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    beat = Beat()
    monkeypatch.setattr(gpm, "time", beat)
    nvml = FakeNvml()
    source = NvmlSource(UUID, nvml)
    assert source.describe().missing == {}
    assert source.read().sm_share is None
    for _ in range(4):
        beat.now += 0.0625
        reading = source.read()
    assert (reading.sm_share, reading.tensor_share, reading.dram_share) == (0.9, 0.6, 0.25)
    assert nvml.asked.count("nvmlGpmMetricsGet") == 2


def test_a_gpu_without_gpm_says_so_for_each_share() -> None:
    source = NvmlSource(UUID, FakeNvml({"nvmlGpmQueryDeviceSupport": UNSUPPORTED}))
    missing = source.describe().missing
    assert missing == dict.fromkeys(("sm_share", "tensor_share", "dram_share"), "not supported by this GPU")
    assert source.read().power_w == 321.0


@pytest.mark.parametrize("code", FAILURES)
def test_an_nvml_that_cannot_be_used_is_named_with_its_remedy(code: int) -> None:
    (failed,) = watched(FakeNvml({"nvmlInit": code}), 1)
    assert isinstance(failed, RequestFailed)
    assert failed.request == "watch"
    assert FAILURES[code] in failed.reason


def test_a_gpu_lost_while_it_is_watched_ends_the_stream_with_the_reason() -> None:
    nvml = FakeNvml()
    source = NvmlSource(UUID, nvml)
    assert source.read().temperature_c == 55
    nvml.errors["nvmlDeviceGetTemperature"] = pynvml.NVML_ERROR_GPU_IS_LOST
    with pytest.raises(NvmlError, match=r"lost.*reboot"):
        source.read()


def test_a_field_that_is_not_supported_is_missing_with_its_reason_and_none_in_readings() -> None:
    source = NvmlSource(UUID, FakeNvml({"nvmlDeviceGetTemperature": UNSUPPORTED}))
    assert source.describe().missing == {"temperature_c": "not supported by this GPU"}
    assert source.read().temperature_c is None


def test_under_mig_the_reason_says_so() -> None:
    source = NvmlSource(UUID, FakeNvml({"nvmlDeviceGetUtilizationRates": UNSUPPORTED}, mig=True))
    assert "MIG" in source.describe().missing["utilisation"]


def test_older_drivers_fall_back_to_averaged_power_and_reserved_memory_and_say_so() -> None:
    refused = {"nvmlDeviceGetMemoryInfo_v2": UNSUPPORTED, "nvmlDeviceGetFieldValues": UNSUPPORTED}
    source = NvmlSource(UUID, FakeNvml(refused))
    assert source.describe().source == "NVML (memory v1, reserved included)"
    assert source.describe().missing == {}
    reading = source.read()
    assert (reading.memory_used, reading.power_w) == (1500, 300.0)


def test_a_field_that_fails_once_is_missing_once() -> None:
    nvml = FakeNvml()
    source = NvmlSource(UUID, nvml)
    nvml.errors["nvmlDeviceGetPowerUsage"] = nvml.errors["nvmlDeviceGetFieldValues"] = (
        pynvml.NVML_ERROR_UNKNOWN
    )
    assert source.read().power_w is None
    nvml.errors.clear()
    assert source.read().power_w == 321.0


def test_a_gpu_nvml_does_not_know_is_named() -> None:
    with pytest.raises(NvmlError, match=UUID):
        NvmlSource(UUID, FakeNvml({"nvmlDeviceGetHandleByUUID": pynvml.NVML_ERROR_NOT_FOUND}))


def test_an_idle_gpu_is_not_throttled() -> None:
    assert throttle_words(0x01) == ()
    assert throttle_words(0) == ()


def test_a_probe_names_what_is_missing_with_a_remedy_and_never_raises() -> None:
    machine = probe_machine(FakeNvml({"nvmlInit": pynvml.NVML_ERROR_DRIVER_NOT_LOADED}))
    cpu = machine.device("cpu")
    assert cpu is not None
    assert cpu.memory_bytes > machine.free_bytes["cpu"] > 0
    assert machine.packages["numpy"]
    nvml = next(f for f in machine.findings if f.name == "NVML")
    assert not nvml.ok
    assert "modprobe" in nvml.remedy


@pytest.mark.skipif(find_spec("cupy") is not None, reason="CuPy is installed")
def test_the_remedy_for_a_missing_cupy_is_the_readmes_way_of_installing() -> None:
    cupy = next(f for f in probe_machine(FakeNvml()).findings if f.name == "CuPy")
    assert cupy.remedy.startswith('.venv/bin/pip install -e ".[cuda13]"')


def test_a_probe_tells_the_drivers_version() -> None:
    machine = probe_machine(FakeNvml())
    assert machine.driver == "580.1"
    assert {"NVIDIA driver", "NVML", "CPU"} <= {f.name for f in machine.findings if f.ok}


@pytest.mark.matrix  # it takes a second
def test_a_sweep_starts_with_the_telemetry_that_watches_the_device_already(heard: Heard) -> None:
    heard.engine.watch("cpu")
    watching = heard.until(TelemetryStarted)
    heard.sweep(quick_plan("flash2"))
    assert heard.all(PlanStarted)[0].telemetry == watching
