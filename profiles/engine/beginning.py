"""How the session of a plan begins, whoever measures it."""

import time
import uuid
from datetime import datetime, timezone

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.wire.events import PlanStarted, TelemetryStarted


def check_kernels(plan: Plan) -> None:
    """Refuse a plan before it is sent to where it is measured.

    Raises:
        KeyError: It names a kernel that there is not, and that is not the user's own.
    """
    own = {one.name for one in plan.own}
    for name in plan.kernels:
        if name not in own:
            find_kernel(name)


def predicted_bytes(plan: Plan, specs: tuple[KernelSpec, ...]) -> tuple[int, ...]:
    """The predicted footprint of each point, in running order.

    Raises:
        KeyError: The plan names a kernel that is not among these.
    """
    points = plan.points()
    return tuple(find_kernel(p.kernel, specs).predicted_bytes(p.problem, plan.backend) for p in points)


def plan_started(
    plan: Plan, predicted: tuple[int, ...], machine: Machine, telemetry: TelemetryStarted | None
) -> PlanStarted:
    """The first event of a fresh session, which begins now."""
    return PlanStarted(
        session_id=uuid.uuid4().hex,
        plan=plan,
        machine=machine,
        started_at=datetime.now(timezone.utc).astimezone().isoformat(timespec="milliseconds"),
        t_ns=time.monotonic_ns(),
        predicted_bytes=predicted,
        telemetry=telemetry,
    )
