"""Lanes: three kernels in lock-step whose counters end at the formulas' totals."""

from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.app.stepper import lane_state
from flashscope.app.stepper.choice import RowChoice
from flashscope.app.stepper.cursor import Cursor
from flashscope.app.stepper.lane_state import WholeMatrices
from flashscope.app.stepper.lanes import LaneKey, StandardLane
from flashscope.app.stepper.lock_step import LockStep, beside, is_beside, under
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.step_view import SteppedTrace
from flashscope.kernels.catalogue.traffic import Tiles, flash1_io, flash2_io, matrices, standard_io
from flashscope.kernels.cpu.trace import record
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import TraceRequest
from tests.app.stepper.builders import build_trace, random_trace, slide_trace

IO: Mapping[LaneKey, Callable[[Problem, Tiles], int]] = {
    "standard": standard_io,
    "flash1": flash1_io,
    "flash2": flash2_io,
}


@st.composite
def requests(draw: st.DrawFn) -> TraceRequest:
    """Odd shapes, ragged tiles, any mask."""
    rows, keys = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    window = draw(st.none() | st.tuples(st.integers(0, 40), st.integers(0, 40)))
    problem = Problem(
        seqlen_q=rows,
        seqlen_k=keys,
        head_dim=draw(st.integers(1, 9)),
        causal=draw(st.booleans()),
        window=window,
        seed=draw(st.integers(0, 9)),
    )
    return TraceRequest(
        problem=problem,
        order=draw(st.sampled_from(("flash1", "flash2"))),
        block_q=draw(st.integers(1, 16)),
        block_k=draw(st.integers(1, 16)),
        reverse=draw(st.booleans()),
    )


def lock_step(request: TraceRequest) -> LockStep:
    return LockStep.of(Recording.of(record(request)))


@given(requests())
def test_at_the_end_the_counter_of_each_lane_is_the_formulas_total(request: TraceRequest) -> None:
    lanes = lock_step(request).lanes
    tiles = Tiles(request.block_q, request.block_k)
    assert {key: lane.total for key, lane in lanes.items()} == {
        key: io(request.problem, tiles) for key, io in IO.items()
    }


@pytest.mark.matrix
@given(requests())
def test_the_bytes_of_the_trace_on_show_are_those_of_its_lane_in_every_mode(request: TraceRequest) -> None:
    of, blocks = lock_step(request), SteppedTrace.of(Recording.of(record(request)))
    lane = of.lanes["flash1" if request.order == "flash1" else "flash2"]
    assert [lane.moved(at) for at in range(len(of.timeline.steps))] == list(of.traffic)
    assert blocks.traffic[-1] == of.traffic[-1]


@given(requests())
def test_lanes_go_in_step_and_none_takes_back_what_it_moved(request: TraceRequest) -> None:
    of = lock_step(request)
    steps = len(of.timeline.steps)
    assert steps == 1 + 6 * of.recording.tiles
    for lane in of.lanes.values():
        assert len(lane.read) == len(lane.written) == steps
        assert (np.diff(lane.read) >= 0).all()
        assert (np.diff(lane.written) >= 0).all()
        visited = [lane.place(at)[:4] for at in range(1, steps)]
        assert {place[1:3] for place in visited} == {tuple(tile) for tile in of.recording.tile.tolist()}


@pytest.mark.matrix
@given(requests())
def test_s_and_p_are_whole_in_memory_when_their_pass_is_over_and_never_anywhere_else(
    request: TraceRequest,
) -> None:
    of = lock_step(request)
    s, p = matrices(request.problem, Tiles(request.block_q, request.block_k))
    third = 2 * of.recording.tiles
    held = [{one.label: one.filled for one in of.lanes["standard"].stored(at * third)} for at in (0, 1, 2, 3)]
    assert [one["S"] for one in held] == [0, s.written, s.written, s.written]
    assert [one["P"] for one in held] == [0, 0, p.written, p.written]
    for key in ("flash1", "flash2"):
        assert not {"S", "P"} & {one.label for one in of.lanes[key].stored(third)}


@pytest.mark.matrix
@given(requests())
def test_at_the_end_each_lane_has_written_the_whole_output(request: TraceRequest) -> None:
    of = lock_step(request)
    problem = request.problem
    for lane in of.lanes.values():
        (o,) = (one for one in lane.stored(-1) if one.label == "O")
        assert o.filled == o.nbytes == problem.seqlen_q * problem.head_dim * problem.itemsize


def test_n_steps_forward_and_n_back_restore_the_state_of_every_lane() -> None:
    of = LockStep.of(Recording.of(random_trace(20, block=8, causal=True)))

    def state(cursor: Cursor) -> list[object]:
        at = cursor.at
        lanes = of.lanes.values()
        return [(one.place(at), one.moved(at), one.on_chip(at), one.stored(at)) for one in lanes]

    cursor = Cursor(of.timeline).to(11)
    before = state(cursor)
    there = cursor.moved(17)
    assert state(there) != before
    assert state(there.moved(-17)) == before


def test_a_fused_lane_holds_a_tile_and_standard_no_more() -> None:
    of = LockStep.of(Recording.of(random_trace(64, block=8, head_dim=8)))
    steps = range(len(of.timeline.steps))
    most = {
        key: max(sum(held.nbytes for held in lane.on_chip(at)) for at in steps)
        for key, lane in of.lanes.items()
    }
    tile, state = 8 * 8 * 4, 8 * (8 + 2) * 4
    assert most["flash1"] == most["flash2"] == 4 * tile + state
    assert most["standard"] == 3 * tile


