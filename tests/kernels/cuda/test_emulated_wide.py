"""flash3's backward pass for wide heads, by pairs of blocks, in the emulator; what breaks it is found."""

from functools import partial
from itertools import product
from typing import Any

from flashscope.kernels.cuda import flash3_backward
from flashscope.kernels.oracle.verdict import Verdict
from flashscope.kernels.workload.problem import Dtype, Problem
from tests.kernels.cuda.emulator.build import Edits
from tests.kernels.cuda.emulator.running import Setting, backward, fails, needs_compiler
from tests.matrix import chosen, matrix

pytestmark = needs_compiler
DTYPES: tuple[Dtype, ...] = ("float16", "bfloat16")
CASES: dict[str, dict[str, Any]] = {
    "one": {"seqlen_q": 1, "seqlen_k": 1},
    "causal": {"seqlen_q": 300, "seqlen_k": 200, "causal": True},
    "grouped": {"heads": 2, "kv_heads": 1, "seqlen_q": 130, "seqlen_k": 257},
    "the second block has no key": {"seqlen_q": 500, "seqlen_k": 190},
    "rows without keys": {"seqlen_q": 300, "seqlen_k": 100, "causal": True},
    "window": {"seqlen_q": 200, "seqlen_k": 300, "window": (20, 10)},
    "keys without rows": {"seqlen_q": 100, "seqlen_k": 400, "window": (20, 0)},
}
MUTANTS: dict[str, Edits] = {
    "P replaces dS that is still read": (
        ("if (step >= 2) wait(at.weights_empty(buffer), step / 2 - 1 & 1);", ""),
    ),
    "dS of the other block is not waited for": (("wait(at.received_full(buffer), step / 2 & 1);", ""),),
    "dS is not published": (("ds);\n        publish_stores();", "ds);"),),
    "Q is never released": (("if (leader) release(at.q_empty(stage));", ""),),
    "K of the same block twice": (("keys.k0 + (rank ^ 1) * ROWS", "keys.k0 + rank * ROWS"),),
    "the other block's half of dQ": (("return GROUPS * rank + group;", "return GROUPS * (rank ^ 1);"),),
}


def run(problem: Problem, seed: int, *, edits: Edits = ()) -> Verdict:
    return backward("flash3", problem, flash3_backward.program, Setting(seed, edits=edits))


@matrix("head_dim dtype case", [*product((192, 256), DTYPES, CASES)], "head_dim case", few=1)
def test_gradients_agree_with_the_oracle(head_dim: int, dtype: Dtype, case: str) -> None:
    for seed in range(3):
        verdict = run(Problem(head_dim=head_dim, dtype=dtype, **CASES[case]), seed)
        assert verdict.passed, (seed, verdict)


@chosen("mutant", MUTANTS, ())
def test_a_mutant_is_found(mutant: str) -> None:
    problem = Problem(seqlen_q=700, seqlen_k=250, head_dim=256, dtype="bfloat16")
    assert any(fails(partial(run, problem, seed, edits=MUTANTS[mutant])) for seed in range(12))
