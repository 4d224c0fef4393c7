"""Rows of a sweep that has not run: what the plots show before Run is pressed."""

from app.pages.profile.sweep import Sweep
from kernels.registry import find_kernel
from profiles.session import PointState
from profiles.summary import PointRow, row


def preview_rows(sweep: Sweep) -> list[PointRow]:
    """A pending row for each point, with its predicted bytes; none for a sweep that cannot be a plan."""
    if not sweep.kernels or not sweep.seqlens:
        return []
    plan = sweep.plan()
    return [
        row(
            sweep.backend,
            PointState(point, find_kernel(point.kernel).predicted_bytes(point.problem, sweep.backend)),
        )
        for point in plan.points()[: plan.cells]
    ]
