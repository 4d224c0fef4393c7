"""LSE over the number of keys, and two builds in turns: python -m tests.benchmarks.lse_drift_bench.

First the largest error of LSE against float64, few query rows and up to 2^20 keys: a factor that should be 1
and is not, tile after tile, shows there. For flash3-fp8 against LSE of what it makes of Q and K.

Then, with --old FOLDER (see trees.py), the time of both builds over 18 cells: 16k tokens, a width of 2048,
bfloat16, cold L2, CUDA events, in turns old new new old. The table holds new / old of the medians in each
cell; cells above the bar are sampled again, and judged by all their samples. Gates on nothing.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import product
from math import exp, log
from pathlib import Path
from statistics import fmean, median
from typing import Any

from tests.benchmarks.trees import HERE, Tree, both

KEYS, ROWS, HEADS = (2**10, 2**14, 2**17, 2**20), 64, 2
ACCURATE = ("standard", "standard-fp32s", "flash1", "flash2", "flash3-a", "flash3-b", "flash3-c", "flash3")
FP8 = "flash3-fp8"
TIMED = ("flash1", "flash2", "flash3-a", "flash3-b", "flash3-c", "flash3", "standard")
HEAD_DIMS, LENGTHS = (64, 128, 256), (1024, 4096, 16384)
TOKENS, WIDTH = 16384, 2048
WARMUP, MOST_AGAIN = 2, 3
BAR = 1.005

Launches = dict[str, list[Any]]  # by kernel, one of each tree
Times = dict[str, list[list[float]]]  # in ms, likewise


def say(text: str) -> None:
    """A line of the table."""
    print(text, flush=True)  # noqa: T201 - the table is what this is for


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Say how long a part of the script took."""
    begin = time.perf_counter()
    yield
    say(f"({what}: {time.perf_counter() - begin:.0f} s)")


def problem(tree: Tree, head_dim: int, seqlen: int, causal: bool) -> Any:
    """A cell of the second table."""
    return tree.module("workload.problem").Problem(
        batch=TOKENS // seqlen,
        heads=WIDTH // head_dim,
        seqlen_q=seqlen,
        seqlen_k=seqlen,
        head_dim=head_dim,
        dtype="bfloat16",
        causal=causal,
    )


def few_rows(tree: Tree, head_dim: int, keys: int) -> Any:
    """A cell of the first table."""
    return tree.module("workload.problem").Problem(
        heads=HEADS, seqlen_q=ROWS, seqlen_k=keys, head_dim=head_dim, dtype="bfloat16"
    )


def specs(tree: Tree, names: Sequence[str], workload: Any) -> dict[str, Any]:
    """Those of the kernels that run the problem here."""
    device, find = tree.module("cuda.device").describe(), tree.module("catalogue.registry").find_kernel
    return {name: find(name) for name in names if find(name).unsupported(workload, device) is None}


def compile_all(trees: Sequence[Tree], cells: Callable[[Tree], list[Any]], names: Sequence[str]) -> None:
    """Fill the compiler's cache on all cores."""
    for tree in trees:
        with tree.active(), ThreadPoolExecutor() as pool:
            launch, compiler = tree.module("cuda.launch"), tree.module("cuda.compile")
            target, found = launch.current_target(), {}
            for workload in cells(tree):
                for program in programs(tree, workload, names, target):
                    found[program.source, str(program.defines)] = program
            list(pool.map(compiler.compile_module, found.values()))


def programs(tree: Tree, workload: Any, names: Sequence[str], target: Any) -> Iterator[Any]:
    """The programs of these kernels."""
    for name in specs(tree, names, workload):
        if name == FP8:
            yield tree.module("cuda.flash3_fp8").program(workload, target)
        elif name.startswith("flash3"):
            yield tree.module("cuda.flash3").program(workload, target, name)
        else:
            kept_scores = {"float_scores": True} if name == "standard-fp32s" else {}
            yield tree.module(f"cuda.{name.partition('-')[0]}").program(workload, target, **kept_scores)


