"""What is special about flash3-fp8, on a Hopper GPU; test_kernels.py and test_masks.py do the rest."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flashscope.kernels.catalogue import fp8
from flashscope.kernels.catalogue.ladder import FLASH3_FP8
from flashscope.kernels.catalogue.workspace import K_E4M3, Q_E4M3, V_E4M3
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.cuda.running import both_masks, prepared, run
from tests.kernels.cuda.test_flash3 import hopper  # noqa: F401 - a fixture

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("hopper"), pytest.mark.timeout(300)]

NAME = FLASH3_FP8.name
HEAD_DIMS = FLASH3_FP8.head_dims["cuda"]
PATCH_ROWS, PATCH_COLUMNS = 8, 16
WITHIN_16 = [8 * (e // 2) + 2 * t + e % 2 for t in range(4) for e in range(4)]


def decoded(blocks: Any, rows: int, columns: int) -> Any:
    """The numbers (n, rows, columns) that blocks (n, bytes) of patches and a scale stand for."""
    size = rows * columns
    scales = np.ascontiguousarray(blocks[:, size : size + 4]).view(np.float32)
    patches = blocks[:, :size].reshape(
        -1, rows // PATCH_ROWS, columns // PATCH_COLUMNS, PATCH_ROWS, PATCH_COLUMNS
    )
    numbers = np.ascontiguousarray(patches.transpose(0, 1, 3, 2, 4)).view(ml_dtypes.float8_e4m3fn)
    return numbers.reshape(-1, rows, columns).astype(np.float32) * scales[:, :, None]


@pytest.mark.parametrize("dtype", FLASH3_FP8.dtypes["cuda"])
@pytest.mark.parametrize("head_dim", HEAD_DIMS)
def test_the_kernel_rounds_its_inputs_as_numpy_does_to_the_bit(cp: Any, head_dim: int, dtype: Dtype) -> None:
    problem = Problem(
        batch=2, heads=2, kv_heads=1, seqlen_q=300, seqlen_k=500, head_dim=head_dim, dtype=dtype, scale=-0.1
    )
    inputs = make_inputs(problem, "cuda")
    launch: Any = prepared(NAME, problem, inputs)
    launch.run()
    keys = fp8.fp8_tiling(head_dim).key_block
    expected = fp8.Rounding(keys).inputs(*(cp.asnumpy(array).astype(np.float32) for array in inputs.qkv))
    found = {name: cp.asnumpy(array) for name, array in launch.workspace.items()}
    check_blocks(-decoded(found[Q_E4M3], 64, head_dim), expected[0])  # the scale is negative
    check_blocks(decoded(found[K_E4M3], keys, head_dim), expected[1])
    turned = decoded(found[V_E4M3], head_dim, keys).transpose(0, 2, 1)
    in_sixteens = (len(turned), -1, 16, head_dim)
    values = np.empty_like(turned)
    values.reshape(in_sixteens)[:, :, WITHIN_16] = turned.reshape(in_sixteens)
    check_blocks(values, expected[2])


def check_blocks(blocks: Any, array: Any) -> None:
    """The blocks of every head hold the rows of the array and zeros behind them."""
    heads = array.shape[0] * array.shape[1]
    rows = blocks.reshape(heads, -1, blocks.shape[-1])
    np.testing.assert_array_equal(rows[:, : array.shape[2]], array.reshape(heads, *array.shape[2:]))
    assert not rows[:, array.shape[2] :].any()


@both_masks
def test_tiles_that_blocks_draw_one_after_the_other_agree_with_the_oracle(causal: bool) -> None:
    for head_dim in HEAD_DIMS:
        problem = Problem(
            heads=24, seqlen_q=1023, seqlen_k=1400, head_dim=head_dim, dtype="bfloat16", causal=causal
        )
        verdict = run(NAME, problem)
        assert verdict.passed, (head_dim, verdict)


@pytest.mark.parametrize("head_dim", [64, 128, 256])
def test_a_mean_of_many_equal_values_is_that_value(cp: Any, head_dim: int) -> None:
    """The tensor core's own sums would lose a third of it over 16384 keys (Rounding.product_error)."""
    problem = Problem(seqlen_q=200, seqlen_k=16384, head_dim=head_dim, dtype="float16")
    inputs = make_inputs(problem, "cuda")
    inputs = Inputs((inputs.q * cp.float16(0.01)).astype(cp.float16), inputs.k, cp.ones_like(inputs.v))
    launch = prepared(NAME, problem, inputs)
    launch.run()
    assert float(abs(launch.output.astype(cp.float32) - 1).max()) < 0.03


@pytest.mark.parametrize("rise", [-40.0, 40.0])
@pytest.mark.parametrize("head_dim", [64, 128, 256])
def test_maxima_that_come_late_and_blocks_of_other_scales_agree_with_the_oracle(
    cp: Any, head_dim: int, rise: float
) -> None:
    """Every tile raises the maxima, so that P leaves its range under the old ones; V grows by 2^20."""
    problem = Problem(heads=2, seqlen_q=65, seqlen_k=3000, head_dim=head_dim, dtype="bfloat16", scale=1.0)
    q, k, v = (array.astype(cp.float32) for array in make_inputs(problem, "cuda").qkv)
    q[..., 0], k = 1, 0.01 * k
    k[..., 0] = cp.linspace(0, rise, problem.seqlen_k)
    v *= 2 ** cp.linspace(-10, 10, problem.seqlen_k)[:, None]
    dtype = make_inputs(problem, "cuda").q.dtype
    verdict = run(NAME, problem, Inputs(*(array.astype(dtype) for array in (q, k, v))))
    assert verdict.passed, verdict


@pytest.mark.parametrize("head_dim", [64, 128, 256])
def test_rows_that_see_nothing_of_their_first_tile_find_their_maximum_in_the_next(
    cp: Any, head_dim: int
) -> None:
    """With 127 keys more than queries the next tile has no mask, and with K = 0 its scores are in range."""
    problem = Problem(heads=2, seqlen_q=200, seqlen_k=327, head_dim=head_dim, dtype="bfloat16", causal=True)
    inputs = make_inputs(problem, "cuda")
    verdict = run(NAME, problem, inputs._replace(k=cp.zeros_like(inputs.k)))
    assert verdict.passed, verdict
