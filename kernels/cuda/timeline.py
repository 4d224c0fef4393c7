"""A timeline of a kernel on a GPU: its own source with clocks, beside the timed build. Imports CuPy."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import cupy

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cuda.backward import backward_arrays
from flashscope.kernels.cuda.clocked.build import CLOCK_SMS, ClockedBuild
from flashscope.kernels.cuda.clocked.builds import ClockedRounds, clocked_build, timeline_of
from flashscope.kernels.cuda.compile import compile_module
from flashscope.kernels.cuda.design.cut import main_launch
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.cuda.launch import arrays_of, bind_launches, current_target, load_kernels
from flashscope.kernels.cuda.program import Program
from flashscope.kernels.launching.passes import Given, after_forward, draw_given, prepare_passes
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Saved
from flashscope.kernels.workload.timeline import StageTimeline, TimelineRequest, check_bars


def record(request: TimelineRequest, told: Callable[[int, int], None]) -> StageTimeline:
    """Run both builds in turns and keep the clocks of the quickest round.

    Args:
        request: What to record, in 16 bits: flash2 or flash3, or flash3's backward pass.
        told: Called between two rounds with how many are done and of how many; may raise, to give up.

    Raises:
        UnsupportedError: There is no build with clocks for it; the text says what there is.
        InputError: Too many bars, or none on the SMs that were asked for; the text has the numbers.
        CompileError: The compiler refused the kernel.
    """
    problem, spec, device = request.problem, find_kernel(request.kernel), describe()
    spec.require(problem, device)
    build = clocked_build(request.kernel, problem, current_target())
    if request.sms is not None:
        build = build.of_first(request.sms, device.multiprocessors or 1)
    check_bars(build.most_bars)
    given = after_forward(spec, problem, draw_given(problem, "cuda"), "cuda")
    watched = bind_clocked(build, spec, problem, given)
    runs = prepare_passes(spec, problem, given, "cuda").run, watched.run
    took = _turns(request.rounds, told, runs, watched.recorded)
    return timeline_of(request, build, device, took, _registers(build.program))


def _registers(program: Program) -> tuple[int, int]:
    """What a thread of the launch with the products takes with clocks, and as it is timed."""
    without = {name: value for name, value in program.defines.items() if name not in {"CLOCKS", CLOCK_SMS}}
    builds, entry = (program, replace(program, defines=without)), main_launch(program).entry
    clocked, plain = (int(compile_module(one).get_function(entry).num_regs) for one in builds)
    return clocked, plain


class BoundClocks(NamedTuple):
    """A build with clocks bound to its arrays.

    Attributes:
        run: Enqueues all its launches.
        recorded: What it has recorded in its last run, in host memory, by the names of its buffers.
        buffers: All its arrays, O (`o`) and LSE (`lse`) among them, or `dq`, `dk` and `dv`.
    """

    run: Callable[[], None]
    recorded: Callable[[], dict[str, Any]]
    buffers: dict[str, Any]


def bind_clocked(build: ClockedBuild, spec: KernelSpec, problem: Problem, given: Given) -> BoundClocks:
    """Compile for the current device, allocate what it writes, and bind it.

    Args:
        build: What is compiled.
        spec: The kernel, whose workspace it takes.
        problem: What is computed.
        given: What it is computed from, on the device.

    Raises:
        CompileError: The compiler refused the kernel.
        MemoryError: The buffers do not fit.
    """
    if problem.passes == "forward":
        buffers = arrays_of(build.program, spec, problem, given.inputs)
    else:
        saved = Saved(*given.inputs.qkv, given.output, given.lse, given.grad_output)
        buffers = backward_arrays(build.program, spec, problem, saved)
    for name, (shape, dtype) in build.recorded.items():
        buffers[name] = cupy.zeros(shape, dtype)
    launches = bind_launches(build.program, load_kernels(build.program), buffers)

    def run() -> None:
        for launch in launches:
            launch()

    def recorded() -> dict[str, Any]:
        return {name: cupy.asnumpy(buffers[name]) for name in build.recorded}

    return BoundClocks(run, recorded, buffers)


def _turns(
    rounds: int,
    told: Callable[[int, int], None],
    runs: tuple[Callable[[], None], Callable[[], None]],
    read: Callable[[], dict[str, Any]],
) -> ClockedRounds:
    """Run the timed build and the one with clocks once to warm up, then in turns."""
    plain, watched = runs
    _ns_of(plain), _ns_of(watched)
    found = ClockedRounds([], [], read())
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


def _ns_of(run: Callable[[], None]) -> int:
    """Run once, between two events; ns."""
    begun, ended = cupy.cuda.Event(), cupy.cuda.Event()
    begun.record()
    run()
    ended.record()
    ended.synchronize()
    return round(float(cupy.cuda.get_elapsed_time(begun, ended)) * 1e6)
