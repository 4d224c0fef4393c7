"""Timelines of forward passes on a GPU: the timed answer to the bit, and clocks that tell what ran."""

from itertools import product
from typing import Any

import msgspec
import numpy as np
import pytest

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda import compile as cuda_compile
from flashscope.kernels.cuda.clocked.builds import clocked_build
from flashscope.kernels.cuda.launch import current_target
from flashscope.kernels.cuda.program import Program
from flashscope.kernels.launching.launch import prepare
from flashscope.kernels.launching.passes import draw_given
from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.kernels.workload.timeline import (
    LOAD,
    MERGE,
    MOST_REGISTERS,
    PV,
    QK,
    SOFTMAX,
    STORE,
    ClockedKernel,
    TimelineRequest,
)
from flashscope.profiles.results.model.timeline_facts import TimelineFacts
from flashscope.profiles.store.blobs.timelines import decode_timeline
from flashscope.profiles.wire.events import TimelineReady, encode
from flashscope.profiles.worker.timelines import record_timeline

pytestmark = pytest.mark.gpu
NEAR_NS = 2_000
WAITED = "for (const unsigned t = clock_now(); clock_now() - t < 4000u;) {}"  # over 2 us at any clock
SLEEP_NS = (1_700, 4_500)
KERNELS: tuple[ClockedKernel, ...] = ("flash2", "flash3")
DTYPES: tuple[Dtype, ...] = ("float16", "bfloat16")
SLEEPS = {  # behind this line of the source, which is a part of the softmax
    "flash2": "        float alpha[SUBTILES][2];\n",
    "flash3": "        state.step<MASK>(s, c, mask);\n        wgmma_wait<0>();\n",
}
each_mask = pytest.mark.parametrize("causal", [False, True])
each_dim = pytest.mark.parametrize("head_dim", [64, 128])


def asked(
    head_dim: int, seqlen: int = 2048, heads: int = 16, *, causal: bool = False, dtype: Dtype = "float16"
) -> Problem:
    return Problem(
        batch=1, heads=heads, seqlen_q=seqlen, seqlen_k=seqlen, head_dim=head_dim, causal=causal, dtype=dtype
    )


def problem_words(problem: Problem) -> str:
    """The name of a case."""
    pages = f"-{problem.page_size}" if problem.page_size else ""
    return f"{problem.seqlen_q}-{problem.heads}-{problem.head_dim}-{problem.causal}-{problem.dtype}{pages}"


PROBLEMS = [
    asked(head_dim, seqlen, heads, causal=causal, dtype=dtype)
    for head_dim, (seqlen, heads), causal, dtype in product(
        (64, 128), ((1000, 1), (2048, 4), (4096, 16), (8192, 16)), (False, True), DTYPES
    )
]

DECODING = [
    Problem(
        heads=32,
        kv_heads=8,
        seqlen_q=rows,
        seqlen_k=8192,
        head_dim=head_dim,
        dtype="float16",
        page_size=pages,
    )
    for head_dim, rows, pages in product((64, 128), (1, 16), (None, 64))
]


def recorded(kernel: ClockedKernel, problem: Problem, rounds: int = 5) -> Any:
    request = TimelineRequest(problem=problem, backend="cuda", kernel=kernel, rounds=rounds)
    return record_timeline(request, lambda _done, _total: None)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("problem", [*PROBLEMS, *DECODING], ids=problem_words)
def test_the_answer_is_that_of_the_timed_kernel_to_the_bit(
    kernel: ClockedKernel, problem: Problem, cp: Any
) -> None:
    from flashscope.kernels.cuda.timeline import bind_clocked  # noqa: PLC0415 - imports CuPy

    spec, given = find_kernel(kernel), draw_given(problem, "cuda")
    plain = prepare(spec, problem, given.inputs, "cuda")
    watched = bind_clocked(clocked_build(kernel, problem, current_target()), spec, problem, given)
    for run in (plain.run, watched.run, watched.run):  # twice: a run leaves the counter of tiles as it was
        run()
    cp.cuda.Device().synchronize()
    assert (cp.asarray(plain.output).view(cp.uint16) == watched.buffers["o"].view(cp.uint16)).all()
    assert (cp.asarray(plain.lse).view(cp.uint32) == watched.buffers["lse"].view(cp.uint32)).all()


@each_mask
@each_dim
def test_all_warpgroups_saw_the_same_clock_between_their_anchors(
    head_dim: int, causal: bool, cp: Any
) -> None:
    from flashscope.kernels.cuda.timeline import bind_clocked  # noqa: PLC0415 - imports CuPy

    problem = asked(head_dim, 4096, 64, causal=causal)
    spec, given = find_kernel("flash3"), draw_given(problem, "cuda")
    watched = bind_clocked(clocked_build("flash3", problem, current_target()), spec, problem, given)
    for _ in range(3):
        watched.run()
    cp.cuda.Device().synchronize()
    ends = watched.recorded()["clock_ends"]
    ns = (ends[..., 1] - ends[..., 0]).astype(np.int64)
    small = ends.view(np.uint32).reshape(*ends.shape[:2], 8).astype(np.int64)
    cycles = (small[..., 5] - small[..., 4]) % (1 << 32)
    assert (ns > 0).all()
    np.testing.assert_allclose(cycles / ns, np.median(cycles / ns), rtol=0.02)
    assert len(np.unique(small[:, 0, 6])) == len(ends)  # each of these blocks has an SM of its own


