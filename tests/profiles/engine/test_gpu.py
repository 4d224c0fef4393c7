"""The engine on a real GPU: the same faults, an exact ledger, every telemetry field."""

import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from msgspec.structs import replace

from flashscope.kernels.catalogue.ladder import LADDER
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.wire.events import (
    LogLine,
    MachineFound,
    PlanFinished,
    PlanStarted,
    PointFailed,
    PointStarted,
    Readings,
    TelemetryStarted,
    TraceReady,
)
from flashscope.profiles.wire.messages import Message
from flashscope.profiles.worker.ceilings import measure_ceilings
from flashscope.profiles.worker.child import Link
from flashscope.profiles.worker.instruments.bench import Bench
from tests.profiles.heard import QUICK, Heard, done, quick_plan

pytestmark = pytest.mark.gpu

DISPATCH_S = 2e-3
GPM = {"sm_share", "tensor_share", "dram_share"}
LEAST_GBS = 100  # any GPU's memory is faster
CUPY_GRANULARITY = 512  # CuPy rounds every allocation up to this many bytes
INPUT_AND_OUTPUT_ARRAYS = 5  # Q, K, V, O, LSE
OUTCOMES = {
    "raise": ("failed", "the kernel says no"),
    "illegal-address": ("failed", "illegal"),
    "out-of-memory": ("oom", "Memory ran out"),
    "compile-error": ("failed", "The compiler refused the kernel."),
    "wrong": ("wrong", "float64 oracle"),
    "nan": ("wrong", "NaN"),
    "abort": ("failed", "SIGABRT"),
}


@pytest.mark.parametrize("kernel", OUTCOMES)
def test_a_fault_on_the_gpu_ends_its_own_point_and_the_sweep_goes_on(heard: Heard, kernel: str) -> None:
    failed, after = heard.sweep(quick_plan(kernel, "flash2", backend="cuda"))
    status, words = OUTCOMES[kernel]
    assert (failed.status, words in failed.reason) == (status, True), failed.reason
    done(after)
    assert heard.all(PlanFinished)[0].outcome == "finished"


def test_an_endless_kernel_on_the_gpu_is_killed_at_its_deadline_while_telemetry_reads_on(
    heard: Heard,
) -> None:
    heard.engine.watch("cuda")
    heard.until(Readings)
    protocol = Protocol(warmup=0, repeats=3, deadline_s=8.0)
    failed, after = heard.sweep(quick_plan("endless", "flash2", backend="cuda", protocol=protocol))
    assert failed.status == "timeout"
    started = heard.all(PointStarted)[0]
    ended_ns = failed.ended_ns or 0
    during = [r for e in heard.all(Readings) for r in e.readings if started.t_ns + 1e9 < r.t_ns < ended_ns]
    assert len(during) > 50
    done(after)


def test_an_endless_kernel_on_the_gpu_is_ended_when_cancelled(heard: Heard) -> None:
    heard.engine.run(quick_plan("endless", "flash2", backend="cuda"))
    heard.until(PointStarted)
    heard.engine.cancel()
    heard.until(LogLine, lambda e: e.source == "engine")
    assert heard.until(PointFailed).status == "cancelled"
    assert heard.until(PlanFinished).outcome == "cancelled"


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_the_pools_peak_equals_the_ledger_and_the_prediction_to_the_rounding(
    heard: Heard, dtype: str
) -> None:
    problems = tuple(
        Problem(seqlen_q=n, seqlen_k=n, heads=2, head_dim=64, dtype=dtype)  # type: ignore[arg-type]  # parametrized as plain str
        for n in (1000, 2048)
    )
    names = tuple(spec.name for spec in LADDER if spec.unsupported(problems[0], describe()) is None)
    plan = Plan(backend="cuda", kernels=names, problems=problems, protocol=QUICK)
    ends = heard.sweep(plan)
    predicted = heard.all(PlanStarted)[0].predicted_bytes
    for point, end in zip(plan.points(), ends, strict=True):
        found = done(end)
        held, peak = found.held_bytes, found.value("peak_bytes")
        buffers = len(find_kernel(point.kernel).workspace(point.problem, "cuda")) + INPUT_AND_OUTPUT_ARRAYS
        assert held == predicted[point.index]
        assert peak is not None
        assert 0 <= peak - held <= buffers * CUPY_GRANULARITY, point
        assert found.value("device_delta_bytes") is not None
        assert found.value("host_ms") is not None
        assert (found.value("copy_gbs") or 0) > LEAST_GBS
        assert found.timer == "CUDA events"
        assert found.correctness is not None
        assert found.correctness.passed


