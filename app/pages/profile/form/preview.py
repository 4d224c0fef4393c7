"""Rows of a sweep that has not run: what the plots show before Run is pressed."""

from flashscope.app.pages.profile.form.reasons import impossible, refusal
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.plan import Point
from flashscope.profiles.plan.request import Request
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import PointState


def preview_rows(request: Request, device: Device | None = None) -> list[PointRow]:
    """A row for each point, with its predicted bytes; none for a request that cannot be a plan.

    It is pending, or unsupported where the kernel cannot run the problem on the device.
    """
    if not request.kernels or not request.seqlens or impossible(request):
        return []
    plan = request.plan()
    return [
        PointRow.of(request.backend, _state(point, device, request.backend))
        for point in plan.points()[: plan.cells]
    ]


def _state(point: Point, device: Device | None, backend: Backend) -> PointState:
    spec = find_kernel(point.kernel)
    refused = refusal(spec, point.problem, device)
    return PointState(
        point,
        spec.predicted_bytes(point.problem, backend),
        status="unsupported" if refused else "pending",
        reason=refused,
    )