@pytest.mark.parametrize(("seqlen", "heads"), [(1024, 4), (4096, 16)])
@each_mask
@each_dim
def test_stages_and_waits_make_up_the_life_of_every_lane_and_no_tile_is_left_out(
    seqlen: int, heads: int, causal: bool, head_dim: int
) -> None:
    timeline = recorded("flash3", asked(head_dim, seqlen, heads, causal=causal))
    lane, stage, tile, begin, end = (
        getattr(timeline, name).numpy() for name in ("lane", "stage", "tile", "begin", "end")
    )
    assert (end >= begin).all()
    same = lane[1:] == lane[:-1]
    gaps = (begin[1:] - end[:-1])[same]
    assert (gaps >= 0).all()
    for one in np.unique(lane):
        mine = lane == one
        life = end[mine].max() - begin[mine].min()
        waits = (begin[1:] - end[:-1])[same & mine[1:]].sum()
        assert (end - begin)[mine].sum() + waits == pytest.approx(life, rel=0.01)
    computed = {found: sorted(map(tuple, tile[stage == found].tolist())) for found in (QK, SOFTMAX, PV)}
    assert computed[QK] == computed[SOFTMAX] == computed[PV] != []
    rows = -(-seqlen // timeline.block_q)
    assert len(np.unique(tile[stage == STORE][:, :2], axis=0)) == heads * rows
    loaded = np.unique(tile[stage == LOAD], axis=0)
    assert {tuple(one) for one in computed[QK]} <= set(map(tuple, loaded.tolist()))
    block_begin, block_end = timeline.block_begin.numpy(), timeline.block_end.numpy()
    busy = (end - begin)[np.isin(lane, timeline.block_lane.numpy())].sum()
    assert busy <= (block_end - block_begin).sum() * 1.01
    assert decode_timeline(msgspec.msgpack.encode(timeline)) == timeline


@pytest.mark.parametrize("problem", DECODING, ids=problem_words)
def test_parts_of_keys_are_merged_after_they_are_stored_on_the_same_axis(problem: Problem) -> None:
    timeline = recorded("flash3", problem)
    stage, begin, end = (getattr(timeline, name).numpy() for name in ("stage", "begin", "end"))
    merges, stores = stage == MERGE, stage == STORE
    assert merges.any()
    assert begin[merges].min() >= end[stores].max() - NEAR_NS
    assert timeline.span_ns == end.max() <= timeline.clocked_ns.numpy().min() + NEAR_NS
    assert timeline.packed == problem.heads // problem.key_heads
    facts = TimelineFacts.of(timeline)
    assert 0 < facts.merge_ns < timeline.span_ns
    assert decode_timeline(msgspec.msgpack.encode(timeline)) == timeline
    took = f"merge {facts.merge_ns} of {timeline.span_ns} ns"
    print(f"{problem_words(problem)}: {facts.overhead:.3f} of the timed builds, {took}")  # noqa: T201 - told


@pytest.mark.parametrize("kernel", KERNELS)
@each_mask
@each_dim
def test_the_launch_lasts_as_long_as_its_blocks_do_within_the_overhead(
    kernel: ClockedKernel, head_dim: int, causal: bool
) -> None:
    timeline = recorded(kernel, asked(head_dim, 4096, 16, causal=causal), rounds=9)
    facts = TimelineFacts.of(timeline)
    assert timeline.span_ns <= timeline.clocked_ns.numpy().min() + NEAR_NS
    assert facts.idle_rows == 0
    assert timeline.registers
    assert all(16 <= one <= MOST_REGISTERS for one in timeline.registers)
    assert len(encode(TimelineReady(timeline=timeline))) < 128 << 20
    print(f"{kernel} d={head_dim} {'causal' if causal else 'full'}: {facts.overhead:.3f} of the timed build")  # noqa: T201 - told


@pytest.mark.parametrize("kernel", KERNELS)
@each_dim
def test_a_sleep_in_the_softmax_shows_in_the_softmax_and_in_no_other_stage(
    kernel: ClockedKernel, head_dim: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = asked(head_dim, 2048, 16)
    before = medians(recorded(kernel, problem))
    read = cuda_compile.read_source

    def slowed(program: Program) -> str:
        source = read(program)
        line = SLEEPS.get(program.source.removesuffix(".cu"), "")
        if not line or "CLOCKS" not in program.defines:
            return source
        assert source.count(line) == 1
        return source.replace(line, f"{line}{WAITED}\n")

    monkeypatch.setattr(cuda_compile, "read_source", slowed)
    after = medians(recorded(kernel, problem))
    low, high = SLEEP_NS
    assert low < after[SOFTMAX] - before[SOFTMAX] < high
    assert abs(after[QK] - before[QK]) < low / 2
    assert abs(after[PV] - before[PV]) < low / 2


def medians(timeline: Any) -> dict[int, float]:
    """How long a stage's bars last, in ns."""
    stage, took = timeline.stage.numpy(), timeline.end.numpy() - timeline.begin.numpy()
    return {one: float(np.median(took[stage == one])) for one in (QK, SOFTMAX, PV)}
