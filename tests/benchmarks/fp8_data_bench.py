"""flash3-fp8 over data: error, and tiles computed twice: python -m tests.benchmarks.fp8_data_bench.

Needs no GPU: `kernels.catalogue.fp8` rounds as the kernel does. The error is ||O - float64|| / ||float64||. A
warp (16 query rows) computes a tile of keys twice where its maxima so far no longer keep P in e4m3's range
(flash3_fp8_softmax.cuh). With a GPU that runs it, also its time and flash3's on such data.
"""

import math
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from flashscope.kernels.catalogue.fp8 import LARGEST, Rounding, fp8_tiling, round_e4m3
from flashscope.kernels.oracle.reference import attention_reference
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

ROWS, WARP_ROWS = 256, 16
SHIFT, FIRST_SHIFT = 5.0, 1e30  # as in flash3_fp8_softmax.cuh
LARGEST_EXPONENT = 100.0  # keeps exp2 finite
DOMINANT, RISE = 11.0, 3.0  # nats
SAMPLES = 9


def normal(problem: Problem) -> Inputs:
    """Standard-normal Q, K and V."""
    draw = np.random.default_rng(problem.seed).standard_normal
    return Inputs(*(draw(s, np.float32) for s in (problem.q_shape, problem.k_shape, problem.k_shape)))


def dominant(problem: Problem) -> Inputs:
    """Normal, but every row has a key of its own, `DOMINANT` nats above all others."""
    q, k, v = normal(problem).qkv
    own = np.random.default_rng(1).permutation(problem.seqlen_k)[: problem.seqlen_q]
    for b, h in np.ndindex(problem.batch, problem.heads):
        rest = (q[b, h] @ k[b, h].T).max(axis=1) * problem.softmax_scale
        length = (q[b, h] ** 2).sum(axis=1) * problem.softmax_scale
        k[b, h, own] = q[b, h] * ((rest + DOMINANT) / length)[:, None]
    return Inputs(q, k, v)


def rising(problem: Problem) -> Inputs:
    """Normal, and scores rise by `RISE` nats from each tile that is met to the next, to hundreds."""
    q, k, v = normal(problem).qkv
    tiles = (problem.seqlen_k - 1 - np.arange(problem.seqlen_k)) / fp8_tiling(problem.head_dim).key_block
    q[..., 0], k[..., 0] = 1.0, RISE * tiles / problem.softmax_scale
    return Inputs(q, k, v)


def attend(problem: Problem, inputs: Inputs) -> tuple[Any, float]:
    """O as the kernel rounds it, tile by tile, and the share of tiles, but for the first, computed twice."""
    block, group = fp8_tiling(problem.head_dim).key_block, problem.heads // problem.key_heads
    rounding = Rounding(block)
    q, k, v = rounding.inputs(*inputs.qkv)
    factor = np.float32(problem.softmax_scale * rounding.score_factor(problem.head_dim) * math.log2(math.e))
    output, again, total = np.empty(problem.q_shape, np.float32), 0, 0
    for b, h in np.ndindex(problem.batch, problem.heads):
        scores = rounding.scores(q[b, h] @ k[b, h // group].T) * factor
        for rows in (slice(r, r + WARP_ROWS) for r in range(0, problem.seqlen_q, WARP_ROWS)):
            shift, l = np.full((WARP_ROWS, 1), FIRST_SHIFT, np.float32), np.zeros((WARP_ROWS, 1))
            o = np.zeros((WARP_ROWS, problem.head_dim))
            for first in range(problem.seqlen_k - block, -1, -block):
                tile = scores[rows, first : first + block]
                p = np.exp2(np.minimum(tile + shift, LARGEST_EXPONENT))
                if p.reshape(WARP_ROWS, -1, 4, 4, 2).sum(axis=(2, 4)).max() > LARGEST:  # eight of a thread
                    before = shift
                    shift = np.minimum(before, SHIFT - tile.max(axis=1, keepdims=True))
                    l, o = l * np.exp2(shift - before), o * np.exp2(shift - before)
                    p = np.exp2(tile + shift)
                    again += first < problem.seqlen_k - block
                total += first < problem.seqlen_k - block
                l += p.sum(axis=1, keepdims=True)
                o += round_e4m3(p) @ v[b, h // group, first : first + block]
            output[b, h, rows] = o / l
    return output, again / total


def relative_error(problem: Problem, inputs: Inputs, output: Any) -> float:
    """||O - float64|| / ||float64||."""
    exact, _ = attention_reference(*inputs.qkv, causal=False, scale=problem.softmax_scale)
    return float(np.linalg.norm(output - exact) / np.linalg.norm(exact))


def gpu_times(problem: Problem, make: Callable[[Problem], Inputs]) -> str:
    """ms of flash3-fp8 and flash3 on such data, in turns; empty without a GPU that runs them."""
    try:
        import cupy  # noqa: PLC0415 - not on every machine

        from flashscope.profiles.worker.instruments.bench_cuda import CudaBench  # noqa: PLC0415 - imports CuPy
    except ImportError:
        return ""
    from flashscope.kernels.catalogue.ladder import FLASH3, FLASH3_FP8  # noqa: PLC0415 - as above
    from flashscope.kernels.cuda.device import describe  # noqa: PLC0415 - as above
    from flashscope.kernels.launching.launch import prepare  # noqa: PLC0415 - as above
    from flashscope.kernels.oracle.verify import storage_dtype  # noqa: PLC0415 - as above

    if FLASH3_FP8.unsupported(problem, describe()) is not None:
        return ""
    inputs = Inputs(*(cupy.asarray(x).astype(storage_dtype(problem.dtype)) for x in make(problem).qkv))
    bench = CudaBench(None)
    launches = [prepare(spec, problem, inputs, "cuda") for spec in (FLASH3_FP8, FLASH3)]
    times = [[bench.sample(launch.run, cold=True).ms for launch in launches] for _ in range(SAMPLES + 1)]
    fp8, exact = (median(column) for column in zip(*times[1:], strict=True))
    return f"  flash3-fp8 {fp8:.3f} ms, flash3 {exact:.3f} ms: {exact / fp8:.2f}x"


def main() -> None:
    """Print a line for each kind of data and size."""
    for make in (normal, dominant, rising):
        for head_dim in (64, 128):
            for keys in (1024, 4096, 16384):
                few = Problem(heads=2, seqlen_q=ROWS, seqlen_k=keys, head_dim=head_dim, dtype="bfloat16")
                inputs = make(few)
                full = Problem(
                    heads=2048 // head_dim, seqlen_q=4096, seqlen_k=keys, head_dim=head_dim, dtype="bfloat16"
                )
                timed = gpu_times(full, make) if make is not dominant or keys >= full.seqlen_q else ""
                output, again = attend(few, inputs)
                print(  # noqa: T201 - the table
                    f"{make.__name__:<9} d={head_dim:<4} N={keys:<6} "
                    f"error {relative_error(few, inputs, output):6.2%}  computed twice {again:6.2%}{timed}"
                )


if __name__ == "__main__":
    main()
