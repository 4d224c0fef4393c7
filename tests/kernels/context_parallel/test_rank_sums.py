"""The CUDA source that merges blocks and adds gradients compiles, and does what NumPy does, emulated."""

import numpy as np
import pytest

from flashscope.kernels.context_parallel.merging import merge
from flashscope.kernels.context_parallel.sums_program import ADD, MERGE, RowParts, program
from flashscope.kernels.cuda.program import HOPPER, SHARED_MEMORY_LIMITS, Target
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.problem import DTYPES, Dtype
from tests.kernels.cuda.compiled import check
from tests.kernels.cuda.emulator.launch import guarded_memory, run
from tests.kernels.cuda.emulator.running import needs_compiler

each_dtype = pytest.mark.parametrize("dtype", DTYPES)
FIRST, ROWS, ALL_ROWS = 3, 5, 11


def part_of(dtype: Dtype, dim: int) -> RowParts:
    return RowParts((2, 3, ROWS, dim), FIRST, ALL_ROWS, dtype)


@each_dtype
@pytest.mark.parametrize("entry", [MERGE, ADD])
def test_it_fits_hopper(entry: str, dtype: Dtype) -> None:
    check(program(entry, part_of(dtype, 128)), Target(HOPPER, SHARED_MEMORY_LIMITS[HOPPER]))


@needs_compiler
@each_dtype
@pytest.mark.parametrize("dim", [64, 192])
def test_blocks_merge_as_in_numpy(dtype: Dtype, dim: int) -> None:
    draw = np.random.default_rng(0).standard_normal
    whole = draw((2, 3, ALL_ROWS, dim)).astype(np.float32), draw((2, 3, ALL_ROWS)).astype(np.float32) * 4
    part = (
        draw((2, 3, ROWS, dim)).astype(storage_dtype(dtype)),
        draw((2, 3, ROWS)).astype(np.float32) * 4,
    )
    whole[0][:, 0, FIRST], whole[1][:, 0, FIRST] = 0, -np.inf  # has met no key; and neither has the next
    whole[0][:, 0, FIRST + 1], whole[1][:, 0, FIRST + 1] = 0, -np.inf
    part[1][:, 0, 1], part[1][:, 1, 2] = -np.inf, -np.inf
    expected = whole[0].copy(), whole[1].copy()
    rows = slice(FIRST, FIRST + ROWS)
    merge(expected[0][:, :, rows], expected[1][:, :, rows], part[0].astype(np.float32), part[1])
    with guarded_memory() as memory:
        arrays = {"part": part[0], "part_lse": part[1], "output": whole[0], "lse": whole[1]}
        buffers = {name: memory.copy(name, array) for name, array in arrays.items()}
        run(program(MERGE, part_of(dtype, dim)), buffers)
        np.testing.assert_allclose(buffers["output"], expected[0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(buffers["lse"], expected[1], rtol=1e-6, atol=1e-6)


@needs_compiler
@each_dtype
def test_gradients_are_added_to_their_rows_alone(dtype: Dtype) -> None:
    draw = np.random.default_rng(0).standard_normal
    sums, part = (
        draw((2, 3, ALL_ROWS, 64)).astype(np.float32),
        draw((2, 3, ROWS, 64)).astype(storage_dtype(dtype)),
    )
    expected = sums.copy()
    expected[:, :, FIRST : FIRST + ROWS] += part.astype(np.float32)
    with guarded_memory() as memory:
        buffers = {"part": memory.copy("part", part), "sums": memory.copy("sums", sums)}
        run(program(ADD, part_of(dtype, 64)), buffers)
        np.testing.assert_array_equal(buffers["sums"], expected)
