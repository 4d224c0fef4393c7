"""The metadata that every exported plot carries."""

from importlib.metadata import PackageNotFoundError, version

from profiles.session import Session


def session_header(session: Session) -> dict[str, str]:
    """Who measured, when and how, as `key: value`."""
    machine, plan = session.machine, session.plan
    device = machine.device(session.backend)
    first = plan.problems[0]
    software = [f"{name} {found}" for name, found in machine.packages.items()]
    return {
        "session": session.name or session.id,
        "measured": session.started_at,
        "device": f"{session.backend} · {device.name if device else 'unknown device'}",
        "problem": f"batch {first.batch}, heads {first.heads}, head dim {first.head_dim}, {first.dtype}, "
        f"{'causal' if first.causal else 'not causal'}, seed {plan.seed}",
        "protocol": f"{'cold' if plan.protocol.cold else 'warm'} cache, {plan.protocol.repeats} repeats, "
        f"warm-up {plan.protocol.warmup}, {'verified' if plan.protocol.verify else 'not verified'}",
        "software": ", ".join([machine.system, f"Python {machine.python}", *software]),
        "written by": f"Flashscope {_own_version()}",
    }


def _own_version() -> str:
    try:
        return version("flashscope")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "from source"
