"""A point of a sweep as it is traced: which kernel stands for it, and what is said of what was changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.app.stepper.from_point import again, is_of, stand_in_for, trace_of_point
from flashscope.app.stepper.point_timeline import (
    BACKWARD,
    CLOCKED,
    ROUNDS,
    timeline_of_point,
    why_no_timeline,
)
from flashscope.app.stepper.presets import MAX_SEQLEN
from flashscope.kernels.catalogue.registry import KERNELS, find_kernel
from flashscope.kernels.cpu.stages import check_clocked
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.timeline import ClockedKernel
from tests.app.fakes import CPU_MACHINE, GPU_MACHINE, HOPPER_MACHINE

LONG = Problem(
    seqlen_q=16384, seqlen_k=16384, batch=2, heads=16, head_dim=128, dtype="float16", causal=True, seed=7
)
SHORT = Problem(seqlen_q=256, seqlen_k=256)
NAMES = [spec.name for spec in KERNELS]
problems = st.builds(
    Problem,
    seqlen_q=st.integers(1, 3000),
    seqlen_k=st.integers(1, 3000),
    batch=st.integers(1, 4),
    heads=st.sampled_from([2, 8]),
    kv_heads=st.sampled_from([None, 1, 2]),
    head_dim=st.sampled_from([16, 40, 64, 128, 256]),
    dtype=st.sampled_from(["float32", "float16", "bfloat16"]),
    causal=st.booleans(),
    window=st.none() | st.tuples(st.integers(-1, 3000), st.integers(-1, 3000)),
    seed=st.integers(0, 9),
)


def test_a_short_problem_of_a_cpu_is_traced_as_it_is_but_for_its_tiles() -> None:
    found = trace_of_point("flash1", SHORT, "cpu", CPU_MACHINE)
    assert found.request.problem == SHORT
    assert (found.request.order, found.request.backend) == ("flash1", "cpu")
    assert found.words == "Inside flash1 at N = 256. Tiles of 32 × 32, so that there are several."


def test_a_problem_whose_scores_are_capped_is_traced_with_plain_ones_and_says_so() -> None:
    scored = replace(SHORT, softcap=50.0, alibi=True)
    found = trace_of_point("flash2", scored, "cpu", CPU_MACHINE)
    assert found.request.problem == SHORT
    assert "Without softcapped scores and ALiBi's bias, which only the timed kernels compute." in found.words
    assert timeline_of_point("flash2", scored, "cpu", CPU_MACHINE).request.problem == SHORT


def test_all_that_is_changed_of_a_long_one_of_a_gpu_is_said_with_the_reason() -> None:
    found = trace_of_point("flash2", LONG, "cuda", CPU_MACHINE)
    assert found.request.problem == replace(
        LONG, seqlen_q=512, seqlen_k=512, batch=1, heads=1, dtype="float32"
    )
    assert found.changes == (
        "On the CPU: there is no GPU here that can be used.",
        "N = 512 in the place of 16,384: a trace keeps every score of a head.",
        "One head of 16, of 2 sequences.",
        "float32 in the place of float16: a CPU traces in that alone.",
        "Tiles of 32 × 32, so that there are several.",
    )


def test_a_gpu_traces_its_own_points_as_they_are_timed_but_not_while_it_measures() -> None:
    found = trace_of_point("flash3", LONG, "cuda", GPU_MACHINE)
    assert (found.request.backend, found.request.kernel) == ("cuda", "flash3")
    assert found.request.problem.dtype == "float16"
    assert not found.stand_in.why
    busy = trace_of_point("flash3", LONG, "cuda", GPU_MACHINE, measuring=True)
    assert busy.request.backend == "cpu"
    assert busy.changes[0] == "On the CPU: the GPU measures."


DECODING = Problem(
    seqlen_q=1,
    seqlen_k=16384,
    batch=4,
    heads=32,
    kv_heads=8,
    head_dim=128,
    dtype="float16",
    page_size=16,
    key_lengths=(0, 900, 16384, 77),
)
MASK = BlockMask.of([[i == j for j in range(4)] for i in range(4)], 128, 128)


@pytest.mark.parametrize(
    ("kernel", "problem", "head"),
    [
        ("flash3", DECODING, 32),
        ("flash2", DECODING, 32),
        ("flash3", replace(LONG, seqlen_q=1024, seqlen_k=2048), 0),
        ("flash3-fp8", replace(LONG, seqlen_q=1024, seqlen_k=2048), 0),
        ("flash1", replace(LONG, seqlen_q=1024, seqlen_k=2048), 0),
    ],
)
def test_a_gpu_traces_the_kernel_on_the_points_whole_problem_where_it_has_room(
    kernel: str, problem: Problem, head: int
) -> None:
    found = trace_of_point(kernel, problem, "cuda", HOPPER_MACHINE)
    assert (found.request.kernel, found.request.problem, found.request.head) == (kernel, problem, head)
    assert not found.changes
    assert found.words.startswith(f"Inside {kernel} at N = ")
    assert found.words.endswith("4.") or found.words.endswith("8.")
    assert not found.lack


def test_one_without_room_is_shorter_and_launched_with_all_its_heads() -> None:
    found = trace_of_point("flash3", LONG, "cuda", HOPPER_MACHINE)
    assert found.request.problem == replace(LONG, seqlen_q=512, seqlen_k=512)
    assert found.changes == ("N = 512 in the place of 16,384: a trace keeps every score of a head.",)


def test_before_flash3_under_a_block_mask_flash2_stands() -> None:
    masked = replace(LONG, seqlen_q=512, seqlen_k=512, block_mask=MASK)
    found = trace_of_point("flash3", masked, "cuda", HOPPER_MACHINE)
    assert found.request.kernel == "flash2"
    assert "flash3 has no trace under a block mask" in found.words


@pytest.mark.parametrize(
    ("kernel", "here", "shown", "said"),
    [
        (
            "flash3",
            "cpu",
            "flash2",
            "flash3 has no trace on a CPU; flash2, which it goes on from, stands near",
        ),
        (
            "flash3-fp8",
            "cpu",
            "flash2",
            "flash3-fp8 has no trace on a CPU; flash2, which it goes on from, stands near",
        ),
        (
            "flash3-a",
            "cuda",
            "flash2",
            "flash3-a has no trace; flash2, which it goes on from, stands nearest.",
        ),
        ("simt", "cuda", "flash2", "simt has no trace; flash2 stands nearest."),
        ("torch-cudnn", "cuda", "flash2", "torch-cudnn lets nobody look inside; flash2 stands nearest."),
        (
            "torch-math",
            "cpu",
            "standard",
            "torch-math lets nobody look inside; standard stands nearest: Lanes",
        ),
        (
            "standard",
            "cpu",
            "standard",
            "standard has no tiles to step through: Lanes shows it beside flash1",
        ),
        ("flash9", "cpu", "flash2", "This version knows no flash9; flash2 stands nearest."),
    ],
)
def test_a_kernel_that_no_trace_shows_has_the_nearest_one_in_its_place(
    kernel: str, here: Backend, shown: str, said: str
) -> None:
    found = stand_in_for(kernel, LONG, here)
    assert found.kernel == shown
    assert found.why.startswith(said)


def test_a_recording_is_named_that_has_the_kernel_as_it_is_timed() -> None:
    told = trace_of_point("flash3", LONG, "cuda", CPU_MACHINE, recorded="H100 inside").words
    assert told.endswith("As it is timed on a GPU flash3 is traced in the recording “H100 inside”.")
    for here in (trace_of_point("flash3", LONG, "cuda", GPU_MACHINE, recorded="H100 inside"),):
        assert "H100" not in here.words
    assert "H100" not in trace_of_point("simt", LONG, "cuda", CPU_MACHINE, recorded="H100 inside").words


def test_few_queries_stay_few_and_a_wide_window_becomes_as_much_less_as_n() -> None:
    decoding = replace(LONG, seqlen_q=1, causal=False, window=(4096, 0))
    found = trace_of_point("flash2", decoding, "cpu", CPU_MACHINE)
    problem = found.request.problem
    assert (problem.seqlen_q, problem.seqlen_k, problem.window) == (1, 512, (128, 0))
    assert "Window 128, 0 in the place of 4096, 0: as much less as N." in found.changes
    narrow = trace_of_point("flash2", replace(decoding, window=(100, 0)), "cpu", CPU_MACHINE)
    assert narrow.request.problem.window == (100, 0)


def test_a_block_mask_stays_where_n_does() -> None:
    mask = BlockMask.of([[True, False], [True, True]], 128, 128)
    kept = trace_of_point("flash2", replace(SHORT, block_mask=mask), "cpu", CPU_MACHINE)
    assert kept.request.problem.block_mask == mask


def test_lengths_pages_and_the_backward_pass_are_left_out_and_said() -> None:
    uneven = replace(LONG, causal=False, key_lengths=(100, 16384), passes="both")
    found = trace_of_point("flash2", uneven, "cuda", None)
    assert found.request.problem.even
    assert not found.lack
    assert "The forward pass alone." in found.changes
    assert "One sequence that fills its arrays, without lengths and pages." in found.changes


@given(st.sampled_from(NAMES), problems, st.sampled_from(["cpu", "cuda"]), st.booleans())
def test_whatever_was_measured_can_be_traced_with_its_head_dim_and_mask(
    kernel: str, problem: Problem, backend: Backend, gpu: bool
) -> None:
    found = trace_of_point(kernel, problem, backend, GPU_MACHINE if gpu else CPU_MACHINE)
    traced = found.request.problem
    assert not found.lack
    assert max(traced.seqlen_q, traced.seqlen_k) <= MAX_SEQLEN
    assert (traced.head_dim, traced.causal, traced.seed) == (problem.head_dim, problem.causal, problem.seed)
    assert (traced.window is None) == (problem.window is None)
    for name in ("seqlen_q", "seqlen_k", "dtype"):
        if getattr(traced, name) != getattr(problem, name):
            assert any(" in the place of " in said for said in found.changes), name
    assert is_of(found.request, found)


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
def test_the_same_head_is_traced_in_the_other_order_and_on_the_other_backend(backend: Backend) -> None:
    found = trace_of_point("flash2", LONG, "cuda", GPU_MACHINE)
    other = again(found, backend, "flash1")
    assert (other.order, other.backend) == ("flash1", backend)
    assert other.kernel == ("flash1" if backend == "cuda" else "")
    assert is_of(other, found)
    assert other.problem.dtype == ("float32" if backend == "cpu" else "float16")
    assert again(found, "cuda", "flash2") == found.request
    assert not is_of(replace(found.request, problem=SHORT), found)


def test_a_timeline_is_recorded_on_the_cpu_in_some_seconds_and_what_that_changes_is_said() -> None:
    found = timeline_of_point("flash1", LONG, "cuda", CPU_MACHINE)
    problem = found.request.problem
    assert (problem.seqlen_k, problem.heads, problem.batch, problem.dtype) == (4096, 8, 1, "float32")
    assert (found.request.kernel, found.request.rounds) == ("flash1", ROUNDS[4096])
    assert found.words == (
        "A timeline of flash1 at N = 16,384. "
        "On the CPU: no GPU is usable here. "
        "N = 4,096 in the place of 16,384: "
        "longer ones take minutes on a CPU. "
        "float32 in the place of float16: a CPU's kernels have that alone. 8 heads of 32."
    )


def test_on_a_gpu_a_point_of_it_is_recorded_there_in_its_dtype() -> None:
    found = timeline_of_point("flash3", LONG, "cuda", GPU_MACHINE)
    problem = found.request.problem
    assert (found.request.backend, found.request.kernel, problem.dtype) == ("cuda", "flash3", "float16")
    assert (problem.seqlen_k, problem.heads, problem.batch) == (4096, 16, 1)
    assert found.words == (
        "A timeline of flash3 at N = 16,384. "
        "N = 4,096 in the place of 16,384: "
        "longer ones have too many bars. 16 heads of 32."
    )


def test_a_backward_pass_of_a_gpu_is_recorded_as_such_where_it_has_clocks() -> None:
    backward = replace(LONG, passes="backward")
    found = timeline_of_point("flash3", backward, "cuda", GPU_MACHINE)
    assert (found.request.problem.passes, found.request.problem.heads) == ("backward", 8)
    assert "forward pass" not in found.words
    wide = timeline_of_point("flash3", replace(backward, head_dim=256), "cuda", GPU_MACHINE)
    assert wide.request.problem.passes == "forward"
    assert "The forward pass alone." in wide.changes
    assert timeline_of_point("flash2", backward, "cuda", CPU_MACHINE).request.problem.passes == "forward"


def test_pages_and_heads_that_share_keys_stay_as_they_are_on_a_gpu() -> None:
    decoding = replace(LONG, seqlen_q=1, heads=32, kv_heads=8, batch=1, page_size=64)
    problem = timeline_of_point("flash3", decoding, "cuda", GPU_MACHINE).request.problem
    assert (problem.seqlen_q, problem.seqlen_k, problem.page_size) == (1, 4096, 64)
    assert (problem.heads, problem.kv_heads) == (16, 4)
    wide = timeline_of_point("flash3", replace(decoding, kv_heads=1), "cuda", GPU_MACHINE).request.problem
    assert (wide.heads, wide.kv_heads) == (16, 1)
    more_rows = replace(decoding, seqlen_q=10_000, seqlen_k=960)
    cut = timeline_of_point("flash3", more_rows, "cuda", GPU_MACHINE)
    assert (cut.request.problem.seqlen_k, cut.request.problem.page_size) == (393, None)
    assert "Without pages, which its keys no longer fill." in cut.changes
    ragged = replace(decoding, key_lengths=(100,))
    found = timeline_of_point("flash3", ragged, "cuda", GPU_MACHINE)
    assert found.request.problem.page_size is None
    assert "One sequence that fills its arrays, without lengths and pages." in found.changes


def test_flash1_of_a_gpu_is_recorded_there() -> None:
    found = timeline_of_point("flash1", replace(SHORT, dtype="float16"), "cuda", GPU_MACHINE)
    assert (found.request.backend, found.request.problem.dtype) == ("cuda", "float16")


def test_flash1_of_a_gpu_that_does_not_run_it_is_recorded_on_the_cpu_and_says_why() -> None:
    (gpu,) = (one for one in GPU_MACHINE.devices if one.backend == "cuda")
    others = [one for one in GPU_MACHINE.devices if one is not gpu]
    old = replace(GPU_MACHINE, devices=(replace(gpu, compute_capability=(7, 0)), *others))
    found = timeline_of_point("flash1", SHORT, "cuda", old)
    assert found.request.backend == "cpu"
    assert found.changes[0] == "On the CPU: on a GPU flash1 has no build with clocks here."


@given(st.sampled_from(["flash1", "flash2", "flash3"]), problems, st.sampled_from(["cpu", "cuda"]))
def test_whatever_was_measured_can_be_recorded(
    kernel: ClockedKernel, problem: Problem, backend: Backend
) -> None:
    found = timeline_of_point(kernel, problem, backend, GPU_MACHINE)
    if found.request.backend == "cpu":
        check_clocked(find_kernel(kernel), found.request.problem)
    else:
        asked = found.request.problem
        assert (asked.query_lengths, asked.key_lengths) == (None, None)
        clocked = problem.passes == "backward" and problem.head_dim <= BACKWARD.get(kernel, 0)
        assert (asked.block_mask, asked.passes) == (None, "backward" if clocked else "forward")
        assert asked.dtype != "float32"
    assert max(found.request.problem.seqlen_q, found.request.problem.seqlen_k) <= max(ROUNDS)
    assert found.request.problem.head_dim == problem.head_dim


@pytest.mark.parametrize("kernel", NAMES)
def test_a_kernel_without_clocks_says_which_have_them(kernel: str) -> None:
    for machine, clocked in (
        (CPU_MACHINE, {"flash1", "flash2"}),
        (GPU_MACHINE, {*CLOCKED["cpu"], *CLOCKED["cuda"]}),
    ):
        told = why_no_timeline(kernel, machine)
        assert bool(told) == (kernel not in clocked)
        assert not told or all(one in told for one in (*CLOCKED["cpu"], *CLOCKED["cuda"]))
