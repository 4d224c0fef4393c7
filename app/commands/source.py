"""`source KERNEL`: the CUDA source of a kernel of the ladder as it is compiled, alone or beside another's."""

import sys

from flashscope.app.commands.code import print_code, print_sides, terminal_width
from flashscope.app.commands.messages import say
from flashscope.app.words.line_diff import diff_hunks, unified
from flashscope.kernels.cuda.reading.step import StepSource, read_problem, source_of
from flashscope.kernels.workload.problem import Dtype, Passes

LEAST_COLUMNS = 120  # of a terminal for two sources side by side


def run(
    kernel: str,
    *,
    against: str | None,
    passes: Passes,
    head_dim: int,
    dtype: Dtype,
    causal: bool,
    form: str | None,
) -> int:
    """Print the source, or what has changed in it from another kernel's."""
    problem = read_problem(head_dim, dtype=dtype, causal=causal, passes=passes)
    found = source_of(kernel, problem)
    if against is None:
        print_code(f"// {found.heading}\n{found.text}", "cuda")
        return 0
    _print_both(source_of(against, problem), found, form)
    return 0


def _print_both(before: StepSource, after: StepSource, form: str | None) -> None:
    if before.text == after.text:
        say(f"{after.heading}: the same as {before.kernel}")
    elif (form or _form()) == "diff":
        print_code(unified(before.text, after.text, (before.heading, after.heading)), "diff")
    else:
        print_sides((before.heading, after.heading), diff_hunks(before.text, after.text))


def _form() -> str:
    return "sides" if sys.stdout.isatty() and terminal_width() >= LEAST_COLUMNS else "diff"
