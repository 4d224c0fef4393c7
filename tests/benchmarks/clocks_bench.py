"""What clocks between the stages cost on this GPU: pytest -m benchmark -s clocks_bench.py.

Of every kernel that has such a build, both passes of flash1, flash2 and flash3, at head dims 64 and 128, of
flash3's backward pass 256 as well, causal and not, N = 1k to 8k:
the timed build and the one with clocks in turns, cold, 16384 tokens of a width of 2048 in float16. Prints the
medians of both, what the clocks add, and between which bounds that lies in the middle half of the turns; it
gates on nothing.
"""

from itertools import product
from statistics import median

import numpy as np
import pytest

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda.clocked.builds import clocked_build
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.cuda.launch import current_target
from flashscope.kernels.launching.passes import after_forward, draw_given, prepare_passes
from flashscope.kernels.workload.problem import Passes, Problem
from flashscope.kernels.workload.timeline import ClockedKernel

TOKENS, WIDTH = 16_384, 2048
KERNELS: tuple[tuple[ClockedKernel, Passes], ...] = (
    ("flash1", "forward"),
    ("flash3-a", "forward"),
    ("flash3-b", "forward"),
    ("flash3-c", "forward"),
    ("flash3-fp8", "forward"),
    ("flash2", "forward"),
    ("flash3", "forward"),
    ("flash1", "backward"),
    ("flash2", "backward"),
    ("flash3", "backward"),
)
WIDE = ("flash3", "backward")  # has a kernel of its own for heads of 256
WARMUP, ROUNDS = 3, 21


def problems(kernel: ClockedKernel, passes: Passes) -> list[Problem]:
    """All that are measured."""
    dims = (64, 128, 256) if (kernel, passes) == WIDE else (64, 128)
    return [
        Problem(
            batch=TOKENS // seqlen,
            heads=WIDTH // head_dim,
            seqlen_q=seqlen,
            seqlen_k=seqlen,
            head_dim=head_dim,
            causal=causal,
            dtype="float16",
            passes=passes,
        )
        for head_dim, causal, seqlen in product(dims, (False, True), (1024, 2048, 4096, 8192))
    ]


def measure(kernel: ClockedKernel, problem: Problem) -> tuple[list[float], list[float]]:
    """Milliseconds of the timed build and of the one with clocks, round by round."""
    from flashscope.kernels.cuda.timeline import bind_clocked  # noqa: PLC0415 - imports CuPy; collected on machines without it
    from flashscope.profiles.worker.instruments.bench_cuda import CudaBench  # noqa: PLC0415 - as above

    spec = find_kernel(kernel)
    given = after_forward(spec, problem, draw_given(problem, "cuda"), "cuda")
    watched = bind_clocked(clocked_build(kernel, problem, current_target()), spec, problem, given)
    runs = prepare_passes(spec, problem, given, "cuda").run, watched.run
    bench = CudaBench(None)
    samples: tuple[list[float], list[float]] = ([], [])
    for turn in range(WARMUP + ROUNDS):
        for place in (0, 1) if turn % 2 else (1, 0):
            samples[place].append(bench.sample(runs[place], cold=True).ms)
    plain, clocked = (times[WARMUP:] for times in samples)
    return plain, clocked


@pytest.mark.gpu
@pytest.mark.benchmark
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("kernel", "passes"), KERNELS)
def test_what_clocks_add(kernel: ClockedKernel, passes: Passes) -> None:
    device = describe()
    print(f"\n{kernel} {passes} on {device.name}: ms timed, ms with clocks, added (middle half)")  # noqa: T201 - the table
    for problem in problems(kernel, passes):
        if find_kernel(kernel).unsupported(problem, device):
            pytest.skip(f"{kernel} does not run here")
        plain, clocked = measure(kernel, problem)
        added = 100 * (median(clocked) / median(plain) - 1)
        low, high = np.percentile(100 * (np.array(clocked) / np.array(plain) - 1), (25, 75))
        mask = "causal" if problem.causal else "full"
        print(  # noqa: T201 - as above
            f"d={problem.head_dim:<4}{mask:<7} N={problem.seqlen_q:<6}{median(plain):8.4f} "
            f"{median(clocked):8.4f} {added:+6.1f} % ({low:+.1f} to {high:+.1f})"
        )