def exact_lse(cupy: Any, q: Any, k: Any, scale: float) -> Any:
    """Natural log-sum-exp in float64."""
    rows = []
    for head in range(q.shape[1]):
        s = q[0, head].astype(cupy.float64) @ k[0, head].astype(cupy.float64).T * scale
        top = s.max(axis=1)
        rows.append(top + cupy.log(cupy.exp(s - top[:, None]).sum(axis=1)))
    return cupy.stack(rows)[None]


def lse_errors(tree: Tree, cupy: Any, workload: Any, inputs: Any, exact: dict[str, Any]) -> dict[str, float]:
    """The largest error of each kernel of a tree, which is active."""
    launch, errors = tree.module("launching.launch"), {}
    for name, spec in specs(tree, (*ACCURATE, FP8), workload).items():
        one = launch.prepare(spec, workload, launch.Inputs(*inputs.qkv), "cuda")
        one.lse.fill(cupy.nan)
        one.run()
        wanted = exact[FP8 if name == FP8 else "given"]
        errors[name] = float(abs(one.lse.astype(cupy.float64) - wanted).max())
    return errors


def drift_table(trees: Sequence[Tree], cupy: Any) -> None:
    """Largest LSE error: a row a kernel and tree, a column a number of keys."""
    new = trees[-1]
    columns = list(product((64, 128), KEYS))
    found: dict[tuple[str, str], list[float]] = {}
    with timed("compiled for LSE"):
        compile_all(trees, lambda tree: [few_rows(tree, *column) for column in columns], (*ACCURATE, FP8))
    for head_dim, keys in columns:
        with new.active():
            workload = few_rows(new, head_dim, keys)
            inputs = new.module("launching.launch").make_inputs(workload, "cuda")
            rounding = new.module("fp8").Rounding(new.module("fp8").cut(head_dim).key_block)
        q8, k8, _ = rounding.inputs(*inputs.qkv)
        scale = workload.softmax_scale
        exact = {
            "given": exact_lse(cupy, inputs.q, inputs.k, scale),
            FP8: exact_lse(cupy, q8, k8, scale * rounding.score_factor(head_dim)),
        }
        del q8, k8
        for tree in trees:
            with tree.active():
                errors = lse_errors(tree, cupy, few_rows(tree, head_dim, keys), inputs, exact)
            for name, error in errors.items():
                found.setdefault((name, tree.name), []).append(error)
    say(f"\nmax |LSE - float64|, {HEADS} heads x {ROWS} query rows, bfloat16")
    say(f"{'':<20}" + "".join(f"{f'd={d} {n // 1024}k':>13}" for d, n in columns))
    order = (*ACCURATE, FP8)
    for (name, of), row in sorted(found.items(), key=lambda item: order.index(item[0][0])):
        say(f"{f'{name} {of}':<20}" + "".join(f"{error:>13.1e}" for error in row))


def prepare_cell(trees: Sequence[Tree], cell: tuple[int, int, bool], names: Sequence[str]) -> Launches:
    """Launches of each kernel in each tree, on the same inputs."""
    launches: Launches = {}
    inputs = None
    for tree in trees:
        with tree.active():
            workload, launch = problem(tree, *cell), tree.module("launching.launch")
            if inputs is None:
                inputs = launch.make_inputs(workload, "cuda")
            for name, spec in specs(tree, names, workload).items():
                one = launch.prepare(spec, workload, launch.Inputs(*inputs.qkv), "cuda")
                launches.setdefault(name, []).append(one)
    return launches


def sample(bench: Any, launches: Launches, times: Times, rounds: int) -> None:
    """So many rounds of every kernel: old new, then new old."""
    for turn in range(rounds):
        for name, pair in launches.items():
            order = range(len(pair)) if turn % 2 == 0 else reversed(range(len(pair)))
            for which in order:
                times[name][which].append(bench.sample(pair[which].run, cold=True).ms)


