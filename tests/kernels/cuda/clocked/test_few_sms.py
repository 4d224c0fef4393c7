"""Few SMs write out their clocks, in the emulator: the same answer, and the bars of these alone."""

from collections import Counter
from typing import Any

import msgspec
import numpy as np
import pytest

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.workspace_backward import WIDE_HEAD
from flashscope.kernels.cuda.clocked.build import CLOCK_SMS, ClockedBuild
from flashscope.kernels.cuda.clocked.builds import ClockedRounds, clocked_build, timeline_of
from flashscope.kernels.cuda.clocks import WarpBars
from flashscope.kernels.cuda.sass.resources import resources
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import LOAD, ClockedKernel, TimelineRequest
from flashscope.profiles.store.blobs.timelines import decode_timeline
from flashscope.profiles.worker.timelines import record_timeline
from tests.kernels.cuda.builds import ON_HOPPER
from tests.kernels.cuda.clocked import backward_runs
from tests.kernels.cuda.clocked.clock import RAN_ON, counting_groups, counting_lanes, counting_passes
from tests.kernels.cuda.emulator.build import Edits
from tests.kernels.cuda.emulator.launch import guarded_memory
from tests.kernels.cuda.emulator.running import Setting, drawn, needs_compiler, target, workspace
from tests.kernels.cuda.nvrtc_apart import compile_apart
from tests.matrix import chosen

HOPPER, SMS, FEW = 900, 4, 2
CASES: list[tuple[ClockedKernel, int, str]] = [
    ("flash1", 64, "forward"),
    ("flash2", 64, "forward"),
    ("flash3", 64, "forward"),
    ("flash1", 64, "backward"),
    ("flash2", 64, "backward"),
    ("flash3", 64, "backward"),
    ("flash3", 192, "backward"),
]
COMPILED = ("flash2", "flash3")
EDITS = {"flash1": counting_passes, "flash2": counting_lanes, "flash3": counting_groups}


def asked(head_dim: int, passes: Any) -> Problem:
    return Problem(
        heads=4,
        seqlen_q=200,
        seqlen_k=300,
        head_dim=head_dim,
        dtype="float16",
        causal=True,
        seed=2,
        passes=passes,
        deterministic=passes == "backward",
    )


def spread(kernel: ClockedKernel) -> Edits:
    """A clock for the emulator, whose blocks run on four SMs in turns."""
    return tuple(
        (old, new.replace(f"id = {RAN_ON};", f"id = blockIdx.x % {SMS};")) for old, new in EDITS[kernel]()
    )


def held(kernel: ClockedKernel, problem: Problem, build: ClockedBuild) -> dict[str, Any]:
    """What the buffers hold after a run."""
    if problem.passes == "backward":
        return backward_runs.held(kernel, problem, build.program, build.recorded, spread(kernel))
    with guarded_memory() as memory:
        buffers = {name: memory.copy(name, array) for name, array in drawn(problem).arrays.items()}
        buffers["o"] = memory.empty("o", problem.q_shape, storage_dtype(problem.dtype))
        buffers["lse"] = memory.empty("lse", problem.q_shape[:3], np.float32)
        buffers |= workspace(memory, find_kernel(kernel).workspace(problem, "cuda"), build.program)
        for name, (sizes, dtype) in build.recorded.items():
            buffers[name] = memory.copy(name, np.zeros(sizes, dtype))
        Setting(seed=1, arch=HOPPER, edits=spread(kernel)).run(build.program, buffers)
        return {name: array.copy() for name, array in buffers.items()}


def work(bars: WarpBars) -> Counter[tuple[int, ...]]:
    """How many bars each stage of each tile has; of loads that depends on the order of blocks."""
    every = np.column_stack((bars.stage, bars.tile))
    return Counter(map(tuple, every[bars.stage != LOAD].tolist()))


