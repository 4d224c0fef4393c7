"""What timed kernels record with their recording compiled in, in the emulator, beside float64."""

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from flashscope.kernels.catalogue.flash3_share import Share, usual_shape
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda.instrument import MERGED, RECORDED, TWICE, TimedCut, timed, timed_cut
from flashscope.kernels.cuda.program import ceil_div
from flashscope.kernels.launching import tracing
from flashscope.kernels.launching.on_show import qkv_on_show, rows_on_show
from flashscope.kernels.launching.tracing import Merging, Snapshots
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs
from flashscope.kernels.workload.trace import TimedKernel, Trace, TraceRequest
from tests.kernels.cuda.emulator.launch import guarded_memory, run
from tests.kernels.cuda.emulator.running import drawn, needs_compiler, target
from tests.kernels.cuda.replaying import ALONE, AMONG_OTHERS, BLOCKS, HEADS, SHAPES, check_trace
from tests.kernels.cuda.test_emulated_trace import WITHOUT_CLOCK
from tests.matrix import chosen

pytestmark = needs_compiler
HOPPER = 900
FEW_TILES = {"few tiles": {"seqlen_q": 66, "seqlen_k": 1030, "causal": True, "heads": 2}}
"""flash2 halves their rows."""
USUAL = "usual"  # flash3 in the tile that it takes of many heads; of these few it takes a smaller one
Case = tuple[str, str, int]
FP8_SHAPES = ("full", "causal", "more rows", "grouped", "negative", "rising")
CASES: list[Case] = [
    *(("flash1", shape, head_dim) for shape, head_dim in product(ALONE, (64, 128))),
    *(("flash2", shape, head_dim) for shape, head_dim in product(ALONE, (64, 128))),
    *((f"flash3 {USUAL}", shape, head_dim) for shape, head_dim in product(ALONE, (64, 128))),
    *(("flash3", shape, head_dim) for shape, head_dim in product(ALONE | AMONG_OTHERS, (64, 128))),
    *((kernel, shape, 64) for kernel, shape in product(("flash1", "flash2"), BLOCKS)),
    ("flash1", "grouped", 64),
    *(("flash2", shape, 64) for shape in ("grouped", "ragged", "pages")),
    *(("flash2", shape, 128) for shape in FEW_TILES),
    *(("flash1", "full", 40), ("flash2", "full", 40), (f"flash3 {USUAL}", "causal", 256)),
    *((f"flash3 {USUAL}", shape, 128) for shape in ("grouped", "ragged", "pages")),
    *(("flash3-fp8", shape, head_dim) for shape, head_dim in product(FP8_SHAPES, (64, 128, 256))),
]
IN_EVERY_RUN: list[Case] = [
    ("flash1", "grouped", 64),
    ("flash2", "causal blocks", 64),
    ("flash3", "packed pages", 64),
    ("flash3-fp8", "rising", 64),
]


class Run(NamedTuple):
    """A case as it runs."""

    problem: Problem
    inputs: Inputs
    cut: TimedCut
    asked: TraceRequest


def running(case: Case) -> Run:
    named, shape, head_dim = case
    kernel: TimedKernel = named.split()[0]  # type: ignore[assignment]
    problem = Problem(
        **{"heads": 1, **(SHAPES | FEW_TILES)[shape]}, head_dim=head_dim, dtype="float16", seed=2
    )
    share = Share(usual_shape(problem)) if USUAL in named else None
    cut = timed_cut(kernel, problem, target(HOPPER), share)
    request = TraceRequest(problem=problem, backend="cuda", kernel=kernel, head=HEADS.get(shape, 0))
    return Run(problem, drawn(problem), cut, cut.of(request))


