"""Each CUDA kernel once on odd, small problems, for a sanitizer to watch; arguments are names of kernels.

    compute-sanitizer --tool memcheck --error-exitcode 9 python -m tests.kernels.cuda.sanitized flash2 flash3

Prints a line for each problem, and at the end why others did not run. A kernel is also held to its oracle:
exits 1 where an answer is wrong. Without a name all run, which takes minutes to compile.

racecheck knows no order between what a warp's lanes read and the arrival of one of them at an mbarrier, not
even behind __syncwarp: it reports the rows' states in flash3's backward pass, which are read like that.
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from flashscope.kernels.catalogue.ladder import LADDER
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.passes import after_forward, draw_given, prepare_passes
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.problem_words import pass_words
from flashscope.profiles.worker.judging import Criteria
from tests.kernels.cases import in_mode
from tests.kernels.cuda.test_emulated import EVEN, KINDS

HEAD_DIMS = (64, 128, 192, 256)
SCORED: tuple[dict[str, Any], ...] = (
    *({"softcap": 5.0}, {"sinks": True}, {"alibi": True, "causal": True}),
    {"head_dim_v": 96},
)
ASKED = (*KINDS.values(), *({**EVEN, **terms} for terms in SCORED))
FEW_TILES: dict[str, Any] = {"seqlen_q": 70, "seqlen_k": 1100, "causal": True}  # flash2 halves their rows


def problems(spec: KernelSpec) -> Iterator[Problem]:
    """Every mask, layout and term of the scores at every head dim: forward, and backward in either mode.

    And a number of tiles that decides how some are cut.
    """
    dtype = spec.dtypes["cuda"][-1]
    for kind, head_dim in product(ASKED, HEAD_DIMS):
        problem = Problem(heads=4, kv_heads=2, head_dim=head_dim, dtype=dtype, **kind)
        yield from (problem, in_mode(problem, False), in_mode(problem))
    yield from (Problem(heads=4, kv_heads=2, head_dim=d, dtype=dtype, **FEW_TILES) for d in (64, 128))


def run(spec: KernelSpec, problem: Problem) -> bool:
    """Run it once; whether the oracle agrees."""
    given = after_forward(spec, problem, draw_given(problem, "cuda"), "cuda")
    launch = prepare_passes(spec, problem, given, "cuda")
    launch.spoil()
    launch.run()
    return Criteria().of_kernel(spec, problem, given).judge(launch.answer()).passed


def main(names: Sequence[str]) -> int:
    """Run these kernels, all without a name; the exit code."""
    import cupy  # noqa: PLC0415 - the list is read without it

    from flashscope.kernels.cuda.device import describe  # noqa: PLC0415 - imports CuPy, as above

    cupy.cuda.set_allocator(None)  # every array by itself: the memory of a pool hides what runs over an end
    device, wrong, left = describe(), 0, dict[str, None]()
    for spec in (one for one in LADDER if one.name in names or not names):
        for problem in problems(spec):
            reason = spec.unsupported(problem, device)
            if reason is not None:
                left[reason] = None
                continue
            right = run(spec, problem)
            wrong += not right
            told = (pass_words(problem) or "forward", f"d {problem.head_dim}", *sorted(problem.features))
            sys.stdout.write(f"{'right' if right else 'WRONG'}  {spec.name}, {', '.join(told)}\n")
    sys.stdout.write("".join(f"not run: {reason}\n" for reason in left))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
