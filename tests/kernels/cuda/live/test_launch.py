"""Launches in slow motion on a GPU: the timed answer to the bit, the time that was chosen, nothing left."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np
import pytest

from flashscope.kernels.cuda.launch import load_kernels
from flashscope.kernels.workload.live import LiveKernel, LiveRequest, kept_tiles
from flashscope.kernels.workload.problem import Dtype, Problem

pytestmark = pytest.mark.gpu
MIB = 1 << 20
KERNELS: tuple[LiveKernel, ...] = ("flash1", "flash2", "flash3")
DTYPES: tuple[Dtype, ...] = ("float16", "bfloat16")


def asked(
    head_dim: int, seqlen: int = 2048, heads: int = 16, *, causal: bool = False, dtype: Dtype = "float16"
) -> Problem:
    return Problem(
        batch=1, heads=heads, seqlen_q=seqlen, seqlen_k=seqlen, head_dim=head_dim, causal=causal, dtype=dtype
    )


PROBLEMS = [
    asked(head_dim, seqlen, heads, causal=causal, dtype=dtype)
    for head_dim, (seqlen, heads), causal, dtype in product(
        (64, 128), ((1000, 1), (1024, 8), (2048, 16)), (False, True), DTYPES
    )
]
OTHERS = [
    Problem(batch=1, heads=4, seqlen_q=900, seqlen_k=1500, head_dim=256, causal=True, dtype="bfloat16"),
    Problem(batch=2, heads=8, kv_heads=4, seqlen_q=1024, seqlen_k=1024, head_dim=64, dtype="float16"),
    Problem(batch=1, heads=2, seqlen_q=1500, seqlen_k=1500, head_dim=64, window=(200, 0), dtype="float16"),
]


def words(problem: Problem) -> str:
    """The name of a case."""
    return f"{problem.seqlen_q}-{problem.heads}-{problem.head_dim}-{problem.causal}-{problem.dtype}"


@contextmanager
def watching(kernel: LiveKernel, problem: Problem, seconds: float = 5.0) -> Iterator[Any]:
    from flashscope.kernels.cuda.live.launch import SlowLaunch  # noqa: PLC0415 - imports CuPy

    launch = SlowLaunch(LiveRequest(problem=problem, backend="cuda", kernel=kernel, seconds=seconds))
    with launch:
        yield launch


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("problem", [*PROBLEMS, *OTHERS], ids=words)
def test_the_answer_is_the_timed_kernels_to_the_bit_and_every_tile_is_told_of_once(
    kernel: LiveKernel, problem: Problem, cp: Any
) -> None:
    with watching(kernel, problem) as launch:
        launch.hurry()
        launch.start()
        cp.cuda.Device().synchronize()
        told = launch.fresh()
        assert not launch.running
        assert launch.same()
        assert not len(launch.fresh().tile)
        tile = launch.build.tile
    heads, kept = range(problem.batch * problem.heads), [*kept_tiles(problem, *tile)]
    assert sorted(map(tuple, told.tile.tolist())) == [(head, i, j) for head in heads for i, j in kept]
    assert told.finished_ns.min() >= 0
    assert set(told.sm.tolist()) <= set(range(launch.multiprocessors))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("causal", [False, True])
def test_it_takes_the_time_that_was_chosen_and_is_read_while_it_runs(
    kernel: LiveKernel, causal: bool
) -> None:
    with watching(kernel, asked(128, causal=causal)) as launch:
        launch.start()
        while_it_ran = []
        while launch.running:
            while_it_ran.append(launch.fresh())
        rest = launch.fresh()
        assert launch.same()
    told = np.concatenate([one.finished_ns for one in while_it_ran])
    last = np.concatenate([told, rest.finished_ns]).max()
    assert last + launch.tile_ns == pytest.approx(5e9, rel=0.1)
    assert sum(len(one.tile) > 0 for one in while_it_ran) > 10
    assert len(told) > 0.9 * launch.build.tiles
    print(f"{kernel} causal={causal}: {last / 1e9:.3f} s + {launch.tile_ns / 1e6:.1f} ms a tile")  # noqa: T201 - told


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("head_dim", [64, 128])
@pytest.mark.parametrize("causal", [False, True])
def test_as_many_blocks_run_side_by_side_as_of_the_timed_kernel(
    kernel: LiveKernel, head_dim: int, causal: bool
) -> None:
    with watching(kernel, asked(head_dim, causal=causal)) as launch:
        timed, slowed = (load_kernels(one)[0] for one in (launch.build.program, launch.program))
        assert launch.residents(timed) == launch.residents(slowed)


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_is_given_up_ends_at_once_and_leaves_no_memory(kernel: LiveKernel, cp: Any) -> None:
    free = []
    for _ in range(3):
        begun, ended = cp.cuda.Event(), cp.cuda.Event()
        with watching(kernel, asked(128), 60.0) as launch:
            launch.start()
            while not len(launch.fresh().tile):
                assert launch.running
            assert launch.running
            begun.record()
        ended.record()
        ended.synchronize()
        assert cp.cuda.get_elapsed_time(begun, ended) < 500
        del launch
        free.append(cp.cuda.runtime.memGetInfo()[0])
    assert free[1] == free[2]
    assert abs(free[0] - free[2]) <= 4 * MIB