@needs_compiler
@chosen("kernel,head_dim,passes", CASES, [CASES[1]])
def test_few_sms_tell_what_they_did_and_the_answer_is_the_same(
    kernel: ClockedKernel, head_dim: int, passes: str
) -> None:
    problem = asked(head_dim, passes)
    every = clocked_build(kernel, problem, target(HOPPER))
    few = every.of_first(FEW, SMS)
    assert few.most_bars <= -(-every.most_bars // 2)
    whole, part = held(kernel, problem, every), held(kernel, problem, few)
    for name in ("o", "lse") if passes == "forward" else ("dq", "dk", "dv"):
        assert whole[name].tobytes() == part[name].tobytes()
    clocks = next(iter(few.recorded))
    assert 0 < np.count_nonzero(part[clocks]) < np.count_nonzero(whole[clocks])
    bars, told = every.bars(whole, SMS), few.bars(part, FEW)
    assert {*range(FEW)} == {*(told.lane // len(told.lanes)).tolist()}
    assert told.rows.tolist() == [*range(FEW)]
    assert told.span_ns >= told.end.max()
    done, ought = work(told), work(bars)
    assert 0 < sum(done.values()) < sum(ought.values())
    elsewhere = few.bars(whole, FEW)  # what other SMs wrote may be left of a round before
    assert elsewhere.block_lane.max() < FEW * len(elsewhere.lanes)
    shared = head_dim > WIDE_HEAD  # by two blocks, each on an SM of its own
    assert all(0 < count <= ought[one] if shared else count == ought[one] for one, count in done.items())


@needs_compiler
@pytest.mark.matrix
def test_where_none_of_them_had_a_block_that_is_said() -> None:
    problem = asked(64, "forward")
    build = clocked_build("flash2", problem, target(HOPPER)).of_first(FEW, SMS)
    found = held("flash2", problem, build)
    found["clock_ends"].view(np.uint32).reshape(-1, 8)[:, 7] = SMS - 1
    request = TimelineRequest(problem=problem, backend="cuda", sms=FEW, rounds=1)
    device = Device(backend="cuda", name="the emulator", memory_bytes=1 << 30, multiprocessors=SMS)
    with pytest.raises(InputError, match="None of the first 2 SMs had a block of it"):
        timeline_of(request, build, device, ClockedRounds([1], [1], found))


@chosen("kernel,passes", [(one, of) for one in COMPILED for of in ("forward", "backward")], ())
@pytest.mark.parametrize("head_dim", [64, 128])
def test_such_a_build_spills_no_register(kernel: ClockedKernel, passes: Any, head_dim: int) -> None:
    few = clocked_build(kernel, asked(head_dim, passes), ON_HOPPER).of_first(FEW, SMS)
    assert few.program.defines[CLOCK_SMS] == FEW
    for one in resources(compile_apart(few.program, ON_HOPPER)[1]).values():
        assert one.spilled == 0


def test_a_build_of_more_sms_than_there_are_has_room_for_all_bars() -> None:
    every = clocked_build("flash2", asked(64, "forward"), ON_HOPPER)
    assert every.of_first(99, SMS).most_bars == every.most_bars


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", COMPILED)
@pytest.mark.parametrize("passes", ["forward", "backward"])
def test_on_a_gpu_the_first_sms_alone_have_bars(kernel: ClockedKernel, passes: Any) -> None:
    problem = Problem(
        batch=1, heads=16, seqlen_q=2048, seqlen_k=2048, head_dim=128, dtype="float16", passes=passes
    )
    request = TimelineRequest(problem=problem, backend="cuda", kernel=kernel, sms=SMS, rounds=3)
    timeline = record_timeline(request, lambda _done, _total: None)
    assert {*(timeline.lane.numpy() // len(timeline.lanes)).tolist()} == {*range(SMS)}
    assert timeline.rows.numpy().tolist() == [*range(SMS)]
    assert decode_timeline(msgspec.msgpack.encode(timeline)) == timeline
