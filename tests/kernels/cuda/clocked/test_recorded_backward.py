"""Timelines of backward passes on a GPU: the timed gradients, and clocks that tell what ran."""

from itertools import product
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda import compile as cuda_compile
from flashscope.kernels.cuda.clocked.builds import clocked_build
from flashscope.kernels.cuda.launch import current_target
from flashscope.kernels.cuda.program import Program
from flashscope.kernels.launching.passes import after_forward, draw_given, prepare_passes
from flashscope.kernels.oracle.verify_gradients import gradient_criterion
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients
from flashscope.kernels.workload.timeline import (
    ADD_DQ,
    BACKWARD_STAGES,
    DQ,
    MOST_BARS,
    STAGES,
    STORE,
    ClockedKernel,
    TimelineRequest,
)
from flashscope.profiles.results.model.timeline_facts import TimelineFacts
from flashscope.profiles.store.blobs.timelines import decode_timeline
from flashscope.profiles.worker.timelines import record_timeline

pytestmark = pytest.mark.gpu
NEAR_NS = 2_000
WAITED = "for (const unsigned t = clock_now(); clock_now() - t < 4000u;) {}"  # over 2 us at any clock
SLEEP_NS = (1_700, 4_500)
KERNELS: tuple[ClockedKernel, ...] = ("flash1", "flash2", "flash3")
SLEEPS: dict[
    tuple[ClockedKernel, str], str
] = {  # of a stage: the lines of the source that the sleep stands before
    ("flash2", "load"): "        CLOCK(1)\n        TRACED(recorder.deltas(",
    ("flash3", "softmax"): "                CLOCK(2)\n                wgmma_wait<0>();\n",
    ("flash3", "dS"): "                CLOCK(4)\n                named_sync(turn_of(part));\n",
}
STEADY = {"flash2": {"softmax", "dS"}, "flash3": {"softmax", "dS", "add dQ", "dV", "dK"}}  # whoever waits
each_kernel = pytest.mark.parametrize("kernel", KERNELS)
each_dim = pytest.mark.parametrize("head_dim", [64, 128, 256])
each_narrow_dim = pytest.mark.parametrize("head_dim", [64, 128])
each_mask = pytest.mark.parametrize("causal", [False, True])


def asked(head_dim: int, seqlen: int = 2048, heads: int = 16, **other: Any) -> Problem:
    given = {"dtype": "float16", "passes": "backward", **other}
    return Problem(heads=heads, seqlen_q=seqlen, seqlen_k=seqlen, head_dim=head_dim, **given)


