"""The memory ledger of one point, from a run of its own that is never timed."""

from kernels.launch import Inputs, make_inputs, prepare
from kernels.problem import Backend, Problem
from kernels.spec import KernelSpec
from profiles.bench import Bench
from profiles.events import Footprint


def measure_footprint(spec: KernelSpec, problem: Problem, backend: Backend, bench: Bench) -> Footprint:
    """Allocate inputs, outputs and workspace, run once, and read the allocator's peak.

    Inputs and outputs are exact by the problem's shapes, the workspace is what the launch says it holds.
    Their sum is the ledger, and the peak must equal it to the allocator's rounding: up to 512 bytes an
    allocation on CUDA, Python's own objects of a few KiB on the CPU.

    Raises:
        MemoryError: It does not fit.
    """
    made: list[Inputs] = []
    workspace = 0

    def make() -> None:
        made.append(make_inputs(problem, backend))

    def run() -> None:
        nonlocal workspace
        launch = prepare(spec, problem, made[0], backend)
        workspace = launch.workspace_bytes
        launch.run()

    peak = bench.peak(make, run)
    return Footprint(
        inputs=problem.input_bytes,
        outputs=problem.output_bytes,
        workspace=workspace,
        peak=peak.allocator,
        source=bench.memory_source,
        device_delta=peak.device_delta,
    )