def ratio(pair: list[list[float]]) -> float:
    """New over old."""
    old, new = map(median, pair)
    return new / old


def agree(launches: Launches, cupy: Any) -> float:
    """The largest difference between both builds' O: they ran, and on the same inputs."""
    largest = 0.0
    for old, new in launches.values():
        difference = old.output[0, 0].astype(cupy.float32) - new.output[0, 0].astype(cupy.float32)
        largest = max(largest, float(abs(difference).max()))
    return largest


def speed_table(trees: tuple[Tree, Tree], cupy: Any, names: Sequence[str], rounds: int) -> None:
    """New over old, a row a cell, a column a kernel."""
    from flashscope.profiles.worker.instruments.bench_cuda import CudaBench  # noqa: PLC0415 - imports CuPy

    bench = CudaBench(None)
    cells = [(d, n, causal) for d, causal, n in product(HEAD_DIMS, (False, True), LENGTHS)]
    with timed("compiled for the times"):
        compile_all(trees, lambda tree: [problem(tree, *cell) for cell in cells], names)
    say(f"\nnew / old, medians of {rounds} cold samples each, in turns (* sampled again above {BAR})")
    say(f"{'':<20}" + "".join(f"{name:>11}" for name in names) + f"{'flash3 ms':>11}{'O differs':>11}")
    table: dict[str, dict[str, float]] = {}
    for cell in cells:
        launches = prepare_cell(trees, cell, names)
        times: Times = {name: [[] for _ in pair] for name, pair in launches.items()}
        sample(bench, launches, {name: [[] for _ in pair] for name, pair in launches.items()}, WARMUP)
        sample(bench, launches, times, rounds)
        differs = agree(launches, cupy)
        again: set[str] = set()
        for _ in range(MOST_AGAIN):
            above = {name: pair for name, pair in launches.items() if ratio(times[name]) > BAR}
            again |= set(above)
            sample(bench, above, times, rounds)
        row = {name: ratio(pair) for name, pair in times.items()}
        label = f"d={cell[0]} {'causal' if cell[2] else 'full'} {cell[1] // 1024}k"
        table[label] = row
        marks = "".join(
            f"{f'{row[n]:.4f}' if n in row else '-':>10}{'*' if n in again else ' '}" for n in names
        )
        absolute = median(times["flash3"][1]) if "flash3" in times else float("nan")
        say(f"{label:<20}{marks}{absolute:>11.4f}{differs:>11.1e}")
        del launches
        bench.release()
    for title, of in (("geometric mean", lambda x: exp(fmean(map(log, x)))), ("worst", max)):
        columns = (
            of([row[name] for row in table.values() if name in row] or [float("nan")]) for name in names
        )
        say(f"{title:<20}" + "".join(f"{value:>10.4f} " for value in columns))
    worst = max(((value, name, label) for label, row in table.items() for name, value in row.items()))
    say(f"worst cell: {worst[1]} {worst[2]} x{worst[0]:.4f} (bar {BAR})")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--old", type=Path, help="folder with an older kernels/")
    parser.add_argument("--same", action="store_true", help="compare equal trees too: what noise does")
    parser.add_argument("--kernels", default=",".join(TIMED), help="those to time (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=17, help="samples of a cell (default: %(default)s)")
    parser.add_argument("--no-lse", action="store_true", help="only the times")
    chosen = parser.parse_args()
    import cupy  # noqa: PLC0415 - not on every machine

    trees = both(chosen.old, same=chosen.same) if chosen.old else (Tree(HERE, "new"),)
    if not chosen.no_lse:
        with timed("LSE"):
            drift_table(trees, cupy)
        cupy.get_default_memory_pool().free_all_blocks()
    if len(trees) > 1:
        with timed("times"):
            speed_table(trees, cupy, chosen.kernels.split(","), chosen.rounds)


if __name__ == "__main__":
    main()
