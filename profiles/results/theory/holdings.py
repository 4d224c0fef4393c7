"""What a kernel's footprint is made of, by formula: the problem's tensors, and every buffer besides."""

from typing import NamedTuple

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.profiles.results.model.rows import PointRow

TENSORS, PAGED = "Q K V O LSE", ", page table"


class FootprintPart(NamedTuple):
    """A share of a footprint: what it holds, and its bytes."""

    name: str
    nbytes: int


def holdings(row: PointRow) -> tuple[FootprintPart, ...]:
    """The problem's inputs and outputs, then the kernel's buffers, the largest first.

    Nothing where these are not what was predicted for the point: a library's kernel or a function of one's
    own, whose buffers nobody knows, gradients, a problem that the kernel does not take, a file that another
    version wrote.
    """
    problem = row.problem
    try:
        spec = find_kernel(row.kernel)
    except KeyError:
        return ()
    if (
        spec.family == "library"
        or spec.allocates_unseen
        or problem.runs_backward
        or row.status == "unsupported"
    ):
        return ()
    buffers = [FootprintPart(buffer.name, buffer.nbytes) for buffer in spec.workspace(problem, row.backend)]
    parts = (
        FootprintPart(
            TENSORS + (PAGED if problem.page_size else ""), problem.input_bytes + problem.output_bytes
        ),
        *sorted(buffers, key=lambda part: -part.nbytes),
    )
    return parts if sum(part.nbytes for part in parts) == row.predicted_bytes else ()