def recorded(case: Run, *, traced: bool = True) -> dict[str, Any]:
    """The buffers after a run, with the recording or without."""
    problem, inputs, cut, asked = case
    rows = cut.packed * problem.seqlen_q
    tiles = ceil_div(rows, cut.tile.q) * ceil_div(problem.seqlen_k, cut.tile.k)
    program = timed(cut.program, asked.head // cut.packed) if traced else cut.program
    with guarded_memory() as memory:
        buffers = {name: memory.copy(name, array) for name, array in inputs.arrays.items()}
        for one in find_kernel(asked.kernel).workspace(problem, "cuda"):
            buffers[one.name] = memory.empty(one.name, one.shape, storage_dtype(one.dtype))
        buffers |= {name: memory.copy(name, table) for name, table in program.tables.items()}
        buffers["o"] = memory.empty("o", problem.q_shape, storage_dtype(problem.dtype))
        buffers["lse"] = memory.empty("lse", problem.q_shape[:3], np.float32)
        clocks = np.zeros(tiles, np.int64), np.zeros(tiles, np.int32)
        empty = (*Snapshots.empty(tiles, *cut.tile, problem.head_dim), *clocks)
        for name, fill in zip(RECORDED, empty, strict=True):
            buffers[name] = memory.copy(name, fill)
        for name, wide in zip(MERGED, ((), (), (problem.head_dim,)), strict=True):
            buffers[name] = memory.empty(name, (cut.additions, rows, *wide), np.float32)
        buffers[TWICE] = memory.copy(TWICE, np.zeros((tiles, cut.tile.q), np.uint8))
        run(program, buffers, arch=HOPPER, edits=WITHOUT_CLOCK if traced else ())
        return {name: array.copy() for name, array in buffers.items()}


def collected(case: Run, found: dict[str, Any]) -> Trace:
    """The trace that a GPU's recording would be made into."""
    problem, inputs, cut, asked = case
    order = [i * ceil_div(problem.seqlen_k, asked.block_k) + j for i, j in tracing.visits(asked)]
    s, m, l, alpha, o, t_ns, sm = (found[name][order] for name in RECORDED)
    rows = asked.shown.seqlen_q
    return tracing.assemble(
        asked,
        device="emulator",
        source=cut.program.source,
        qkv=qkv_on_show(asked, inputs),
        snapshots=Snapshots(s, m, l, alpha, o),
        result=(rows_on_show(asked, found["o"]), rows_on_show(asked, found["lse"])),
        clocks=(t_ns, sm),
        headroom=cut.headroom,
        twice=found[TWICE][order] if asked.kernel == "flash3-fp8" else None,
        merging=Merging(*(found[name][:, :rows] for name in MERGED)) if cut.additions else None,
    )


@chosen("case", CASES, IN_EVERY_RUN)
def test_each_snapshot_is_that_of_a_replay_and_the_answer_that_of_the_timed_kernel(case: Case) -> None:
    """The replay is in float64; the answer is the same to the bit."""
    taken = running(case)
    found = recorded(taken)
    trace = collected(taken, found)
    check_trace(trace)
    assert trace.t_ns is not None
    assert {*trace.t_ns.numpy().tolist()} == {7}
    assert len(trace.t_ns.numpy()) == np.count_nonzero(found["trace_t_ns"])
    plain = recorded(running(case), traced=False)
    for name in ("o", "lse"):
        assert found[name].tobytes() == plain[name].tobytes()


def test_flash3_fp8_computes_a_tile_twice_where_scores_outgrow_the_maxima_so_far() -> None:
    for shape, twice in (("rising", True), ("negative", False)):
        taken = running(("flash3-fp8", shape, 64))
        trace = collected(taken, recorded(taken))
        assert trace.twice is not None
        assert trace.twice.numpy().any() == twice


def test_the_cases_have_every_way_in_which_a_kernel_takes_a_head() -> None:
    cuts = [running(case).cut for case in CASES]
    assert {cut.headroom > 0 for cut in cuts} == {False, True}
    assert {(cut.packed > 1, cut.splits > 1) for cut in cuts} == {*product((False, True), repeat=2)}
    assert {cut.additions - cut.splits for cut in cuts if cut.splits > 1} == {7}
