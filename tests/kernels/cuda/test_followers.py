"""Programs of several launches, run after run on other inputs in the same buffers, on a GPU.

A launch that began while the one before it ended, and did not wait for what that leaves, would see what the
run before left there. So every run's bits are compared with those of launches that ran one by one.
"""

from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

import pytest
from msgspec import structs

from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cuda.running import poison, prepared
from tests.kernels.cuda.running_backward import Mode, given
from tests.kernels.cuda.running_backward import poison as poison_backward
from tests.kernels.cuda.running_backward import prepared as prepared_backward

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]

RUNS, VARIANTS = 200, 4
BUSY_NS = 100_000_000  # in which the first runs are enqueued, so that their launches follow closely
FEW: dict[str, Any] = {"heads": 2}  # blocks on some of the multiprocessors
MANY: dict[str, Any] = {"batch": 4, "heads": 16}  # blocks in waves


def problem(blocks: dict[str, Any], head_dim: int, keys: int, *, causal: bool = False) -> Problem:
    return Problem(**blocks, seqlen_q=700, seqlen_k=keys, head_dim=head_dim, dtype="bfloat16", causal=causal)


FORWARD = (
    ("flash3", Problem(heads=8, seqlen_q=1, seqlen_k=8192, head_dim=128, dtype="bfloat16")),
    ("flash3", Problem(batch=2, heads=8, kv_heads=2, seqlen_q=3, seqlen_k=4000, dtype="float16")),
    *(
        (name, problem(blocks, head_dim, 900))
        for name, head_dim, blocks in product(("flash3-fp8", "standard"), (64, 128), (FEW, MANY))
    ),
)
BACKWARD = (  # to the sums of dQ one tile of keys adds; or several, always in the same order
    *((False, problem(blocks, head_dim, 128)) for head_dim, blocks in product((64, 128, 256), (FEW, MANY))),
    *(
        (True, problem(blocks, head_dim, 900, causal=True))
        for head_dim, blocks in product((64, 128), (FEW, MANY))
    ),
)
SPIN = """extern "C" __global__ void spin(long long ns) {
    long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < ns);
}"""


def named(value: object) -> str:
    if isinstance(value, Problem):
        return f"{value.batch * value.heads} heads of {value.head_dim}"
    return value if isinstance(value, str) else "deterministic" if value else "any order"


class Watched(NamedTuple):
    """A bound launch, the arrays that it reads, and those that it is judged by."""

    launch: Any
    read: Mapping[str, Any]
    written: tuple[Any, ...]

    def take(self, variant: Mapping[str, Any]) -> None:
        for name, array in self.read.items():
            array[...] = variant[name]


@pytest.mark.parametrize(("name", "problem"), FORWARD, ids=named)
def test_a_forward_pass_gives_the_bits_of_its_launches_one_by_one(
    cp: Any, name: str, problem: Problem
) -> None:
    drawn = [make_inputs(structs.replace(problem, seed=seed), "cuda") for seed in range(VARIANTS + 1)]
    launch: Any = prepared(name, problem, drawn[-1])
    watched = Watched(launch, drawn[-1].arrays, (launch.output, launch.lse))
    assert len(launch.launches) > 1
    expected = one_by_one(cp, watched, [inputs.arrays for inputs in drawn[:-1]])
    poison(launch)
    assert differing(cp, watched, [inputs.arrays for inputs in drawn[:-1]], expected) == 0


@pytest.mark.parametrize(("deterministic", "problem"), BACKWARD, ids=named)
def test_so_does_a_backward_pass(cp: Any, deterministic: bool, problem: Problem) -> None:
    drawn = [given(cp, structs.replace(problem, seed=seed)) for seed in range(VARIANTS + 1)]
    launch = prepared_backward(Mode("flash3", deterministic), problem, drawn[-1])
    watched = Watched(launch, drawn[-1]._asdict(), tuple(launch.gradients))
    expected = one_by_one(cp, watched, [saved._asdict() for saved in drawn[:-1]])
    poison_backward(launch)
    assert differing(cp, watched, [saved._asdict() for saved in drawn[:-1]], expected) == 0


def one_by_one(cp: Any, watched: Watched, variants: list[Mapping[str, Any]]) -> list[list[Any]]:
    """What is written for each variant, the device idle before every launch."""
    found = []
    for variant in variants:
        watched.take(variant)
        for launched in watched.launch.launches:
            cp.cuda.Device().synchronize()
            launched()
        found.append([array.copy() for array in watched.written])
    return found


def differing(cp: Any, watched: Watched, variants: list[Mapping[str, Any]], expected: list[list[Any]]) -> int:
    """How many bytes of all runs differ; nothing waits between them."""
    count = cp.zeros((), cp.int64)
    cp.RawKernel(SPIN, "spin")((1,), (1,), (cp.int64(BUSY_NS),))
    for run in range(RUNS):
        place = run % len(variants)
        watched.take(variants[place])
        watched.launch.run()
        for array, right in zip(watched.written, expected[place], strict=True):
            count += (array.view(cp.uint8) != right.view(cp.uint8)).sum()
    return int(count)
