"""From what a kernel of the user's own declares to a KernelSpec like any other's."""

import re
from collections.abc import Sequence
from functools import partial
from math import sqrt

from flashscope.kernels.catalogue import workspace_backward
from flashscope.kernels.catalogue.buffers import Buffer
from flashscope.kernels.catalogue.marks import OWN_MARKS
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.registry import register_own
from flashscope.kernels.catalogue.spec import DTYPES_BY_BACKEND, Backward, KernelSpec
from flashscope.kernels.own.expression import evaluate_whole, sizes_with
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Backend, Dtype, Problem

ANY_HEAD_DIM = range(1, 1025)
FUNCTION, FUNCTION_BACKWARD = (
    "flashscope.kernels.library.own.function",
    "flashscope.kernels.library.own.backward",
)
SOURCE, SOURCE_BACKWARD = "flashscope.kernels.cuda.own_source", "flashscope.kernels.cuda.own_source_backward"
PROGRESSION = 3  # head dims from which one can speak of steps


def spec_of(own: OwnKernel, place: int = 0) -> KernelSpec:
    """The spec of a kernel of the user's own.

    Args:
        own: What it declares.
        place: Which of a plan's own kernels it is, from 0: each of the first has a mark of its own.
    """
    dtypes = _dtypes(own)
    return KernelSpec(
        name=own.name,
        family="own",
        idea=own.idea or f"a kernel of one's own, from {own.reference}",
        dtypes=dtypes,
        workspace=partial(_workspace, own),
        implementation=dict.fromkeys(dtypes, FUNCTION if own.function else SOURCE),
        head_dims=dict.fromkeys(dtypes, _head_dims(own)),
        features=dict.fromkeys(dtypes, frozenset(own.features)),
        min_compute_capability=own.min_compute_capability,
        mark=OWN_MARKS[place % len(OWN_MARKS)],
        backward=_backward(own, dtypes) if own.has_backward else None,
        limit=partial(_limit, own),
        own=own,
    )


def with_own(specs: tuple[KernelSpec, ...], own: Sequence[OwnKernel]) -> tuple[KernelSpec, ...]:
    """These specs and those of the kernels of the user's own."""
    return (*specs, *(spec_of(one, place) for place, one in enumerate(own)))


def admit(own: Sequence[OwnKernel]) -> None:
    """Have `find_kernel` find these in this process; nothing of them is run by that."""
    register_own(spec_of(one, place) for place, one in enumerate(own))


def _dtypes(own: OwnKernel) -> dict[Backend, tuple[Dtype, ...]]:
    taken = {b: tuple(d for d in own.dtypes if d in DTYPES_BY_BACKEND[b]) for b in own.backends}
    return {backend: dtypes for backend, dtypes in taken.items() if dtypes}


def _head_dims(own: OwnKernel) -> Sequence[int]:
    dims = tuple(sorted(set(own.head_dims)))
    if not dims:
        return ANY_HEAD_DIM
    if len(dims) < PROGRESSION:
        return dims
    steps = range(dims[0], dims[-1] + 1, dims[1] - dims[0])
    return steps if tuple(steps) == dims else dims


def _workspace(own: OwnKernel, problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    """What a raw CUDA kernel declares; a function allocates for itself."""
    del backend
    sizes = sizes_with(problem, own.defines)
    return tuple(
        Buffer(one.name, tuple(evaluate_whole(size, sizes) for size in one.shape), one.dtype)
        for one in own.workspace
    )


def _backward(own: OwnKernel, dtypes: dict[Backend, tuple[Dtype, ...]]) -> Backward:
    return Backward(
        idea=f"the backward pass of {own.name}, from O, LSE and dO",
        dtypes=dtypes,
        workspace=partial(_workspace, own),
        kept=workspace_backward.kept_rows,
        implementation=dict.fromkeys(dtypes, FUNCTION_BACKWARD if own.function else SOURCE_BACKWARD),
        min_compute_capability=own.min_compute_capability,
        needs_lse=False,
        deterministic=frozenset({"cpu"}),
    )


def _limit(own: OwnKernel, problem: Problem, device: Device) -> str | None:
    del device
    if problem.seqlen_q % own.length_multiple or problem.seqlen_k % own.length_multiple:
        return f"{own.name} takes sequence lengths that are multiples of {own.length_multiple} alone"
    if problem.seqlen_q != problem.seqlen_k and _knows_one_length(own):
        return f"{own.name} takes as many queries as keys alone: of lengths it is told N, not Nq and Nk"
    usual = problem.softmax_scale == 1 / sqrt(problem.head_dim)
    if not usual and "scale" not in (own.keywords if own.function else _words(own)):
        return f"{own.name} takes no scale other than 1/sqrt(head dim)"
    return None


def _knows_one_length(own: OwnKernel) -> bool:
    """Whether a `.cu` file names one length where there are two."""
    words = _words(own)
    return "N" in words and not words & {"Nq", "Nk"}


def _words(own: OwnKernel) -> set[str]:
    """What the numbers of a `.cu` file are made of."""
    numbers = [
        *(text for one in own.launches for text in (*one.grid, *one.threads, one.shared)),
        *(given.value for one in own.launches for given in one.arguments if given.scalar),
        *(text for _, text in own.defines),
    ]
    return {word for text in numbers for word in re.findall(r"\w+", text)}
