"""The kernels there are. Forms, tables, tests and documents iterate over this tuple."""

from kernels.problem import Backend, Dtype, Problem
from kernels.spec import Buffer, KernelSpec

DTYPES_BY_BACKEND: dict[Backend, tuple[Dtype, ...]] = {
    "cuda": ("float32", "float16", "bfloat16"),
    "cpu": ("float32",),
}


def _score_matrices(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    del backend  # the same two matrices everywhere
    shape = (problem.batch, problem.heads, problem.seqlen_q, problem.seqlen_k)
    return (Buffer("S", shape, problem.dtype), Buffer("P", shape, problem.dtype))


STANDARD = KernelSpec(
    name="standard",
    family="standard",
    idea="S = QKᵀ, softmax, PV: three launches with S and P in HBM",
    dtypes=DTYPES_BY_BACKEND,
    workspace=_score_matrices,
    implementation={"cuda": "kernels.cuda.standard", "cpu": "kernels.cpu.standard"},
)

KERNELS: tuple[KernelSpec, ...] = (STANDARD,)


def find_kernel(name: str, kernels: tuple[KernelSpec, ...] = KERNELS) -> KernelSpec:
    """The spec of that name.

    Raises:
        KeyError: No kernel has it; the text lists those that exist.
    """
    for spec in kernels:
        if spec.name == name:
            return spec
    raise KeyError(f"no kernel is called {name!r}; there are {', '.join(k.name for k in kernels)}")
