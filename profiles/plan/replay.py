"""The sweep that replays the attention calls of a model."""

from collections.abc import Sequence

from flashscope.kernels.catalogue.registry import KERNELS, runnable
from flashscope.kernels.workload.audit import ModelAudit, problem_of
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Dtype
from flashscope.profiles.plan.plan import Plan, Protocol

REPEATS, TIME_CAP_S = 15, 3.0  # of a replay


def usual_dtype(device: Device) -> Dtype:
    """The element type of a model's weights where nothing is said."""
    return "float32" if device.backend == "cpu" else "bfloat16"


def replay_plan(
    audit: ModelAudit,
    device: Device,
    kernels: Sequence[str] | None = None,
    *,
    repeats: int = REPEATS,
    time_cap_s: float = TIME_CAP_S,
) -> Plan | None:
    """The sweep over the distinct calls that a problem states; None: there is none, or no kernel takes any.

    Caches are warm: in a model what attention reads was written just before it.

    Args:
        audit: What was recorded.
        device: Where they are replayed.
        kernels: That replay them; None: all there are.
        repeats: Samples of each point.
        time_cap_s: Of each point.
    """
    stated = (problem_of(one.call) for one in audit.calls)
    problems = tuple(dict.fromkeys(problem for problem in stated if problem is not None))
    names = runnable(kernels or [spec.name for spec in KERNELS], problems, device)
    if not names:
        return None
    protocol = Protocol(repeats=repeats, time_cap_s=time_cap_s, cold=False)
    return Plan(backend=device.backend, kernels=names, problems=problems, protocol=protocol)
