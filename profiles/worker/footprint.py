"""The memory ledger of one point, from a run of its own that is never timed."""

from contextlib import nullcontext
from typing import TypeGuard

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import LibraryLaunch
from flashscope.kernels.launching.passes import Given, PassLaunch, after_forward, draw_given, prepare_passes
from flashscope.kernels.library.own.module import run_anew
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.wire.measurement import Figure
from flashscope.profiles.worker.instruments.bench import Bench, MemoryPeak
from flashscope.profiles.worker.stopwatch import Stopwatch
from flashscope.profiles.worker.vetting.counted import tell_uncounted

BY_SHAPE = "shapes and dtypes"
BY_AUTOGRAD = "shapes and dtypes of what autograd is known to keep, at least"


def measure_footprint(
    spec: KernelSpec, problem: Problem, backend: Backend, bench: Bench, watch: Stopwatch
) -> dict[str, Figure]:
    """Allocate inputs, outputs and workspace, run once, and read the allocator's peak; all in bytes.

    Inputs and outputs are exact by their shapes, the workspace is what the launch says it holds. A backward
    pass alone is also given O, LSE and dO. Their sum is the ledger, and the peak must equal it to the
    allocator's rounding: up to 512 bytes an allocation on CUDA, Python's own objects of a few KiB on the CPU.
    A library has an allocator of its own: what that says is added to the peak, and what it held beside its
    outputs is the workspace. NumPy of the user's own is run from its file once more: what it keeps from run
    to run was there before, and is counted then.

    Returns:
        The figures of `input_bytes`, `output_bytes`, `workspace_bytes`, `peak_bytes`, `device_delta_bytes`,
        and with a backward pass of `kept_bytes`: what the forward pass leaves for it besides Q, K and V.

    Raises:
        MemoryError: It does not fit.
        CaughtError: A kernel of the user's own kept its memory from being counted.
    """
    made: list[Given] = []
    launched: list[PassLaunch] = []

    def make() -> None:
        made.append(after_forward(spec, problem, draw_given(problem, backend), backend))

    def run() -> None:
        launched.append(prepare_passes(spec, problem, made[0], backend))
        if _in_numpy(spec.own):
            tell_uncounted(launched[0].run)
        with watch.on("launch"):
            bench.time_ms(launched[0].run)

    with run_anew(spec.own) if _in_numpy(spec.own) else nullcontext():
        peak = bench.peak(make, run)
    (given,), (launch,) = made, launched
    outputs, highest = launch.answer().nbytes, Figure(value=peak.allocator, source=bench.memory_source)
    launch.release()
    for library in launch.libraries:
        highest = _with_library(highest, library)
    return {
        "input_bytes": Figure(value=given.nbytes, source=BY_SHAPE),
        "output_bytes": Figure(value=outputs, source=BY_SHAPE),
        "workspace_bytes": _workspace(spec, launch, highest, given.nbytes + outputs),
        "peak_bytes": highest,
        "device_delta_bytes": _device_delta(peak),
        **_kept(spec, problem, backend),
    }


def _in_numpy(own: OwnKernel | None) -> TypeGuard[OwnKernel]:
    """Whether it is Python of the user's own whose arrays Python counts."""
    return own is not None and own.arrays == "numpy"


def _workspace(spec: KernelSpec, launch: PassLaunch, peak: Figure, besides: int) -> Figure:
    """What it holds beside inputs and outputs; of a function that allocates in each run the peak shows it."""
    if not spec.allocates_unseen or launch.libraries:
        return Figure(value=launch.workspace_bytes, source="what the launch holds")
    if peak.value is None:
        return Figure(missing=peak.missing)
    return Figure(value=max(0, peak.value - besides), source=f"{peak.source}, without inputs and outputs")


def _kept(spec: KernelSpec, problem: Problem, backend: Backend) -> dict[str, Figure]:
    """What is kept between the two passes, where there is a backward pass."""
    if not problem.runs_backward or spec.backward is None:
        return {}
    source = BY_AUTOGRAD if spec.family == "library" else BY_SHAPE
    return {"kept_bytes": Figure(value=spec.backward.kept_bytes(problem, backend), source=source)}


def _with_library(peak: Figure, launch: LibraryLaunch) -> Figure:
    """The peak with that of the library's own allocator added; unknown if the library's is."""
    if launch.allocated_bytes is None or peak.value is None:
        return Figure(missing=launch.allocator)
    return Figure(value=peak.value + launch.allocated_bytes, source=f"{peak.source} + {launch.allocator}")


def _device_delta(peak: MemoryPeak) -> Figure:
    if peak.device_delta is None:
        return Figure(missing="no NVML tells the used memory of this device")
    return Figure(value=peak.device_delta, source="NVML, the whole device")
