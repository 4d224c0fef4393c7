"""A timeline of flash2 on a GPU: its own source with clocks, beside the timed build. Imports CuPy."""

from collections.abc import Callable
from typing import Any, NamedTuple

import cupy
import numpy as np

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.sources import source_digests
from flashscope.kernels.cuda import flash2
from flashscope.kernels.cuda.clocks import ClockedBlocks, lane_bars, most_steps
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.cuda.instrument import CLOCKED, clocked
from flashscope.kernels.cuda.launch import bind_launches, current_target, load_kernels
from flashscope.kernels.cuda.program import Program
from flashscope.kernels.launching.launch import make_inputs, prepare
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.timeline import StageTimeline, TimelineRequest, check_bars
from flashscope.kernels.workload.trace import Array

BARS_OF_A_STEP = 4
SOURCE = "flash2.cu as it is timed, with clocks between its stages compiled in, on the GPU"


def record(request: TimelineRequest, told: Callable[[int, int], None]) -> StageTimeline:
    """Run both builds in turns and keep the clocks of the quickest round.

    Args:
        request: What to record: flash2 in 16 bits, without a block mask, lengths or pages.
        told: Called between two rounds with how many are done and of how many; may raise, to give up.

    Raises:
        UnsupportedError: There is no build with clocks for it; the text says what there is.
        InputError: Too many bars; the text has the numbers.
        CompileError: The compiler refused the kernel.
    """
    problem, target = request.problem, current_target()
    _check(request)
    tile, program = flash2.cut(problem, target).tile, flash2.program(problem, target)
    (launch,) = program.launches
    warps, most = launch.threads // 32, most_steps(problem, tile)
    check_bars(launch.grid * warps * (BARS_OF_A_STEP * most + 1))
    inputs = make_inputs(problem, "cuda")
    clocks = launch.grid * warps
    buffers: dict[str, Any] = dict(inputs.arrays)
    buffers["o"] = cupy.empty(problem.q_shape, storage_dtype(problem.dtype))
    buffers["lse"] = cupy.empty(problem.q_shape[:3], cupy.float32)
    empty = cupy.zeros((clocks, most, 4), cupy.uint32), cupy.zeros((clocks, 4), cupy.uint64)
    buffers |= dict(zip(CLOCKED, empty, strict=True))
    plain = prepare(find_kernel("flash2"), problem, inputs, "cuda")
    runs = plain.run, _bound(clocked(program, most), buffers)

    def read() -> ClockedBlocks:
        steps, ends = (cupy.asnumpy(buffers[name]) for name in CLOCKED)
        return ClockedBlocks(steps, ends, warps)

    took = _turns(request.rounds, told, runs, read)
    device = describe()
    bars = lane_bars(problem, tile, took.quickest, device.multiprocessors or 1)
    arrays = {name: Array.of(one) for name, one in bars._asdict().items() if isinstance(one, np.ndarray)}
    return StageTimeline(
        request=request,
        device=device.name,
        source=SOURCE,
        build=source_digests()["cuda"][request.kernel],
        block_q=tile.q,
        block_k=tile.k,
        row_kind="SM",
        lanes=bars.lanes,
        span_ns=bars.span_ns,
        clocked_ns=Array.of(np.array(took.clocked_ns, np.int64)),
        plain_ns=Array.of(np.array(took.plain_ns, np.int64)),
        **arrays,
    )


class _Took(NamedTuple):
    """What the rounds took, and the clocks of the quickest one."""

    clocked_ns: list[int]
    plain_ns: list[int]
    quickest: ClockedBlocks


def _turns(
    rounds: int,
    told: Callable[[int, int], None],
    runs: tuple[Callable[[], None], Callable[[], None]],
    read: Callable[[], ClockedBlocks],
) -> _Took:
    """Run the timed build and the one with clocks once to warm up, then in turns."""
    plain, watched = runs
    _ns_of(plain), _ns_of(watched)
    found = _Took([], [], read())
    for done in range(rounds):
        told(done, rounds)
        for turn in range(2):
            if turn == done % 2:
                found.plain_ns.append(_ns_of(plain))
                continue
            found.clocked_ns.append(_ns_of(watched))
            if found.clocked_ns[-1] == min(found.clocked_ns):
                found = found._replace(quickest=read())
    return found


def _check(request: TimelineRequest) -> None:
    problem = request.problem
    if request.kernel != "flash2" or problem.dtype == "float32":
        raise UnsupportedError("On a GPU flash2 alone, in 16 bits, is built with clocks between its stages.")
    if not problem.even or problem.block_mask is not None or problem.passes != "forward":
        raise UnsupportedError(
            "A timeline is of a forward pass without a block mask whose sequences fill their arrays."
        )


def _bound(program: Program, buffers: dict[str, Any]) -> Callable[[], None]:
    """Something that runs the program's one launch."""
    (launch,) = bind_launches(program, load_kernels(program), buffers)
    return launch


def _ns_of(run: Callable[[], None]) -> int:
    """Run once, between two events; ns."""
    begun, ended = cupy.cuda.Event(), cupy.cuda.Event()
    begun.record()
    run()
    ended.record()
    ended.synchronize()
    return round(float(cupy.cuda.get_elapsed_time(begun, ended)) * 1e6)
