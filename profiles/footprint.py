"""The memory ledger of one point, from a run of its own that is never timed."""

from msgspec.structs import replace

from kernels.launch import Inputs, Launch, LibraryLaunch, make_inputs, prepare
from kernels.problem import Backend, Problem
from kernels.spec import KernelSpec
from profiles.bench import Bench
from profiles.events import Footprint


def measure_footprint(spec: KernelSpec, problem: Problem, backend: Backend, bench: Bench) -> Footprint:
    """Allocate inputs, outputs and workspace, run once, and read the allocator's peak.

    Inputs and outputs are exact by the problem's shapes, the workspace is what the launch says it holds.
    Their sum is the ledger, and the peak must equal it to the allocator's rounding: up to 512 bytes an
    allocation on CUDA, Python's own objects of a few KiB on the CPU. A library has an allocator of its own:
    what that says is added to the peak, and what it held beside O is the workspace.

    Raises:
        MemoryError: It does not fit.
    """
    made: list[Inputs] = []
    launched: list[Launch] = []

    def make() -> None:
        made.append(make_inputs(problem, backend))

    def run() -> None:
        launched.append(prepare(spec, problem, made[0], backend))
        launched[0].run()

    peak = bench.peak(make, run)
    (launch,) = launched
    ledger = Footprint(
        inputs=problem.input_bytes,
        outputs=problem.output_bytes,
        workspace=launch.workspace_bytes,
        peak=peak.allocator,
        source=bench.memory_source,
        device_delta=peak.device_delta,
    )
    return _with_library(ledger, launch) if isinstance(launch, LibraryLaunch) else ledger


def _with_library(ledger: Footprint, launch: LibraryLaunch) -> Footprint:
    """The ledger of a library's launch: outputs are O alone, and the peak is unknown if the library's is."""
    outputs = int(launch.output.nbytes)
    launch.release()
    if launch.allocated_bytes is None or ledger.peak is None:
        return replace(ledger, outputs=outputs, peak=None, source=launch.allocator)
    peak = ledger.peak + launch.allocated_bytes
    return replace(ledger, outputs=outputs, peak=peak, source=f"{ledger.source} + {launch.allocator}")