def test_what_will_not_fit_the_gpu_is_not_launched(heard: Heard) -> None:
    (failed,) = heard.sweep(quick_plan("standard", seqlens=(1 << 19,), backend="cuda"))
    assert failed.status == "will-not-fit"
    assert "GiB" in failed.reason


def test_a_probe_finds_the_gpu_and_telemetry_matches_it_with_every_field(heard: Heard) -> None:
    heard.engine.probe()
    machine = heard.until(MachineFound).machine
    device = machine.device("cuda")
    assert device is not None
    assert device.uuid is not None
    assert device.uuid.startswith("GPU-")
    assert machine.driver
    assert machine.cuda
    assert 0 < machine.free_bytes["cuda"] <= device.memory_bytes
    heard.engine.watch("cuda")
    started = heard.until(TelemetryStarted)
    assert started.source.startswith("NVML (memory v")
    assert started.device in {device.name, f"NVIDIA {device.name}"}
    assert set(started.missing) <= GPM  # older GPUs have none
    assert started.power_limit_w
    readings = [r for _ in range(15) for r in heard.until(Readings).readings]
    assert (len(readings) - 1) / ((readings[-1].t_ns - readings[0].t_ns) / 1e9) >= 10
    assert all(a.t_ns < b.t_ns for a, b in pairwise(readings))
    last = readings[-1]
    assert last.memory_used
    assert None not in {last.utilisation, last.power_w, last.temperature_c, last.sm_clock_mhz}
    assert last.throttle is not None


def test_a_trace_is_recorded_on_the_gpu(heard: Heard) -> None:
    problem = Problem(seqlen_q=32, seqlen_k=32, head_dim=16)
    request = TraceRequest(problem=problem, backend="cuda")
    heard.engine.trace(request)
    assert heard.until(TraceReady).trace.request == request


def test_a_kernel_that_breaks_the_context_in_its_turn_leaves_the_others_their_turns(heard: Heard) -> None:
    kernels = ("flash1", "illegal-address-in-turns", "flash2")
    first, failed, last = heard.sweep(quick_plan(*kernels, backend="cuda"))
    assert (failed.status, "illegal" in failed.reason) == ("failed", True), failed.reason
    for end in (first, last):
        assert [sample.round for sample in done(end).samples] == [0, 1, 2]


def test_kernels_that_memory_cannot_hold_together_are_sampled_alone_and_say_so(heard: Heard) -> None:
    heard.engine.probe()
    free_bytes = heard.until(MachineFound).machine.free_bytes["cuda"]
    problem = Problem(seqlen_q=8192, seqlen_k=8192, heads=16, dtype="float32")
    both = (problem.input_bytes + 2 * problem.output_bytes) * 0.9  # more than one of them
    protocol = replace(QUICK, fit_margin=free_bytes / both - 1)
    plan = Plan(backend="cuda", kernels=("flash2", "chatter"), problems=(problem,), protocol=protocol)
    for end in heard.sweep(plan):
        assert "Sampled alone: with the other kernels beside it" in done(end).note
        assert [sample.round for sample in done(end).samples] == [None] * 3


def busy_before(enqueue: Callable[[], object], seconds: float) -> Callable[[], None]:
    """A run whose host is busy for so long before, as in a library's dispatcher."""

    def run() -> None:
        begun = time.monotonic()
        while time.monotonic() - begun < seconds:
            pass
        enqueue()

    return run


@pytest.mark.parametrize("cold", [True, False], ids=["cold", "warm"])
def test_what_a_slow_host_takes_to_enqueue_a_run_is_never_the_kernels_time(
    cuda_bench: Bench, cold: bool
) -> None:
    import cupy  # noqa: PLC0415 - absent without a GPU

    small = cupy.zeros(1)
    samples = [
        cuda_bench.sample(busy_before(lambda: small.fill(1), DISPATCH_S), cold=cold) for _ in range(12)
    ]
    assert max(sample.ms for sample in samples) < DISPATCH_S * 1e3 / 10
    assert {sample.rejected for sample in samples} == {None}


