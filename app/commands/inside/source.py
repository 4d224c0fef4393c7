"""`source KERNEL`: the CUDA source of a kernel of the ladder as it is compiled, alone or beside another's."""

from pathlib import Path
from tempfile import TemporaryDirectory

from flashscope.app.commands.messages import say
from flashscope.app.commands.printed.code import print_code, print_difference
from flashscope.app.figures.annotated_source import annotated_source
from flashscope.app.figures.instruction_lines import by_line
from flashscope.kernels.cuda.reading.cards import CARDS, GpuCard
from flashscope.kernels.cuda.reading.step import StepSource, read_problem, source_of
from flashscope.kernels.cuda.sass.listing import listing_of
from flashscope.kernels.workload.problem import Dtype, Passes, Problem


def run(
    kernel: str,
    *,
    against: str | None,
    passes: Passes,
    head_dim: int,
    dtype: Dtype,
    causal: bool,
    form: str | None,
    gpu: str,
    sass: bool,
) -> int:
    """Print the source, with its machine code or alone, or what has changed in it from another kernel's."""
    problem = read_problem(head_dim, dtype=dtype, causal=causal, passes=passes)
    card = next(one for one in CARDS if one.name == gpu)
    if sass:
        _print_sass(kernel, problem, card)
        return 0
    found = source_of(kernel, problem, card)
    if against is None:
        print_code(f"// {found.heading}\n{found.text}", "cuda")
        return 0
    _print_both(source_of(against, problem, card), found, form)
    return 0


def _print_sass(kernel: str, problem: Problem, card: GpuCard) -> None:
    """Print the source once for each kernel of its build, with the instructions under their lines."""
    with TemporaryDirectory(prefix="flashscope-") as folder:
        build = listing_of(kernel, problem, card, Path(folder))
    for one in build.kernels:
        lines = by_line(one.instructions, build.source.file)
        print_code(annotated_source(build, card, problem, one, lines), "cuda")


def _print_both(before: StepSource, after: StepSource, form: str | None) -> None:
    if before.text == after.text:
        say(f"{after.heading}: the same as {before.kernel}")
    else:
        print_difference((before.text, after.text), (before.heading, after.heading), form)