def fitting(kernel: ClockedKernel, problem: Problem) -> Problem:
    """The same with fewer heads, where a timeline of all has too many bars."""
    while clocked_build(kernel, problem, current_target()).most_bars > MOST_BARS:
        problem = replace(problem, heads=problem.heads // 2)
    return problem


def recorded(kernel: ClockedKernel, problem: Problem, rounds: int = 5) -> Any:
    request = TimelineRequest(problem=problem, backend="cuda", kernel=kernel, rounds=rounds)
    return record_timeline(request, lambda _done, _total: None)


PROBLEMS = [
    asked(head_dim, seqlen, heads, causal=causal, dtype=dtype, deterministic=deterministic)
    for seqlen, heads, dtype in ((1000, 1, "float16"), (2048, 4, "bfloat16"), (8192, 8, "float16"))
    for head_dim, causal, deterministic in product((64, 128, 256), (False, True), (False, True))
]


@each_kernel
@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_gradients_are_those_of_the_timed_kernel_to_the_bit_where_their_order_is_one(
    kernel: ClockedKernel, problem: Problem, cp: Any
) -> None:
    from flashscope.kernels.cuda.timeline import bind_clocked  # noqa: PLC0415 - imports CuPy

    spec = find_kernel(kernel)
    given = after_forward(spec, problem, draw_given(problem, "cuda"), "cuda")
    plain = prepare_passes(spec, problem, given, "cuda")
    watched = bind_clocked(clocked_build(kernel, problem, current_target()), spec, problem, given)
    for run in (plain.run, watched.run, watched.run):
        run()
    cp.cuda.Device().synchronize()
    found = Gradients(*(watched.buffers[name] for name in Gradients._fields))
    for name in Gradients._fields if problem.deterministic else ("dk", "dv"):
        timed = getattr(plain.answer().gradients, name)
        assert (timed.view(cp.uint16) == getattr(found, name).view(cp.uint16)).all(), name
    assert gradient_criterion(problem, given.inputs, given.grad_output).judge(found).passed


@each_kernel
@pytest.mark.parametrize(("seqlen", "heads"), [(1024, 4), (4096, 8)])
@each_mask
@each_dim
def test_stages_and_waits_make_up_the_life_of_every_lane_and_no_tile_is_left_out(
    kernel: ClockedKernel, seqlen: int, heads: int, causal: bool, head_dim: int
) -> None:
    problem = fitting(kernel, asked(head_dim, seqlen, heads, causal=causal))
    timeline = recorded(kernel, problem)
    lane, stage, tile, begin, end = (
        getattr(timeline, name).numpy() for name in ("lane", "stage", "tile", "begin", "end")
    )
    assert (end >= begin).all()
    same = lane[1:] == lane[:-1]
    assert ((begin[1:] - end[:-1])[same] >= 0).all()
    for one in np.unique(lane):
        mine = lane == one
        life = end[mine].max() - begin[mine].min()
        waits = (begin[1:] - end[:-1])[same & mine[1:]].sum()
        assert (end - begin)[mine].sum() + waits == pytest.approx(life, rel=0.01)
    assert set(np.unique(stage).tolist()) == set(BACKWARD_STAGES)
    stored = np.unique(tile[(stage == STORE) & (tile[:, 2] >= 0)][:, [0, 2]], axis=0)  # flash1 stores dQ, too
    assert len(stored) == problem.heads * -(-seqlen // timeline.block_k)
    products = {found: {*map(tuple, tile[stage == found].tolist())} for found in BACKWARD_STAGES}
    whole = {(head, i, j) for head, i, j in products[DQ] if i >= 0}
    assert whole >= products[STAGES.index("QKᵀ")] == products[STAGES.index("dV")]
    assert whole == products[ADD_DQ]
    blocks = (timeline.block_end.numpy() - timeline.block_begin.numpy()).sum()
    assert (end - begin)[np.isin(lane, timeline.block_lane.numpy())].sum() <= blocks * 1.01
    assert decode_timeline(msgspec.msgpack.encode(timeline)) == timeline


def flash1_blocks(problem: Problem) -> int:
    """One for each head and 128 columns of dK and dV, fewer than a GPU has SMs."""
    return problem.heads * -(-problem.head_dim // 128)


@each_kernel
@each_mask
@each_dim
def test_the_launch_lasts_as_long_as_its_blocks_do_within_the_overhead(
    kernel: ClockedKernel, head_dim: int, causal: bool
) -> None:
    problem = fitting(kernel, asked(head_dim, 4096, 8, causal=causal))
    timeline = recorded(kernel, problem, rounds=9)
    facts = TimelineFacts.of(timeline)
    assert timeline.span_ns <= timeline.clocked_ns.numpy().min() + NEAR_NS
    assert timeline.registers
    working = flash1_blocks(problem) if kernel == "flash1" else len(timeline.rows.numpy())
    assert facts.idle_rows == len(timeline.rows.numpy()) - working
    shares = ", ".join(f"{name} {share:.3f}" for name, share in facts.shares.items() if share)
    mask = "causal" if causal else "full"
    print(f"{kernel} d={head_dim} {mask}: {facts.overhead:.3f} of the timed build; {shares}")  # noqa: T201 - told


@each_narrow_dim
@pytest.mark.parametrize(("kernel", "slept"), SLEEPS)
def test_a_sleep_in_a_stage_shows_in_that_stage_and_in_no_other(
    head_dim: int, kernel: ClockedKernel, slept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = asked(head_dim, 2048, 16)
    before = medians(recorded(kernel, problem))
    read = cuda_compile.read_source

    def slowed(program: Program) -> str:
        source, line = read(program), SLEEPS[kernel, slept]
        if "CLOCKS" not in program.defines:
            return source
        assert source.count(line) == 1
        return source.replace(line, f"{WAITED}\n{line}")

    monkeypatch.setattr(cuda_compile, "read_source", slowed)
    after = medians(recorded(kernel, problem))
    low, high = SLEEP_NS
    assert low < after[slept] - before[slept] < high
    for other in STEADY[kernel] - {slept}:
        assert abs(after[other] - before[other]) < low / 2, other


def medians(timeline: Any) -> dict[str, float]:
    """How long a stage's bars last, in ns."""
    stage, took = timeline.stage.numpy(), timeline.end.numpy() - timeline.begin.numpy()
    return {STAGES[one]: float(np.median(took[stage == one])) for one in BACKWARD_STAGES}
