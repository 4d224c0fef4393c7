"""What one call of `kernels.attention` costs the host: python -m tests.benchmarks.attention_call_bench.

A small problem, so that the call is all there is. On a GPU the time until the call returns, with the device
idle when it begins; on the CPU with the computation, beside a run of a launch prepared before, whose
difference is what a call adds. With --old FOLDER (see trees.py) two states of kernels/ take turns.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import Any, NamedTuple

from tests.benchmarks.trees import HERE, Tree, both

ROUNDS, CALLS, WARMUP = 8, 50, 5
GPU_KERNELS = ("standard", "flash2", "flash3")


class Case(NamedTuple):
    """A row of the table.

    Attributes:
        label: What it is called.
        call: What is timed.
        settle: What waits, untimed, until the device is idle.
    """

    label: str
    call: Callable[[], Any]
    settle: Callable[[], Any]


def gpu_cases(tree: Tree) -> list[Case]:
    """Calls on the GPU, if there is one."""
    try:
        import cupy  # noqa: PLC0415 - not on every machine
        import ml_dtypes  # noqa: PLC0415 - as above
    except ImportError:
        return []
    attention, mask_of = tree.module("").attention, tree.module("workload.block_mask").BlockMask.random
    dtype = ml_dtypes.bfloat16
    small, long = (cupy.ones((1, 8, n, 64), cupy.float32).astype(dtype) for n in (256, 4096))
    blocks = mask_of(4096, 4096, block_q=128, block_k=128, kept_share=0.25)
    calls: dict[str, tuple[str, Any, dict[str, Any]]] = {
        f"{name} 8x256x64": (name, small, {}) for name in GPU_KERNELS
    }
    calls |= {f"{name} 8x256x64 causal": (name, small, {"causal": True}) for name in GPU_KERNELS}
    calls["flash3 8x4096x64 block mask"] = ("flash3", long, {"block_mask": blocks})
    wait = cupy.cuda.Device().synchronize
    return [
        Case(label, partial(attention, x, x, x, kernel=name, **more), wait)
        for label, (name, x, more) in calls.items()
    ]


def cpu_cases(tree: Tree) -> list[Case]:
    """A call on the CPU, and the run in it alone."""
    import numpy as np  # noqa: PLC0415 - the same in both trees

    attention, launch = tree.module("").attention, tree.module("launching.launch")
    x = np.random.default_rng(0).standard_normal((1, 1, 16, 16), np.float32)
    problem = tree.module("workload.problem").Problem(seqlen_q=16, seqlen_k=16, head_dim=16)
    spec = tree.module("catalogue.registry").find_kernel("flash2")
    prepared = launch.prepare(spec, problem, launch.Inputs(x, x, x), "cpu")
    return [
        Case("flash2 on the CPU 1x16x16", lambda: attention(x, x, x, kernel="flash2"), lambda: None),
        Case("  its run alone", prepared.run, lambda: None),
    ]


def microseconds(case: Case, calls: int) -> list[float]:
    """Each call's time."""
    found = []
    for _ in range(calls):
        case.settle()
        begin = time.perf_counter_ns()
        case.call()
        found.append((time.perf_counter_ns() - begin) / 1000)
    case.settle()
    return found


def main() -> None:
    """Print first call, median and quartiles in microseconds, for each tree in turns."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--old", type=Path, help="folder with an older kernels/")
    parser.add_argument("--same", action="store_true", help="compare equal trees too")
    chosen = parser.parse_args()
    trees = both(chosen.old, same=chosen.same) if chosen.old else (Tree(HERE, "new"),)
    cases: dict[str, list[Case]] = {}
    for tree in trees:
        with tree.active():
            cases[tree.name] = [*gpu_cases(tree), *cpu_cases(tree)]
    print(f"{'us a call':<32}" + "".join(f"{t.name + ': first, median (quartiles)':>36}" for t in trees))  # noqa: T201
    for row in zip(*cases.values(), strict=True):
        times: dict[str, list[float]] = {tree.name: [] for tree in trees}
        first = {}
        for turn in range(ROUNDS + 1):
            for tree, case in zip(trees, row, strict=True):
                with tree.active():
                    if turn == 0:
                        (first[tree.name],) = microseconds(case, 1)
                        microseconds(case, WARMUP)
                    else:
                        times[tree.name] += microseconds(case, CALLS)
        columns = []
        for name, found in times.items():
            low, middle, high = quantiles(found, n=4)
            columns.append(f"{first[name]:>14.0f}, {middle:7.1f} ({low:5.1f}-{high:5.1f})")
        print(f"{row[0].label:<32}" + "".join(f"{column:>36}" for column in columns))  # noqa: T201


if __name__ == "__main__":
    main()
