"""A kernel of the ladder as it is compiled for one problem: its source without the branches not taken."""

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from flashscope.kernels.catalogue.ladder import LADDER
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda.compile import FOLDER, INCLUDES, read_source
from flashscope.kernels.cuda.program import Program
from flashscope.kernels.cuda.reading.cards import H200, GpuCard
from flashscope.kernels.cuda.reading.constants import without_choices
from flashscope.kernels.cuda.reading.directives import without_branches
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Dtype, Passes, Problem

BEFORE = {spec.name: spec.predecessor for spec in LADDER if spec.predecessor is not None}


class StepSource(NamedTuple):
    """What the compiler is given of a kernel.

    Attributes:
        kernel: Its name.
        file: The source's name in kernels/cuda.
        heading: Both, and what it is compiled for, in a line.
        text: Its defines and the source without the branches they leave out; it compiles by itself.
    """

    kernel: str
    file: str
    heading: str
    text: str


READ_HEAD_DIMS = 64, 128, 256
"""Those that sources are read for; others have the source of the next one."""


def read_problem(
    head_dim: int = 128, *, dtype: Dtype = "bfloat16", causal: bool = False, passes: Passes = "forward"
) -> Problem:
    """A problem that a GPU has enough to do with: 4 sequences of 4096, 16 heads."""
    return Problem(
        batch=4,
        heads=16,
        seqlen_q=4096,
        seqlen_k=4096,
        head_dim=head_dim,
        dtype=dtype,
        causal=causal,
        passes=passes,
    )


def steps_of(passes: Passes) -> tuple[str, ...]:
    """The kernels of the ladder that have this pass in CUDA."""
    taken = ((spec.name, spec.backward if passes == "backward" else spec) for spec in LADDER)
    return tuple(name for name, one in taken if one is not None and "cuda" in one.implementation)


def step_before(kernel: str, passes: Passes) -> str:
    """The nearest kernel before this one that has this pass, too; empty: it begins a ladder."""
    before, there = BEFORE.get(kernel, ""), steps_of(passes)
    while before and before not in there:
        before = BEFORE.get(before, "")
    return before


def source_of(kernel: str, problem: Problem, card: GpuCard = H200) -> StepSource:
    """The source of a kernel of the ladder, for a problem on a GPU.

    Raises:
        InputError: It is no kernel of ours with a source in CUDA.
        UnsupportedError: It does not take the problem; the text says why.
        SourceError: The source has something that is not understood.
    """
    program = program_of(kernel, problem, card)
    masked = "causal" if problem.causal else "no mask"
    backward = problem.passes if problem.runs_backward else ""
    words = ", ".join(filter(None, (f"head dim {problem.head_dim}", problem.dtype, backward, masked)))
    arch = f"{card.target.arch}{program.arch_suffix}"
    heading = f"{kernel}: kernels/cuda/{program.source} as compiled for {arch}, {words}"
    return StepSource(kernel, program.source, heading, text_of(program, card))


def program_of(kernel: str, problem: Problem, card: GpuCard = H200) -> Program:
    """The program of a kernel for a problem on a GPU.

    Raises:
        InputError: It is no kernel of ours with a source in CUDA.
        UnsupportedError: It does not take the problem; the text says why.
    """
    names = steps_of("forward")
    if kernel not in names:
        raise InputError(f"{kernel} is none of the ladder's kernels; there are {', '.join(names)}.")
    spec = find_kernel(kernel)
    spec.require(problem, card.device)
    taken = spec.backward if spec.backward and problem.passes == "backward" else spec
    module = taken.implementation["cuda"]
    make: Callable[..., Program] = importlib.import_module(module).program
    if kernel == "standard-fp32s":
        make = partial(make, float_scores=True)
    if module.endswith(".flash3"):
        make = partial(make, step=kernel)
    return make(problem, card.target)


def text_of(program: Program, card: GpuCard = H200) -> str:
    """The defines of a program, and its source without the branches that they leave out.

    Raises:
        SourceError: The source has something that is not understood.
    """
    major, minor = card.compute_capability
    arch = 10 * (10 * major + minor)
    given = {**program.defines, "__CUDA_ARCH__": arch}
    text, known = without_branches(FOLDER / program.source, read_source(program), INCLUDES, given)
    text = without_choices(text, {**known.values, **given})
    defines = (f"#define {name} {value}" for name, value in program.defines.items())
    return "\n".join([*defines, "", *_single_spaced(text)]) + "\n"


def _single_spaced(text: str) -> Iterator[str]:
    """Lines, of several blank ones the first."""
    blank = True
    for line in text.rstrip("\n").split("\n"):
        if line.strip() or not blank:
            yield line.rstrip()
        blank = not line.strip()
