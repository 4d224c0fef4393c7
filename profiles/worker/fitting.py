"""Whether a point is worth launching at all: the kernel takes it, and it fits."""

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.worker.failures import Refusal

GIB = 1 << 30


def refuse_unsupported(spec: KernelSpec, problem: Problem, device: Device) -> Refusal | None:
    """The kernel's own objection to this problem on this device, None when it has none."""
    reason = spec.unsupported(problem, device)
    if not reason:
        return None
    named = spec.own is not None and reason.startswith(spec.name)  # by its user, in these very letters
    return Refusal("unsupported", f"{reason}." if named else f"{reason[0].upper()}{reason[1:]}.")


def refuse_oversize(
    spec: KernelSpec, problem: Problem, backend: Backend, margin: float, free_bytes: int
) -> Refusal | None:
    """A refusal when predicted bytes * (1 + margin) exceed what is free, None when it fits."""
    predicted = spec.predicted_bytes(problem, backend)
    needed = round(predicted * (1 + margin))
    if needed <= free_bytes:
        return None
    reason = (
        f"It needs {_size(predicted)} (and {margin:.0%} to spare), but {_size(free_bytes)} are free; "
        f"choose a shorter sequence, fewer heads or a tiled kernel."
    )
    return Refusal("will-not-fit", reason, _arithmetic(spec, problem, backend, margin, free_bytes))


def _arithmetic(spec: KernelSpec, problem: Problem, backend: Backend, margin: float, free_bytes: int) -> str:
    parts = [("inputs Q, K, V", problem.input_bytes), ("outputs O, LSE", problem.output_bytes)]
    buffers = spec.workspace(problem, backend) if problem.runs_forward else ()
    if problem.runs_backward and spec.backward is not None:
        drawn = problem.drawn_bytes - problem.input_bytes
        parts += [("dO", drawn), ("gradients dQ, dK, dV", problem.input_bytes)]
        buffers += spec.backward.workspace(problem, backend)
    parts += [(f"workspace {b.name} {b.shape}", b.nbytes) for b in buffers]
    predicted = spec.predicted_bytes(problem, backend)
    parts += [
        ("predicted", predicted),
        (f"with {margin:.0%} to spare", round(predicted * (1 + margin))),
        ("free", free_bytes),
    ]
    return "\n".join(f"{name}: {nbytes:,} B" for name, nbytes in parts)


def _size(nbytes: int) -> str:
    return f"{nbytes / GIB:,.2f} GiB"
