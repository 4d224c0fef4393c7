"""Other scales and sizes that a kernel of one's own is asked for: what they hold, and which they are."""

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.launching.passes import draw_given
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.worker.vetting.other_size import UNUSUAL, other_scales, other_sizes
from flashscope.profiles.worker.vetting.scales import LARGE_SCORE, draw_large, draw_small

PROBLEM = Problem(seqlen_q=40, seqlen_k=60, batch=2, heads=4, kv_heads=2, head_dim=64)
CPU = Device(backend="cpu", name="a CPU", memory_bytes=1 << 34)
GPU = Device(backend="cuda", name="H200", memory_bytes=1 << 37, compute_capability=(9, 0))


@settings(max_examples=25)
@drawn(
    rows=st.integers(1, 50),
    keys=st.integers(1, 70),
    causal=st.booleans(),
    window=st.none() | st.tuples(st.integers(-1, 9), st.integers(-1, 9)),
    scale=st.sampled_from([None, 0.3, -0.125]),
)
def test_of_large_values_each_row_has_one_score_of_its_keys_far_above_all_others(
    rows: int, keys: int, causal: bool, window: tuple[int, int] | None, scale: float | None
) -> None:
    problem = replace(PROBLEM, seqlen_q=rows, seqlen_k=keys, causal=causal, window=window, scale=scale)
    given, mask = draw_given(problem, "cpu"), problem.mask
    draw_large(problem, given, np.random.default_rng(0))
    q, k, v = given.inputs.qkv
    scores = q @ np.repeat(k, 2, axis=1).swapaxes(-1, -2) * problem.softmax_scale
    assert 10 < abs(v).std() < 100 or v.size < 1000
    for row in range(rows):
        kept = scores[:, :, row, list(mask.band(row))]
        if kept.shape[-1] == 0:
            continue
        first = kept.max(axis=-1)
        assert (first > LARGE_SCORE / 4).all()
        assert (np.ptp(np.sort(kept, axis=-1)[..., -2:], axis=-1) > 500).all() or kept.shape[-1] == 1


def test_small_values_are_a_64th_of_the_usual_ones() -> None:
    given = draw_given(PROBLEM, "cpu")
    draw_small(PROBLEM, given, np.random.default_rng(0))
    assert all(abs(array.std() * 64 - 1) < 0.1 for array in given.inputs.qkv)


def sizes(problem: Problem, device: Device, multiple: int = 1) -> list[tuple[int, int]]:
    found = list(other_sizes(problem, device, multiple))
    assert all(one.heads // one.key_heads == 2 for one in found)
    return [(one.seqlen_q, one.seqlen_k) for one in found]


def test_other_sizes_are_short_and_odd_and_on_a_gpu_half_of_the_rows_where_that_is_a_multiple() -> None:
    square = replace(PROBLEM, seqlen_q=1024, seqlen_k=1024)
    short = [(1, 1), (63, 63), (65, 65)]
    assert sizes(square, CPU) == [(67, 131), *short]
    assert sizes(square, GPU) == [(512, 1024), *short]
    assert sizes(replace(square, seqlen_q=1000, seqlen_k=1000), GPU) == short


def test_a_few_rows_that_ask_for_many_keys_stay_few() -> None:
    assert sizes(replace(PROBLEM, seqlen_q=1, seqlen_k=4096), GPU) == [(1, 1), (1, 63), (1, 65)]


def test_lengths_are_multiples_of_what_a_kernel_declares() -> None:
    assert sizes(replace(PROBLEM, seqlen_q=1024, seqlen_k=1024), GPU, 64)[1:] == [(64, 64), (128, 128)]


@pytest.mark.parametrize("length", [1, 63, 65])
def test_the_size_that_was_asked_for_is_no_other(length: int) -> None:
    assert (length, length) not in sizes(replace(PROBLEM, seqlen_q=length, seqlen_k=length), GPU)


def test_a_kernel_is_asked_at_another_scale_with_few_heads_and_at_a_length_that_it_takes() -> None:
    asked = replace(PROBLEM, seqlen_q=1024, seqlen_k=1024, batch=8, heads=32, kv_heads=16, scale=0.3)
    (one,) = other_scales(asked, 64)
    assert (one.seqlen_q, one.seqlen_k, one.batch, one.heads, one.kv_heads) == (128, 128, 2, 4, 2)
    assert one.softmax_scale == pytest.approx(UNUSUAL * 0.3)
