"""What a layout costs on the CPU: pytest -m benchmark -s layouts_bench.py.

flash2 in float32 on one core. The ways take turns. Prints medians of the process's CPU time, which other
work on the machine disturbs less than the time on the wall, with 10th and 90th percentiles; gates on nothing.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any

import numpy as np
import pytest

from flashscope.kernels import attention
from flashscope.kernels.catalogue.ladder import FLASH2
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cases import draw
from tests.kernels.surface.laid import joined_inputs, offsets

WARMUP, ROUNDS = 2, 40
BY_COPY = replace(FLASH2, strided=frozenset())  # as the CUDA kernels are: it reads row-major arrays alone
LENGTHS = {
    "32 sequences of 64 tokens": (64,) * 32,
    "32 sequences of 33 to 64 tokens": tuple(range(33, 65)),
    "one of 512, seven of 16": (512, *(16,) * 7),
}


def compare(title: str, ways: dict[str, Callable[[], Any]]) -> None:
    samples: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(WARMUP + ROUNDS):
        for name, way in ways.items():
            start = process_time()
            way()
            if turn >= WARMUP:
                samples[name].append(1e3 * (process_time() - start))
    print(f"\n{title}")  # noqa: T201
    for name, taken in samples.items():
        low, middle, high = np.percentile(taken, (10, 50, 90))
        print(f"  {name:28} {middle:7.2f} ms ({low:.2f} to {high:.2f})")  # noqa: T201


@pytest.mark.benchmark
def test_a_packed_qkv_beside_row_major_arrays() -> None:
    qkv = np.random.default_rng(0).standard_normal((2, 1024, 3, 8, 64), dtype=np.float32)
    q, k, v = (qkv[:, :, one] for one in range(3))
    plain = [np.ascontiguousarray(array.swapaxes(1, 2)) for array in (q, k, v)]
    compare(
        "packed QKV, batch 2, 8 heads of 64, N = 1,024",
        {
            "row-major": lambda: attention(*plain, kernel=FLASH2),
            "in place": lambda: attention(q, k, v, layout="bnhd", kernel=FLASH2),
            "copied": lambda: attention(q, k, v, layout="bnhd", kernel=BY_COPY, copy=True),
        },
    )


@pytest.mark.benchmark
@pytest.mark.parametrize("title", LENGTHS)
def test_sequences_one_behind_the_other_beside_a_padded_batch(title: str) -> None:
    lengths = LENGTHS[title]
    problem = Problem(
        seqlen_q=max(lengths),
        seqlen_k=max(lengths),
        batch=len(lengths),
        heads=4,
        head_dim=64,
        query_lengths=lengths,
        key_lengths=lengths,
    )
    inputs = draw(problem)
    joint: Callable[..., Any] = partial(attention, *joined_inputs(problem, inputs), **offsets(problem))
    compare(
        f"{title}, 4 heads of 64",
        {
            "padded by the caller": lambda: attention(
                *inputs.qkv, kernel=FLASH2, query_lengths=lengths, key_lengths=lengths
            ),
            "on views": lambda: joint(kernel=FLASH2),
            "padded copies": lambda: joint(kernel=BY_COPY, copy=True),
        },
    )
