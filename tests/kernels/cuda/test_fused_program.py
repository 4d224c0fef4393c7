"""The shared memory of fused is what its refusal counts."""

from itertools import product

import pytest

from flashscope.kernels.catalogue import fused
from flashscope.kernels.catalogue.ladder import FUSED
from flashscope.kernels.cuda import simt_layout
from flashscope.kernels.cuda.program import SHARED_MEMORY_LIMITS
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Dtype, Problem
from tests.kernels.cuda.builds import ON_HOPPER

H200 = Device(
    backend="cuda",
    name="H200",
    memory_bytes=1 << 37,
    compute_capability=(9, 0),
    shared_memory_per_block=SHARED_MEMORY_LIMITS[9, 0],
)


def square(n: int, head_dim: int = 64, dtype: Dtype = "float32", **masks: object) -> Problem:
    return Problem(seqlen_q=n, seqlen_k=n, heads=2, head_dim=head_dim, dtype=dtype, **masks)  # type: ignore[arg-type]


def test_its_words_and_its_layout_count_alike() -> None:
    assert (fused.ITEMSIZE, fused.PAD) == (simt_layout.ITEMSIZE, simt_layout.PAD)
    assert (simt_layout.OUTPUT_STEP, simt_layout.TILE_STEP.q) == (fused.OUTPUT_STEP, fused.ROWS)
    problem = square(1000, 72)
    keys = fused.key_tile(72)
    layout = (
        simt_layout.row_bytes(72, fused.ROWS)
        + fused.STAGES * simt_layout.v_bytes(problem, keys)
        + 1024 // keys * simt_layout.row_bytes(keys, fused.ROWS)
    )
    assert fused.shared_bytes(problem) == layout


@pytest.mark.parametrize("head_dim", [16, 64, 128, 256])
def test_it_runs_up_to_the_row_that_fits_and_refuses_the_next_with_the_arithmetic(head_dim: int) -> None:
    longest = fused.longest(square(1, head_dim), ON_HOPPER.shared_memory)
    assert 2000 < longest < 3500
    assert FUSED.unsupported(square(longest, head_dim), H200) is None
    reason = FUSED.unsupported(square(longest + 1, head_dim), H200)
    assert reason is not None
    assert f"enough for {longest} keys" in reason
    assert "a block here has 227.0 KiB" in reason


def test_a_window_keeps_rows_short_whatever_the_sequence() -> None:
    assert FUSED.unsupported(square(1 << 20, window=(512, 0)), H200) is None
    assert FUSED.unsupported(square(1 << 20, window=(5120, 0)), H200) is not None


def test_no_block_meets_more_keys_than_its_shared_memory_is_cut_for() -> None:
    for n, window in product((1, 100, 333), ((0, 0), (40, 3), (-1, 5), (70, -1))):
        problem = square(n, window=window)
        keys = fused.key_tile(64)
        for q0 in range(0, n, fused.ROWS):
            bands = [problem.mask.band(q) for q in range(q0, min(n, q0 + fused.ROWS))]
            met = [band for band in bands if len(band)]
            first, end = min(b.start for b in met) // keys, -(-max(b.stop for b in met) // keys)
            assert (end - first) * keys <= fused.walk(problem)


def test_a_cpu_refuses_no_length() -> None:
    cpu = Device(backend="cpu", name="CPU", memory_bytes=1 << 35)
    assert FUSED.unsupported(square(1 << 16), cpu) is None