def test_a_run_that_takes_the_host_too_long_is_rejected_with_that_reason(cuda_bench: Bench) -> None:
    import cupy  # noqa: PLC0415 - absent without a GPU

    from flashscope.profiles.worker.instruments.gate import LONGEST_S  # noqa: PLC0415 - imports CuPy

    small = cupy.zeros(1)
    sample = cuda_bench.sample(busy_before(lambda: small.fill(1), 1.2 * LONGEST_S), cold=True)
    assert "the host took over 100 ms" in (sample.rejected or "")


def test_a_warm_sample_finds_in_the_cache_what_a_cold_one_does_not(cuda_bench: Bench) -> None:
    import cupy  # noqa: PLC0415 - absent without a GPU

    source, target = cupy.ones(1 << 20, cupy.float32), cupy.empty(1 << 20, cupy.float32)
    taken = {}
    for cold in (True, False):
        cuda_bench.time_ms(lambda: cupy.copyto(target, source))
        taken[cold] = min(
            cuda_bench.sample(lambda: cupy.copyto(target, source), cold=cold).ms for _ in range(10)
        )
    assert taken[False] < 0.9 * taken[True]


def test_what_a_kernel_lets_persist_in_the_cache_is_gone_at_the_next_sample(cuda_bench: Bench) -> None:
    import ctypes  # noqa: PLC0415 - for this test alone

    import cupy  # noqa: PLC0415 - absent without a GPU

    from flashscope.kernels.cuda.driver import driver  # noqa: PLC0415 - opens libcuda
    from flashscope.profiles.worker.instruments import set_aside  # noqa: PLC0415 - as above

    most = cupy.cuda.Device().attributes.get("MaxPersistingL2CacheSize", 0)
    if not most:
        pytest.skip("this GPU sets nothing of its L2 cache aside")
    source, target = cupy.ones(most // 8, cupy.float32), cupy.empty(most // 8, cupy.float32)
    limit = ctypes.c_int(set_aside.PERSISTING_L2_CACHE_SIZE)
    # Hits persist, misses stream.
    window = set_aside.AccessPolicyWindow(source.data.ptr, source.nbytes, 1.0, 2, 1)
    stream = cupy.cuda.get_current_stream().ptr
    asked = ctypes.c_void_p(stream), ctypes.c_int(set_aside.ACCESS_POLICY_WINDOW), ctypes.byref(window)

    def persist() -> None:
        assert driver().cuCtxSetLimit(limit, ctypes.c_size_t(most)) == 0
        assert driver().cuStreamSetAttribute(*asked) == 0
        cupy.copyto(target, source)
        cupy.cuda.get_current_stream().synchronize()

    def cold() -> float:
        return cuda_bench.sample(lambda: cupy.copyto(target, source), cold=True).ms

    plain = min(cold() for _ in range(5))
    for _ in range(5):
        persist()
        assert cold() > 0.9 * plain
    kept, after = ctypes.c_size_t(1), set_aside.AccessPolicyWindow()
    assert driver().cuCtxGetLimit(ctypes.byref(kept), limit) == 0
    assert driver().cuStreamGetAttribute(*asked[:2], ctypes.byref(after)) == 0
    assert (kept.value, after.num_bytes) == (0, 0)


def test_a_kernel_on_the_gpu_that_gives_its_first_answer_again_is_wrong(heard: Heard) -> None:
    replayed, right = heard.sweep(quick_plan("replay", "flash2", backend="cuda"))
    assert (replayed.status, replayed.reason.startswith("Of the last timed run")) == ("wrong", True)
    done(right)


def test_runs_back_to_back_are_one_sample_of_one_run(cuda_bench: Bench) -> None:
    import cupy  # noqa: PLC0415 - absent without a GPU

    wide = cupy.ones((2048, 2048), cupy.float32)
    alone = min(cuda_bench.sample(lambda: wide @ wide, cold=False).ms for _ in range(5))
    assert cuda_bench.stretch(lambda: wide @ wide, 50).ms == pytest.approx(alone, rel=0.5)


def test_a_sample_carries_the_clock_that_the_multiprocessors_ran_at(cuda_bench: Bench) -> None:
    import cupy  # noqa: PLC0415 - absent without a GPU
    import pynvml  # noqa: PLC0415 - as above

    pynvml.nvmlInit()
    fastest = pynvml.nvmlDeviceGetMaxClockInfo(pynvml.nvmlDeviceGetHandleByIndex(0), pynvml.NVML_CLOCK_SM)
    wide, small = cupy.ones((4096, 4096), cupy.float32), cupy.zeros(1)
    clocks = [cuda_bench.sample(lambda: wide @ wide, cold=True).sm_clock_mhz for _ in range(10)]
    assert all(clock is not None and fastest / 4 < clock <= fastest * 1.01 for clock in clocks), clocks
    brief = cuda_bench.sample(lambda: small.fill(1), cold=False).sm_clock_mhz
    assert brief is None or brief <= fastest * 1.05


PARTS = ("dram_read_bytes", "dram_write_bytes")


def test_counters_see_what_a_kernel_must_read_and_every_byte_is_in_its_curve(heard: Heard) -> None:
    problem = Problem(seqlen_q=4096, seqlen_k=4096, heads=16, head_dim=128, dtype="float16")
    protocol = replace(QUICK, counters=True, cold=True)
    plan = Plan(backend="cuda", kernels=("standard", "flash2"), problems=(problem,), protocol=protocol)
    standard, tiled = (done(state) for state in heard.sweep(plan))
    if missing := tiled.figures["dram_read_bytes"].missing:
        pytest.skip(missing)
    read, written, back = (tiled.figures[key].value or 0 for key in (*PARTS, "dram_writeback_bytes"))
    assert read == pytest.approx(problem.input_bytes, rel=0.03)
    assert written + back == pytest.approx(problem.output_bytes, rel=0.03)
    scores = 2 * 16 * 4096**2
    assert standard.figures["dram_write_bytes"].value == pytest.approx(2 * scores, rel=0.1)
    for measured in (standard, tiled):
        assert measured.traffic is not None
        seen = sum(map(sum, measured.traffic.bins))
        counted = [measured.figures[key].value or 0 for key in PARTS]
        assert seen == pytest.approx(sum(counted), rel=0.05)


def test_what_the_gpu_reaches_is_what_its_units_can_do(cuda_bench: Bench) -> None:
    device = describe()
    begun = time.monotonic()
    found = measure_ceilings(cuda_bench, SilentLink())
    spent_s = time.monotonic() - begun
    print(f"ceilings of {device.name} in {spent_s:.2f} s: {found}")  # noqa: T201 - for who runs it
    assert {
        key: ceiling.figure.missing for key, ceiling in found.rates.items() if ceiling.figure.missing
    } == {}
    rates = {key: float(ceiling.figure.value or 0) for key, ceiling in found.rates.items()}
    exponentials = found.rates["exp_gexps"]
    assert exponentials.sm_clock_mhz is not None
    units = 16 * (device.multiprocessors or 0)  # CUDA programming guide, throughput of native instructions
    assert rates["exp_gexps"] == pytest.approx(units * exponentials.sm_clock_mhz / 1e3, rel=0.05)
    shared = found.rates["shared_gbs"]
    assert shared.sm_clock_mhz is not None
    width = 128 * (device.multiprocessors or 0)  # bytes a cycle: 32 banks of 4 bytes on every multiprocessor
    assert 0.95 < rates["shared_gbs"] / (width * shared.sm_clock_mhz / 1e3) <= 1.01
    assert rates["copy_gbs"] < rates["l2_gbs"] < rates["shared_gbs"]
    if "H200" in device.name:
        assert 3500 < rates["copy_gbs"] < 4800
        assert 500 < rates["matmul_bfloat16_tflops"] < 900
        assert 500 < rates["matmul_float16_tflops"] < 900
        assert 30 < rates["matmul_float32_tflops"] < 67
        assert spent_s < 1.0


class SilentLink(Link):
    """No engine at its other end."""

    def __init__(self) -> None:
        pass

    def send(self, message: Message) -> None:
        pass

    def check(self, timeout_s: float = 0) -> None:
        pass