def test_s_leaves_with_its_first_tile_and_comes_back_when_the_last_one_is_done() -> None:
    of = LockStep.of(Recording.of(random_trace(24, block=8)))
    told = [of.remark(at, "HBM") for at in range(len(of.timeline.steps))]
    changes = {at: told[at] for at in range(1, len(told)) if told[at] != told[at - 1]}
    assert changes == {
        2: "S leaves for HBM.",
        7: "",  # said to the end of its tile
        19: "S comes back from HBM.",
        20: "S comes back from HBM. P leaves for HBM.",
        25: "",
        37: "P comes back from HBM.",
        43: "",
    }
    standard = of.lanes["standard"]
    assert [standard.place(at).phase for at in (2, 18, 19, 36, 37, 54)] == [
        "scores",
        "scores",
        "softmax",
        "softmax",
        "output",
        "output",
    ]
    assert [event.at for event in of.events(RowChoice(), 0.5) if event.kind == "passes"] == [2, 19, 20, 37]


def test_the_sentence_has_what_each_has_moved_and_how_many_times_as_much_that_is() -> None:
    of = LockStep.of(Recording.of(random_trace(24, block=8, head_dim=8)))
    assert of.sentence(0) == "Before tile 1 of 9 nothing has moved."
    # S of 24 x 24 is written and read, and so is P: 4 x 2304 B. Q, K, V of 9 tiles of 256 B each, O and LSE.
    standard = 4 * 2304 + 3 * 9 * 256 + 24 * 8 * 4 + 24 * 4
    flash2 = 2 * 9 * 256 + 2 * 24 * 8 * 4 + 24 * 4
    assert (standard, flash2) == (16992, 6240)
    assert of.sentence(54).startswith(
        "With tile 9 of 9 done by flash1 and flash2, standard has moved 17.0 kB, flash1 "
    )
    assert of.sentence(54).endswith(" and flash2 6.24 kB: standard 2.72× as much as flash2.")
    assert of.sentence(49).startswith("With flash1 and flash2 in tile 9 of 9, ")
    assert of.short_sentence(0) == "Before tile 1 of 9 nothing has moved."
    assert of.short_sentence(54) == (
        "After tile 9 of 9 flash2 has moved 6.24 kB, standard 17.0 kB, 2.72× as much, by the model."
    )


@pytest.mark.parametrize("order", ["flash1", "flash2"])
def test_the_trace_beside_is_of_the_other_order_and_the_same_inputs(order: str) -> None:
    mine = slide_trace(order="flash1" if order == "flash1" else "flash2")
    asked = beside(mine)
    other = build_trace(asked)
    assert asked.order != mine.request.order
    assert is_beside(mine, other)
    assert not is_beside(mine, mine)
    assert not is_beside(mine, random_trace(4, block=2))


def test_what_a_gpu_computed_in_16_bits_is_walked_beside_it_on_the_cpu_and_counted_in_16_bits() -> None:
    problem = Problem(seqlen_q=12, seqlen_k=12, head_dim=4, dtype="float16")
    request = TraceRequest(problem=problem, backend="cuda", kernel="flash2", block_q=4, block_k=4)
    mine = build_trace(request)
    other = record(beside(mine))
    assert (other.request.backend, other.request.kernel, other.request.order) == ("cpu", "", "flash1")
    assert is_beside(mine, other)
    assert under(mine, other).problem == problem
    lanes = LockStep.of(Recording.of(mine)).lanes
    assert lanes["flash1"].total == flash1_io(problem, Tiles(4, 4))


def test_the_steps_of_a_tile_end_before_those_of_the_next_begin() -> None:
    of = LockStep.of(Recording.of(random_trace(24, block=8, causal=True, order="flash1")))
    places = [step.place for step in of.timeline.steps]
    assert all(a < b for a, b in pairwise(places))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_a_row_of_standard_is_known_after_its_softmax_and_ends_at_the_exact_output(
    causal: bool, reverse: bool
) -> None:
    trace = random_trace(20, block=8, causal=causal, reverse=reverse)
    recording = Recording.of(trace)
    of, whole = LockStep.of(recording), WholeMatrices.of(recording)
    lane, choice = of.lanes["standard"], RowChoice(9, follow=False)
    assert isinstance(lane, StandardLane)
    rows = [whole.row(lane, at, choice) for at in range(len(of.timeline.steps))]
    known = [row.m is not None for row in rows]
    outputs = [row.o is not None for row in rows]
    assert known == sorted(known)
    assert outputs == sorted(outputs)
    first = lane.place(known.index(True))
    assert (first.phase, first.i, first.writes) == ("softmax", 1, True)
    assert lane.place(outputs.index(True))[1:4:2] == (1, "output")
    assert rows[-1].o == pytest.approx(float(recording.exact[9, 0]), abs=1e-6)
    top = recording.scores(int(recording.order_of_tile[1].max()))[1]
    assert rows[-1].m is not None
    assert rows[-1].m >= top.max() - 1e-6
    lse = float(recording.trace.exact_lse.numpy()[9])
    assert rows[-1].m + np.log(rows[-1].l or 0.0) == pytest.approx(lse, abs=1e-5)


def test_of_a_large_matrix_a_cell_stands_for_the_largest_of_a_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = Recording.of(random_trace(20, block=8, causal=True))
    cells = WholeMatrices.of(recording)
    monkeypatch.setattr(lane_state, "MOST_CELLS", 1)
    tiles = WholeMatrices.of(recording)
    assert tiles.s.shape == tiles.p.shape == (3, 3)
    for i, j in np.ndindex(3, 3):
        part = slice(8 * i, 8 * i + 8), slice(8 * j, 8 * j + 8)
        assert tiles.s[i, j] == cells.s[part].max()
        assert tiles.p[i, j] == pytest.approx(cells.p[part].max(), rel=1e-5)
