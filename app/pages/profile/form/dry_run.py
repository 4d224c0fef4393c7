"""What a sweep would need, before it is run: predicted bytes of every point against free memory."""

from dataclasses import dataclass
from typing import Literal

from flashscope.app.pages.profile.form.reasons import refusal
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.request import Request

Fit = Literal["fits", "tight", "cannot run", "will not fit", "unknown"]
TIGHT = 0.8  # share of the free memory beyond which other programs may get in the way
_ORDER: tuple[Fit, ...] = ("unknown", "fits", "tight", "cannot run", "will not fit")


@dataclass(frozen=True)
class DryCell:
    """One point before it runs: its predicted footprint in bytes and whether that fits.

    Where the kernel cannot run the problem, `refused` says why.
    """

    kernel: str
    predicted_bytes: int
    fit: Fit
    refused: str = ""


@dataclass(frozen=True)
class DryRow:
    """All kernels at one sequence length; the masks keep `kept_share` of its query-key pairs."""

    seqlen: int
    cells: tuple[DryCell, ...]
    kept_share: float = 1.0

    @property
    def worst(self) -> Fit:
        """The verdict of the cell that fits least."""
        return max((cell.fit for cell in self.cells), key=_ORDER.index, default="unknown")


def fit(predicted_bytes: int, free_bytes: int | None, margin: float) -> Fit:
    """Compare predicted bytes plus the protocol's margin with what is free, as the engine does."""
    if free_bytes is None:
        return "unknown"
    needed = predicted_bytes * (1 + margin)
    if needed > free_bytes:
        return "will not fit"
    return "tight" if needed > TIGHT * free_bytes else "fits"


def dry_run(request: Request, free_bytes: int | None, device: Device | None = None) -> list[DryRow]:
    """A row for each sequence length, a cell for each chosen kernel; no device rules no kernel out."""
    margin = request.protocol.fit_margin

    def cell(name: str, problem: Problem) -> DryCell:
        spec = find_kernel(name)
        predicted = spec.predicted_bytes(problem, request.backend)
        refused = refusal(spec, problem, device)
        verdict: Fit = "cannot run" if refused else fit(predicted, free_bytes, margin)
        return DryCell(name, predicted, verdict, refused)

    return [
        DryRow(problem.seqlen, tuple(cell(name, problem) for name in request.kernels), problem.kept_share)
        for problem in map(request.problem, request.seqlens)
    ]
