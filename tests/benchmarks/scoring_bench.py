"""What features of the scores cost on a GPU, beside flex_attention: python -m tests.benchmarks.scoring_bench.

4 sequences of N = 4k, a width of 2048, bfloat16. Each feature's time over that of the same problem without,
same kernel, in turns, cold: median and quartiles of the turns' ratios. flex_attention (torch.compile) has the
softcap and ALiBi as functions of the score.
"""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from itertools import product
from statistics import median, quantiles
from typing import Any

from msgspec import structs

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.launching.passes import after_forward, draw_given, prepare_passes
from flashscope.kernels.workload.problem import Passes, Problem
from flashscope.kernels.workload.scoring import alibi_slopes

FEATURES: dict[str, dict[str, Any]] = {
    "softcap": {"softcap": 50.0},
    "sinks": {"sinks": True},
    "alibi": {"alibi": True},
}
HEAD_DIMS, SEQLEN, BATCH, WIDTH = (128, 64), 4096, 4, 2048
WARMUP, SOFTCAP = 2, 50.0

Run = Callable[[], None]


def problem_of(head_dim: int, causal: bool, passes: Passes) -> Problem:
    """The plain one."""
    return Problem(
        batch=BATCH,
        heads=WIDTH // head_dim,
        seqlen_q=SEQLEN,
        seqlen_k=SEQLEN,
        head_dim=head_dim,
        dtype="bfloat16",
        causal=causal,
        passes=passes,
    )


def runs_of(kernel: str, plain: Problem, features: dict[str, dict[str, Any]]) -> dict[str, Run]:
    """The plain problem and those with each feature that the kernel takes, ready to run."""
    from flashscope.kernels.cuda.device import describe  # noqa: PLC0415 - imports CuPy; collected without it

    spec, device = find_kernel(kernel), describe()
    found: dict[str, Run] = {}
    for name, more in {"": {}, **features}.items():
        problem = structs.replace(plain, **more)
        if spec.unsupported(problem, device) is None:
            given = after_forward(spec, problem, draw_given(problem, "cuda"), "cuda")
            found[f"{kernel} {name}".strip()] = prepare_passes(spec, problem, given, "cuda").run
    return found


def flex_runs(plain: Problem) -> dict[str, Run]:
    """flex_attention forward: plain, softcapped and biased.

    Raises:
        Exception: Whatever torch.compile meets.
    """
    import torch  # noqa: PLC0415 - not on every machine
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention  # noqa: PLC0415 - as above

    q, k, v = (torch.from_dlpack(array) for array in make_inputs(plain, "cuda").qkv)
    slopes = torch.tensor(alibi_slopes(plain.heads), device=q.device)
    keep = None
    if plain.causal:
        keep = create_block_mask(lambda b, h, i, j: i >= j, None, None, SEQLEN, SEQLEN, device=q.device)  # noqa: ARG005 - its signature
    terms: dict[str, Any] = {
        "": None,
        "softcap": lambda s, b, h, i, j: SOFTCAP * torch.tanh(s / SOFTCAP),  # noqa: ARG005 - its signature
        "alibi": lambda s, b, h, i, j: s + slopes[h] * (j - i),  # noqa: ARG005 - as above
    }
    compiled = torch.compile(flex_attention, dynamic=False)

    def run(term: Any) -> None:
        compiled(q, k, v, score_mod=term, block_mask=keep)

    return {f"flex {name}".strip(): partial(run, term) for name, term in terms.items()}


def measure(runs: dict[str, Run], rounds: int) -> dict[str, list[float]]:
    """ms of each, in turns."""
    from flashscope.profiles.worker.instruments.bench_cuda import CudaBench  # noqa: PLC0415 - imports CuPy

    bench = CudaBench(None)
    samples: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(WARMUP + rounds):
        for name, run in runs.items():
            samples[name].append(bench.sample(run, cold=True).ms)
    return {name: times[WARMUP:] for name, times in samples.items()}


def told(head: str, plain: Problem, samples: dict[str, list[float]]) -> None:
    """A line each: ms, TFLOP/s, and the ratio to the same kernel's plain problem with its quartiles."""
    for name, times in samples.items():
        ms = median(times)
        base = samples[name.split()[0]]
        low, middle, high = quantiles([ours / theirs for ours, theirs in zip(times, base, strict=True)])
        rate = plain.flops / ms / 1e9
        sys.stdout.write(
            f"{head:<16}{name:<16}{ms:8.4f} ms {rate:5.0f} TFLOP/s  x{middle:6.3f} "
            f"({low:.3f} to {high:.3f})\n"
        )
        sys.stdout.flush()


def main() -> None:
    """Print the table of a pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pass", dest="passes", default="forward", choices=("forward", "backward"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--head-dim", type=int, nargs="*", default=list(HEAD_DIMS))
    parser.add_argument("--flex", action="store_true", help="flex_attention, too: compiles for a minute")
    parser.add_argument("--values", type=int, help="in place of the terms: a head dim of V's own")
    parser.add_argument("--warm", action="store_true", help="compile, and time nothing")
    asked = parser.parse_args()
    for head_dim, causal in product(asked.head_dim, (False, True)):
        plain = problem_of(head_dim, causal, asked.passes)
        features = {f"values of {asked.values}": {"head_dim_v": asked.values}} if asked.values else FEATURES
        runs = {**runs_of("flash3", plain, features), **runs_of("flash2", plain, features)}
        if asked.flex:
            try:
                flex = flex_runs(plain)
                for run in flex.values():
                    run()
                runs |= flex
            except Exception as error:  # noqa: BLE001 - a library's, to be told
                sys.stdout.write(f"flex_attention: {type(error).__name__}: {str(error)[:500]}\n")
        if not asked.warm:
            told(f"d={head_dim} {'causal' if causal else 'full'}", plain, measure(runs, asked.rounds))


if __name__ == "__main__":
    main()
