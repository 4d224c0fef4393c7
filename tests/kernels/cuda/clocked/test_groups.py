"""flash3 with clocks between its stages, in the emulator: the timed answer to the bit, clocks in order."""

from collections import Counter
from functools import cache
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest

from flashscope.kernels.catalogue.flash3_share import Share, TileShape, usual_shape
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.workspace import PARTIAL_O, PARTIAL_SUMS
from flashscope.kernels.cuda import flash3
from flashscope.kernels.cuda.clocked.build import ClockedBuild
from flashscope.kernels.cuda.clocked.builds import ClockedRounds, flash3_build, timeline_of
from flashscope.kernels.cuda.clocked.groups import GroupCut, GroupTile, tiles
from flashscope.kernels.cuda.clocks import WarpBars
from flashscope.kernels.cuda.program import Program
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import (
    LOAD,
    MERGE,
    NO_PLACE,
    PV,
    QK,
    SOFTMAX,
    STORE,
    TimelineRequest,
)
from flashscope.profiles.store.blobs.timelines import decode_timeline
from tests.kernels.cuda.clocked.clock import assert_in_order, counting_groups
from tests.kernels.cuda.emulator.launch import guarded_memory, run
from tests.kernels.cuda.emulator.running import drawn, needs_compiler, target, workspace
from tests.matrix import chosen

HOPPER = 900
PARTIAL = (PARTIAL_O, PARTIAL_SUMS)
SMS = 4  # one of which has the number that the emulator's blocks read
FULL = {"seqlen_q": 150, "seqlen_k": 300}
CAUSAL = {"seqlen_q": 400, "seqlen_k": 400, "causal": True}
MORE_ROWS = {"seqlen_q": 500, "seqlen_k": 140, "causal": True}
DRAWN_NARROW, DRAWN = Share(TileShape(3, 128)), Share(TileShape(2, 128))
ALONE, PARTS = Share(TileShape(2, 128), draws=False), Share(TileShape(1, 128), splits=2, draws=False)
FEW, PACKED = (
    {"seqlen_q": 25, "seqlen_k": 300, "heads": 4, "kv_heads": 1},
    Share(TileShape(1, 128), 4, draws=False),
)
CASES: list[tuple[str, int, dict[str, Any], Share]] = [
    ("causal, drawn", 64, CAUSAL, DRAWN_NARROW),
    ("full, drawn", 64, {**FULL, "heads": 3}, DRAWN_NARROW),
    ("causal, drawn", 128, CAUSAL, DRAWN),
    ("empty tiles, drawn", 64, {**MORE_ROWS, "heads": 2}, DRAWN),
    ("empty tiles, alone", 64, MORE_ROWS, ALONE),
    ("window, drawn", 64, {**CAUSAL, "window": (90, 0)}, DRAWN),
    ("full, alone", 128, FULL, ALONE),
    ("causal, in parts", 64, CAUSAL, PARTS),
    ("full, in parts", 128, {**FULL, "heads": 2}, PARTS),
    ("pages, drawn", 64, {"seqlen_q": 150, "seqlen_k": 320, "page_size": 64, "heads": 3}, DRAWN),
    ("heads in one", 64, {**FEW, "causal": True}, PACKED),
    ("heads in one, in parts", 128, {**FEW, "heads": 8, "kv_heads": 2}, PACKED._replace(splits=2)),
]
each_case = chosen("name,head_dim,shape,share", CASES, [CASES[n] for n in (4, 11)])


class Run(NamedTuple):
    """A build and what its buffers hold after a run."""

    build: ClockedBuild
    found: dict[str, Any]

    @property
    def bars(self) -> WarpBars:
        return self.build.bars(self.found, SMS)


def asked(head_dim: int, shape: dict[str, Any]) -> Problem:
    return Problem(**{"heads": 1, **shape}, head_dim=head_dim, batch=1, dtype="float16", seed=2)


def held(problem: Problem, program: Program, recorded: dict[str, Any], seed: int) -> dict[str, Any]:
    """What the buffers hold after a run of a program."""
    with guarded_memory() as memory:
        buffers = {name: memory.copy(name, array) for name, array in drawn(problem).arrays.items()}
        buffers["o"] = memory.empty("o", problem.q_shape, storage_dtype(problem.dtype))
        buffers["lse"] = memory.empty("lse", problem.q_shape[:3], np.float32)
        declared = find_kernel("flash3").workspace(problem, "cuda")
        buffers |= workspace(memory, tuple(one for one in declared if one.name not in PARTIAL), program)
        for name in PARTIAL:
            buffers[name] = memory.empty(name, (2 * problem.rows, problem.head_dim), np.float32)
        for name, (sizes, dtype) in recorded.items():
            buffers[name] = memory.copy(name, np.zeros(sizes, dtype))
        edits = counting_groups() if recorded else ()
        run(program, buffers, arch=HOPPER, seed=seed, edits=edits)
        return {name: array.copy() for name, array in buffers.items()}


