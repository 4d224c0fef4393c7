"""The model of the mode Backward: states that come back, sums that add up, and what is traced of what."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.app.stepper.backward import steps as backward_steps
from flashscope.app.stepper.backward.code import backward_formulas, backward_lines, errors_text
from flashscope.app.stepper.backward.recording import SUMS, BackwardRecording, Sums, Weights
from flashscope.app.stepper.backward.requests import (
    FAULTY,
    GIVEN,
    NO_TILE,
    PointBackward,
    backward_of_bar,
    backward_of_point,
    backward_of_trace,
    place_of_bar,
)
from flashscope.app.stepper.backward.steps import PHASES, BackwardStory
from flashscope.app.stepper.backward.view import BackwardView
from flashscope.kernels.cpu.backward_trace import record
from flashscope.kernels.launching import backward_tracing
from flashscope.kernels.workload.backward_trace import BackwardKernel, BackwardTrace, BackwardTraceRequest
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import StageTimeline
from tests.app.fakes import CPU_MACHINE, HOPPER_MACHINE
from tests.app.stepper.builders import random_trace, slide_trace
from tests.profiles.store import builders

NAMES: tuple[Weights, ...] = ("p", "dp", "ds")
GROUPED = Problem(seqlen_q=40, seqlen_k=33, heads=4, kv_heads=2, head_dim=16, causal=True, seed=1)


def traced(problem: Problem = GROUPED, kernel: BackwardKernel = "flash2", **fields: Any) -> BackwardTrace:
    fields = {"block_q": 16, "block_k": 8, **fields}
    return record(BackwardTraceRequest(problem=problem, kernel=kernel, **fields))


def story(trace: BackwardTrace) -> BackwardStory:
    return BackwardStory.of(BackwardRecording.of(trace))


def state(view: BackwardView) -> tuple[Any, ...]:
    """All that a step shows, as bytes."""
    arrays = (*(view.weights(name) for name in NAMES), *map(view.sums, SUMS))
    told = tuple(None if one is None else one.tobytes() for one in arrays)
    return (*told, view.step, view.place, tuple(f.numbers for f in backward_formulas(view)))


@settings(max_examples=15, deadline=None)
@given(
    st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(1, 2)),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_as_many_steps_back_as_forward_restore_every_state(
    shape: tuple[int, int, int], causal: bool, first: bool, added: bool
) -> None:
    rows, keys, group = shape
    problem = Problem(seqlen_q=rows, seqlen_k=keys, heads=group, kv_heads=1, head_dim=16, causal=causal)
    walked = story(traced(problem, "flash1" if first else "flash2"))
    if not walked.recording.tiles:
        return
    cursor, seen = walked.start, []
    while True:
        seen.append(state(BackwardView(walked, cursor, added=added)))
        if cursor.ended:
            break
        cursor = cursor.moved(1)
    for expected in reversed(seen):
        assert state(BackwardView(walked, cursor, added=added)) == expected
        cursor = cursor.moved(-1)


@pytest.mark.parametrize("kernel", ["flash1", "flash2"])
def test_what_tiles_add_makes_up_the_gradients(kernel: BackwardKernel) -> None:
    trace = traced(kernel=kernel, head=1)
    recording = BackwardRecording.of(trace)
    scale = GROUPED.softmax_scale
    found = {name: np.zeros_like(getattr(trace, f"grad_{name[1]}").numpy()) for name in SUMS}
    for t in range(recording.tiles):
        rows, keys = recording.area(t)
        for name in SUMS:
            before, after = recording.before(name, t), recording.after(name, t)
            assert before is not None
            assert after is not None
            place = (recording.at(t).head, rows) if name == "dq" else (keys,)
            found[name][place] += after - before
    for name in SUMS:
        expected = getattr(trace, f"grad_{name[1]}").numpy() / (1 if name == "dv" else scale)
        assert np.allclose(found[name], expected, atol=1e-4), name


def test_a_tile_walks_from_its_load_to_its_sums_and_the_last_of_its_keys_is_written() -> None:
    walked = story(traced())
    steps = walked.timeline.steps
    assert steps[0].phase == "start"
    by_tile = {t: [one.phase for one in steps if one.tile == t] for t in range(walked.recording.tiles)}
    whole = walked.recording.finishes["dv"]
    for t, phases in by_tile.items():
        assert phases == [*PHASES[1:8], *(("write",) if t in whole else ())]
    keys = {int(j) for j in walked.recording.tile[:, 2]}
    assert len(whole) == len(keys)
    assert walked.timeline.tile_ends == tuple(
        max(k for k, one in enumerate(steps) if one.tile == t) for t in by_tile
    )


def test_a_launch_of_dq_alone_is_walked_behind_the_others_in_its_own_tiles() -> None:
    walked = story(builders.backward_trace(apart=True))
    recording = walked.recording
    assert (recording.main, recording.tiles) == (2, 4)
    assert [recording.apart(t) for t in range(4)] == [False, False, True, True]
    phases = [(one.tile, one.phase) for one in walked.timeline.steps]
    assert (1, "dq") not in phases
    assert {phase for tile, phase in phases if tile == 2} == {"load", "weights", "dp", "ds", "dq", "write"}
    assert recording.after("dk", 2) is None
    assert recording.after("dq", 0) is None
    active = [
        line.text
        for line in backward_lines(recording)
        if line.active(walked.timeline.steps[-2], apart=recording.apart(3))
    ]
    assert active == ["dQ<sub>i</sub> += dS K<sub>j</sub>"]


def test_the_formulas_of_a_pair_follow_from_its_numbers() -> None:
    walked = story(traced(head=1))
    at = walked.timeline.tile_ends[2]
    view = BackwardView(walked, walked.start.to(at), (3, 2))
    p, dp, ds, dv, dk, dq = backward_formulas(view)
    trace, place = walked.recording.trace, view.place
    query, key = view.area[0].start + 3, view.area[1].start + 2
    score = trace.q.numpy()[place.head, query] @ trace.k.numpy()[key] * GROUPED.softmax_scale
    weight = np.exp(score - trace.lse.numpy()[place.head, query])
    assert p.numbers.startswith(f"exp({score:.3f}".replace("-", "−"))
    assert p.numbers.endswith(f"= {weight:.3f}")
    assert dv.symbols == f"dV<sub>{key},0</sub>"
    assert dq.symbols == f"dQ<sub>{query},0</sub>"
    assert all(one.numbers for one in (dp, ds, dk))
    started = BackwardView(walked, walked.start.to(1))
    assert [one.numbers for one in backward_formulas(started)] == [""] * 6
    assert backward_formulas(BackwardView(walked, walked.start)) == []


def test_the_errors_are_those_of_what_the_kernel_returned() -> None:
    trace = traced()
    errors = BackwardRecording.of(trace).max_errors
    names: dict[Sums, str] = {"dq": "q", "dk": "k", "dv": "v"}
    for name, letter in names.items():
        ours, exact = (getattr(trace, f"{kind}_{letter}").numpy() for kind in ("grad", "exact"))
        assert errors[name] == np.abs(ours - exact).max() > 0
    assert errors_text(BackwardRecording.of(trace)).startswith("max |gradient − exact|: dQ ")


def test_a_trace_on_show_is_followed_with_its_kernel_its_tiles_and_its_head() -> None:
    trace = random_trace(16, block=4, head_dim=16)
    found = backward_of_trace(trace)
    assert isinstance(found, BackwardTraceRequest)
    assert (found.backend, found.kernel, found.block_q, found.block_k) == ("cpu", "flash2", 4, 4)
    grouped = replace(trace, request=replace(trace.request, problem=GROUPED, head=3))
    found = backward_of_trace(grouped, "flash1")
    assert isinstance(found, BackwardTraceRequest)
    assert (found.kernel, found.head, found.problem.passes) == ("flash1", 1, "backward")


def test_on_a_gpu_it_is_a_timed_kernels_in_16_bits() -> None:
    trace = random_trace(16, block=4, head_dim=64)
    of_gpu = replace(trace, request=replace(trace.request, backend="cuda"))
    found = backward_of_trace(of_gpu)
    assert isinstance(found, BackwardTraceRequest)
    assert (found.backend, found.kernel, found.problem.dtype) == ("cuda", "flash2", "float16")
    assert "cpu" in str(backward_of_trace(trace, "flash3"))
    here = backward_of_trace(trace, "flash3", gpu=True)
    assert isinstance(here, BackwardTraceRequest)
    assert (here.backend, here.kernel, here.problem.dtype) == ("cuda", "flash3", "float16")


def test_given_scores_and_faults_have_no_backward_pass_and_say_why() -> None:
    assert backward_of_trace(slide_trace()) == GIVEN
    trace = random_trace(16, block=4, head_dim=16)
    broken = replace(trace, request=replace(trace.request, fault="no-rescale"))
    assert backward_of_trace(broken) == FAULTY
    narrow = random_trace(16, block=4, head_dim=2)
    assert "takes head dims 16 to 256" in str(backward_of_trace(narrow))


BF16 = Problem(
    seqlen_q=4096,
    seqlen_k=4096,
    batch=2,
    heads=16,
    kv_heads=4,
    head_dim=64,
    dtype="bfloat16",
    passes="backward",
)


def test_a_point_is_traced_whole_on_a_gpu_that_has_room() -> None:
    short = replace(BF16, seqlen_q=512, seqlen_k=512)
    found = backward_of_point("flash3", short, "cuda", HOPPER_MACHINE)
    assert isinstance(found, PointBackward)
    assert found.request == BackwardTraceRequest(problem=short, backend="cuda", kernel="flash3")
    assert found.changes == ()


@pytest.mark.parametrize("machine", [None, CPU_MACHINE, HOPPER_MACHINE], ids=["unknown", "no GPU", "no room"])
def test_a_point_without_a_gpu_or_room_is_shortened_on_the_cpu_and_says_what_changed(machine: Any) -> None:
    found = backward_of_point("flash3", BF16, "cuda", machine)
    assert isinstance(found, PointBackward)
    request, problem = found.request, found.request.problem
    assert (request.backend, request.kernel, problem.dtype) == ("cpu", "flash2", "float32")
    assert (problem.heads, problem.kv_heads, problem.seqlen_k) == (2, 1, 256)
    backward_tracing.check_backward_traceable(request)
    for told in ("On the CPU", "flash2 in the place of flash3", "One K/V head of 8", "float32", "N = 256"):
        assert told in found.words


def test_a_point_of_a_head_that_no_cpu_traces_says_why() -> None:
    found = backward_of_point("flash2", replace(BF16, head_dim=8), "cpu", CPU_MACHINE)
    assert isinstance(found, str)
    assert "head dims" in found


def bars(**fields: Any) -> StageTimeline:
    known = builders.timeline()
    shape: dict[str, Any] = {"seqlen_q": 256, "seqlen_k": 256, "heads": 4, "kv_heads": 2, "head_dim": 64}
    problem = Problem(**shape, dtype="float16", passes="backward")
    request = replace(known.request, problem=problem, backend="cuda", kernel="flash3")
    return replace(known, request=request, block_q=64, block_k=128, **fields)


def test_a_bar_of_a_backward_pass_leads_to_its_tile_on_the_gpu_or_in_the_same_tiles_on_the_cpu() -> None:
    found = backward_of_bar(bars(), (3, 1, 0), HOPPER_MACHINE)
    assert isinstance(found, BackwardTraceRequest)
    assert (found.backend, found.kernel, found.head) == ("cuda", "flash3", 1)
    assert place_of_bar(bars(), (3, 1, 0)) == (1, 1, 0)
    here = backward_of_bar(bars(), (3, 1, 0), CPU_MACHINE)
    assert isinstance(here, BackwardTraceRequest)
    assert (here.backend, here.kernel, here.block_q, here.block_k) == ("cpu", "flash2", 64, 128)
    assert BackwardRecording.of(record(here)).find((1, 1, 0)) is not None
    assert backward_of_bar(bars(), (3, -1, 0), CPU_MACHINE) == NO_TILE


def test_colours_end_where_most_numbers_do_and_those_of_p_at_its_largest() -> None:
    trace = traced()
    recording = BackwardRecording.of(trace)
    assert recording.limit("p") == trace.p.numpy().max()
    sizes = np.abs(trace.ds.numpy())
    inside = (sizes <= recording.limit("ds")).sum() - (sizes == 0).sum()
    assert 0.98 < inside / (sizes != 0).sum() < 1
    nothing = BackwardRecording.of(builders.backward_trace())
    assert nothing.limit("dk") == 1


def test_a_trace_is_laid_out_without_making_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    walked = story(traced())
    writes = tuple(k for k, one in enumerate(walked.timeline.steps) if one.phase == "write")

    def refuse(*_given: object) -> None:
        raise AssertionError("a step was made that nobody looked at")

    monkeypatch.setattr(backward_steps, "BackwardStep", refuse)
    again = story(traced())
    cursor = again.start.next_tile().to(again.timeline.tile_ends[-1])
    assert cursor.ended
    assert again.timeline.writes == writes


def test_a_small_gradient_is_not_told_as_0() -> None:
    walked = story(traced(Problem(seqlen_q=1, seqlen_k=1, heads=1, head_dim=16), block_q=1, block_k=1))
    view = BackwardView(walked, walked.start.to(walked.timeline.tile_ends[0]))
    ends = {one.symbols[:2]: one.numbers.rpartition("= ")[2] for one in backward_formulas(view)[3:]}
    sums = {"dV": "dv", "dK": "dk", "dQ": "dq"}
    for shown, told in ends.items():
        after = walked.recording.after(sums[shown], 0)  # type: ignore[arg-type]  # these are names of sums
        assert after is not None
        assert (told == "0") == (float(after[0, 0]) == 0)
        assert told != "0.000"
