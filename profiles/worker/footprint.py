"""The memory ledger of one point, from a run of its own that is never timed."""

from kernels.launch import Inputs, Launch, LibraryLaunch, make_inputs, prepare
from kernels.problem import Backend, Problem
from kernels.spec import KernelSpec
from profiles.wire.measurement import Figure
from profiles.worker.bench import Bench, Peak
from profiles.worker.stopwatch import Stopwatch

BY_SHAPE = "shapes and dtypes"


def measure_footprint(
    spec: KernelSpec, problem: Problem, backend: Backend, bench: Bench, watch: Stopwatch
) -> dict[str, Figure]:
    """Allocate inputs, outputs and workspace, run once, and read the allocator's peak; all in bytes.

    Inputs and outputs are exact by the problem's shapes, the workspace is what the launch says it holds.
    Their sum is the ledger, and the peak must equal it to the allocator's rounding: up to 512 bytes an
    allocation on CUDA, Python's own objects of a few KiB on the CPU. A library has an allocator of its own:
    what that says is added to the peak, and what it held beside O is the workspace.

    Returns:
        The figures of `input_bytes`, `output_bytes`, `workspace_bytes`, `peak_bytes`, `device_delta_bytes`.

    Raises:
        MemoryError: It does not fit.
    """
    made: list[Inputs] = []
    launched: list[Launch] = []

    def make() -> None:
        made.append(make_inputs(problem, backend))

    def run() -> None:
        launched.append(prepare(spec, problem, made[0], backend))
        with watch.on("launch"):
            bench.time_ms(launched[0].run)

    peak = bench.peak(make, run)
    (launch,) = launched
    outputs, highest = problem.output_bytes, Figure(value=peak.allocator, source=bench.memory_source)
    if isinstance(launch, LibraryLaunch):
        outputs = sum(array.nbytes for array in (launch.output, launch.lse) if array is not None)
        launch.release()
        highest = _with_library(highest, launch)
    return {
        "input_bytes": Figure(value=problem.input_bytes, source=BY_SHAPE),
        "output_bytes": Figure(value=outputs, source=BY_SHAPE),
        "workspace_bytes": Figure(value=launch.workspace_bytes, source="what the launch holds"),
        "peak_bytes": highest,
        "device_delta_bytes": _device_delta(peak),
    }


def _with_library(peak: Figure, launch: LibraryLaunch) -> Figure:
    """The peak with that of the library's own allocator added; unknown if the library's is."""
    if launch.allocated_bytes is None or peak.value is None:
        return Figure(missing=launch.allocator)
    return Figure(value=peak.value + launch.allocated_bytes, source=f"{peak.source} + {launch.allocator}")


def _device_delta(peak: Peak) -> Figure:
    if peak.device_delta is None:
        return Figure(missing="no NVML tells the used memory of this device")
    return Figure(value=peak.device_delta, source="NVML, the whole device")