@cache
def _watched(problem: Problem, share: Share, seed: int) -> Run:
    build = flash3_build(problem, target(HOPPER), share)
    return Run(build, held(problem, build.program, build.recorded, seed))


def expected(problem: Problem, share: Share) -> list[GroupTile]:
    return [
        *tiles(
            problem,
            GroupCut(flash3.tiling_of(problem, "flash3", share)[0].tile, share.splits, share.pack_gqa),
        )
    ]


@needs_compiler
@each_case
def test_the_answer_is_that_of_the_timed_kernel_to_the_bit(
    name: str, head_dim: int, shape: dict[str, Any], share: Share
) -> None:
    problem = asked(head_dim, shape)
    plain = held(problem, flash3.program(problem, target(HOPPER), chosen=share), {}, seed=1)
    for one in ("o", "lse"):
        assert _watched(problem, share, 1).found[one].tobytes() == plain[one].tobytes(), name


@needs_compiler
@each_case
def test_clocks_are_in_order_and_no_bars_of_a_lane_overlap(
    name: str, head_dim: int, shape: dict[str, Any], share: Share
) -> None:
    watched = _watched(asked(head_dim, shape), share, 1)
    bars = watched.bars
    assert (bars.end > bars.begin).all()
    assert_in_order(bars)
    assert bars.span_ns >= bars.end.max()
    assert bars.begin.min() >= 0


@needs_compiler
@each_case
def test_every_tile_has_each_of_its_stages_once_and_its_loads(
    name: str, head_dim: int, shape: dict[str, Any], share: Share
) -> None:
    problem = asked(head_dim, shape)
    found = Counter(map(tuple, np.column_stack(_watched(problem, share, 1).bars[3:5]).tolist()))
    told: Counter[tuple[int, ...]] = Counter()
    early = 0
    for head, i, keys, of_groups in expected(problem, share):
        for j in keys:
            told[(LOAD, head, i, j)] += 2
        told[(LOAD, head, i, NO_PLACE)] += bool(keys)
        if keys and found[LOAD, head, i, keys[0]] == 1:  # K of a block's first tile may come with Q
            told[LOAD, head, i, keys[0]] -= 1
            early += 1
        for group in of_groups:
            for j in group:
                for stage in (QK, SOFTMAX, PV):
                    told[(stage, head, i, j)] += 1
            told[(STORE, head, i, NO_PLACE)] += 1
    found = Counter({tile: count for tile, count in found.items() if tile[0] != MERGE})
    assert found == told, name
    blocks = _watched(problem, share, 1).build.program.launches[0].grid
    assert early <= blocks
    assert early or share.draws


@needs_compiler
@each_case
def test_a_tile_lasts_from_its_first_clock_to_the_end_of_its_store_and_its_bars_lie_within(
    name: str, head_dim: int, shape: dict[str, Any], share: Share
) -> None:
    problem = asked(head_dim, shape)
    bars = _watched(problem, share, 1).bars
    lives = zip(bars.block_lane, map(tuple, bars.block), bars.block_begin, bars.block_end, strict=True)
    consumers = sum(bool(group) for tile in expected(problem, share) for group in tile.of_groups)
    assert len(bars.block) == consumers, name
    for lane, block, begin, end in lives:
        own = (bars.lane == lane) & (bars.tile[:, :2] == block).all(axis=1)
        own &= (bars.begin >= begin) & (bars.end <= end)
        taken = (bars.end - bars.begin)[own]
        ordered = np.sort(np.concatenate((bars.begin[own], bars.end[own])))
        waits = np.diff(np.concatenate(([begin], ordered, [end])))[::2].sum()
        assert taken.sum() + waits == end - begin
        assert set(bars.stage[own].tolist()) == {QK, SOFTMAX, PV, STORE}


@needs_compiler
@chosen("name,head_dim,shape,share", [case for case in CASES if case[3].splits > 1], [CASES[11]])
def test_parts_are_merged_on_lanes_of_their_own_after_all_of_them_are_stored(
    name: str, head_dim: int, shape: dict[str, Any], share: Share
) -> None:
    problem = asked(head_dim, shape)
    build, bars = _watched(problem, share, 1).build, _watched(problem, share, 1).bars
    merges, stores = bars.stage == MERGE, bars.stage == STORE
    assert merges.sum() == build.program.launches[1].grid, name
    assert {bars.lanes[lane % len(bars.lanes)].split()[0] for lane in bars.lane[merges]} == {"merge"}
    assert bars.begin[merges].min() >= bars.end[stores].max()
    assert bars.span_ns >= bars.end[merges].max()
    rows = {(head, i) for head, i, *_ in expected(problem, share)}
    assert {tuple(tile) for tile in bars.tile[merges][:, :2].tolist()} == rows


