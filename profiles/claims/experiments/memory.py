"""What attention holds: by the exact ledger of the kernels here, at shapes that documents name."""

from collections.abc import Callable

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.profiles.claims.experiments.arithmetic import confirmed
from flashscope.profiles.claims.model import LEDGER, RUN, Experiment
from flashscope.profiles.plan.models import Setting, find_model
from flashscope.profiles.results.planner.ledger import longest_context

GB, MIB, GIB = 1e9, 1 << 20, 1 << 30
A100_GB = 80
GPT3_CONTEXT = 2048  # tokens: Brown et al. 2020, section 2.1


def square(seqlen: int, heads: int = 1, head_dim: int = 64, dtype: Dtype = "float16") -> Problem:
    """One layer's attention over a whole sequence."""
    return Problem(seqlen_q=seqlen, seqlen_k=seqlen, heads=heads, head_dim=head_dim, dtype=dtype)


def workspace(kernel: str, problem: Problem) -> int:
    """Bytes that a kernel holds besides inputs and outputs."""
    return find_kernel(kernel).workspace_bytes(problem, "cuda")


def bytes_in_all(kernel: str, problem: Problem) -> int:
    """Bytes that a kernel holds in all."""
    return find_kernel(kernel).predicted_bytes(problem, "cuda")


def growth(kernel: str, factor: float) -> Experiment:
    """How a footprint grows when N doubles, far out."""

    def test() -> tuple[bool, str]:
        once, twice = (bytes_in_all(kernel, square(n)) for n in (1 << 16, 1 << 17))
        ratio = twice / once
        return abs(
            ratio - factor
        ) < 0.05, f"{kernel} holds {ratio:.3f} times as much at 128k as at 64k tokens"

    return confirmed("Count the bytes held at N = 64k and at 128k.", test, LEDGER)


def fits(kernel: str, problem: Problem, gigabytes: float, *, claimed: bool) -> Experiment:
    """Whether one layer's attention fits a memory, and whether that is what is claimed."""

    def test() -> tuple[bool, str]:
        nbytes = bytes_in_all(kernel, problem)
        told = (
            f"{kernel} holds {nbytes / GIB:,.2f} GiB for a layer of {problem.heads} heads, "
            f"of {gigabytes * GB / GIB:.1f} GiB"
        )
        return (nbytes <= gigabytes * GB) is claimed, f"{told} ({problem.dtype}, d {problem.head_dim})"

    return confirmed(f"Count what {kernel} holds of one layer at N = {problem.seqlen_q:,}.", test, LEDGER)


def context(model: str, gibibytes: float, test: Callable[[int, int], tuple[bool, str]]) -> Experiment:
    """The longest contexts of a model in a memory beside its weights, of standard and of a tiled kernel."""

    def run() -> tuple[bool, str]:
        ends = [
            longest_context(find_model(model), Setting(), kernel, round(gibibytes * GIB)).tokens
            for kernel in ("standard", "flash2")
        ]
        holds, told = test(*ends)
        return holds, f"{told} ({model} in {gibibytes:g} GiB, bfloat16, weights and cache counted)"

    return confirmed(f"Find the longest context of {model} beside its weights, by bisection.", run, LEDGER)


def kept() -> Experiment:
    """What a tiled backward pass is left: the sizes of O and of LSE, and no P."""

    def test() -> tuple[bool, str]:
        problem = square(4096)
        backward = find_kernel("flash2").backward
        buffers = backward.kept(problem, "cuda") if backward else ()
        shapes = {one.name: "×".join(map(str, one.shape[2:])) for one in buffers}
        told = ", ".join(f"{name} is {shape}" for name, shape in shapes.items())
        return all(len(one.shape) == 3 for one in buffers), f"at N = 4096, d = 64: {told}"

    return confirmed("List what a forward pass leaves for the tiled backward pass.", test, LEDGER)


def layers_in_turn() -> Experiment:
    """What NumPy's allocator holds at most over four layers one after the other, and over one."""

    def test() -> tuple[bool, str]:
        one, four = _peak(1), _peak(4)
        told = f"peak of one layer {one / MIB:.1f} MiB, of four in turn {four / MIB:.1f} MiB"
        return four > 1.5 * one, told

    return confirmed(
        "Run standard attention once, and four times in turn as layers do; read the peaks.", test, RUN
    )


def _peak(layers: int) -> int:
    import tracemalloc  # noqa: PLC0415 - it slows down what runs beside it

    from flashscope.kernels.launching.launch import make_inputs, prepare  # noqa: PLC0415 - NumPy's kernels, when they run

    problem = square(512, dtype="float32")
    inputs = make_inputs(problem, "cpu")
    tracemalloc.start()
    try:
        for _ in range(layers):
            prepare(find_kernel("standard"), problem, inputs, "cpu").run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
