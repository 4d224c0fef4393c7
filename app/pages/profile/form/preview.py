"""Rows of a sweep that has not run: what the plots show before Run is pressed."""

from app.pages.profile.form.reasons import impossible
from kernels.registry import find_kernel
from profiles.plan.request import Request
from profiles.results.rows import PointRow
from profiles.results.session import PointState


def preview_rows(request: Request) -> list[PointRow]:
    """A pending row for each point, with its predicted bytes; none for a request that cannot be a plan."""
    if not request.kernels or not request.seqlens or impossible(request):
        return []
    plan = request.plan()
    return [
        PointRow.of(
            request.backend,
            PointState(point, find_kernel(point.kernel).predicted_bytes(point.problem, request.backend)),
        )
        for point in plan.points()[: plan.cells]
    ]