@needs_compiler
def test_a_timeline_of_it_is_written_and_read_again() -> None:
    problem = asked(64, MORE_ROWS)
    build, found = _watched(problem, ALONE, 1)
    request = TimelineRequest(problem=problem, backend="cuda", kernel="flash3", rounds=2)
    device = Device(backend="cuda", name="the emulator", memory_bytes=1 << 30, multiprocessors=SMS)
    timeline = timeline_of(request, build, device, ClockedRounds([70_000, 80_000], [60_000, 65_000], found))
    lanes = (
        "producer",
        "warpgroup 1",
        "warpgroup 2",
    )  # of an SM on which the emulator ran two blocks at once
    assert timeline.lanes == tuple(f"block slot {slot}, {lane}" for slot in (1, 2) for lane in lanes)
    assert decode_timeline(msgspec.msgpack.encode(timeline)) == timeline


@pytest.mark.matrix
@needs_compiler
def test_nothing_is_recorded_that_is_not_told_of() -> None:
    problem = asked(64, CAUSAL)
    rows = _watched(problem, DRAWN_NARROW, 1).found["clock_rows"]
    for tile, number in zip(expected(problem, DRAWN_NARROW), range(len(rows)), strict=True):
        early = rows[number, 0, 1, 2] != 0  # K of the first key tile came with Q, and has no row of its own
        used = [len(tile.keys) + 2 - early, *(len(group) + 2 if group else 1 for group in tile.of_groups)]
        for lane, count in enumerate(used):
            assert rows[number, lane, :count].any(axis=1).all()
            assert not rows[number, lane, count:].any()


@pytest.mark.parametrize(("name", "head_dim", "shape", "share"), CASES)
def test_tiles_are_those_of_which_the_mask_keeps_anything(
    name: str, head_dim: int, shape: dict[str, Any], share: Share
) -> None:
    problem = asked(head_dim, shape)
    q, k = flash3.tiling_of(problem, "flash3", share)[0].tile
    parts: dict[tuple[int, int], list[int]] = {}
    for head, i, keys, of_groups in expected(problem, share):
        assert all(set(group) <= set(keys) for group in of_groups)
        parts.setdefault((head, i), []).extend(keys)
    for (head, i), walked in parts.items():
        rows = slice(i * q, min((i + 1) * q, problem.seqlen_q))
        columns = (slice(j * k, min((j + 1) * k, problem.seqlen_k)) for j in range(-(-problem.seqlen_k // k)))
        kept = [j for j, part in enumerate(columns) if problem.mask.keeps(rows, part)]
        assert sorted(walked) == kept, (name, head)


@needs_compiler
@chosen(
    "step,shape",
    [(step, shape) for step in ("flash3-a", "flash3-b", "flash3-c") for shape in (FULL, CAUSAL, MORE_ROWS)],
    (),
)
def test_a_step_before_flash3_tells_its_own_order(step: str, shape: dict[str, Any]) -> None:
    problem = asked(64, {**shape, "heads": 2})
    usual = Share(usual_shape(problem))
    build = flash3_build(problem, target(HOPPER), usual, step)
    found = held(problem, build.program, build.recorded, seed=1)
    plain = held(problem, flash3.program(problem, target(HOPPER), step, usual), {}, seed=1)
    assert all(found[one].tobytes() == plain[one].tobytes() for one in ("o", "lse"))
    bars = build.bars(found, SMS)
    variant = flash3.tiling_of(problem, step, usual)[0]
    told = Counter(map(tuple, np.column_stack(bars[3:5]).tolist()))
    for head, i, keys, of_groups in tiles(problem, GroupCut(variant.tile, overlap=bool(variant.overlap))):
        computed = Counter(j for group in of_groups for j in group)
        assert step != "flash3-a" or set(computed.values()) <= {len(of_groups)}  # no group leaves tiles out
        for j in keys:
            assert all(told[stage, head, i, j] == computed[j] for stage in (QK, SOFTMAX, PV)), (head, i, j)
    for lane in np.unique(bars.lane[bars.stage == PV]):
        own = bars.lane == lane
        stages, ends, begins = bars.stage[own], bars.end[own], bars.begin[own]
        assert (begins[1:] >= ends[:-1]).all()
        after_softmax = stages[1:][stages[:-1] == SOFTMAX]
        assert step != "flash3-a" or set(after_softmax.tolist()) == {PV}
