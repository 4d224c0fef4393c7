"""The comparison of machine code tells what a GPU would run differently from what it would not."""

from dataclasses import replace

from flashscope.kernels.cuda import simt
from tests.kernels.cuda.builds import ON_HOPPER, Build, covering
from tests.kernels.cuda.compiled import cubin_of, workload
from tests.kernels.cuda.machine_code import difference
from tests.matrix import chosen

SOURCE = """
constexpr float FACTOR = 3.0f;
extern "C" __global__ void scale(float* x, int n, float y) {
    if (threadIdx.x < n) x[threadIdx.x] = x[threadIdx.x] * FACTOR + y;
}
"""
PROGRAM = replace(simt.program(workload(64, "float32"), ON_HOPPER), defines={}, launches=())


CHANGES = [
    (("int n", "int  n"), "the same"),
    (("float* x, int n", "float* x, double* other, int n"), "parameters alone"),
    (("3.0f", "4.0f"), "other code"),
    (("threadIdx.x < n", "threadIdx.x <= n"), "other code"),
    (("constexpr float FACTOR", "constexpr float UNUSED = 5.0f, FACTOR"), "the same"),
]


@chosen("changed,kind", CHANGES, CHANGES[:3:2])
def test_only_what_a_gpu_runs_counts(changed: tuple[str, str], kind: str) -> None:
    old, new = SOURCE, SOURCE.replace(*changed)
    found, lines = difference(cubin_of(PROGRAM, ON_HOPPER, old), cubin_of(PROGRAM, ON_HOPPER, new))
    assert found == kind
    assert bool(lines) == (kind == "other code")


def test_the_covering_builds_have_every_value_and_every_pair_of_defines() -> None:
    every = [
        Build(f"{a}{b}{c}", replace(PROGRAM, defines={"A": a, "B": b, "C": c}), ON_HOPPER)
        for a in range(3)
        for b in range(2)
        for c in range(20)
    ]
    taken = [build.program.defines for build in covering(every)]
    assert len(taken) < len(every)
    assert {(one["A"], one["B"]) for one in taken} == {(a, b) for a in range(3) for b in range(2)}
    assert {one["C"] for one in taken} == {*range(20)}
    assert covering(reversed(every)) == covering(every)
    held = [{("C", one["C"]), ("A and B", one["A"], one["B"])} for one in taken]
    for place, own in enumerate(held):
        assert own - set().union(*held[:place], *held[place + 1 :]), "others hold all that it has"
