"""What fits: whether a point is worth launching at all, and which points memory holds together."""

from collections.abc import Sequence

from msgspec.structs import replace

from kernels.device import Device
from kernels.problem import Backend, Problem
from kernels.spec import KernelSpec
from profiles.failures import Refusal
from profiles.messages import CheckedPoint

GIB = 1 << 30


def refuse_unsupported(spec: KernelSpec, problem: Problem, device: Device) -> Refusal | None:
    """The kernel's own objection to this problem on this device, None when it has none."""
    reason = spec.unsupported(problem, device)
    return Refusal("unsupported", f"{reason[0].upper()}{reason[1:]}.") if reason else None


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


def apart(checked: Sequence[CheckedPoint], margin: float, free_bytes: int) -> list[tuple[CheckedPoint, ...]]:
    """Points of one problem in batches that memory holds together, with one set of inputs.

    All of them if their ledgers * (1 + margin) are free, else all but the largest, each of which is sampled
    alone and says so.
    """
    together, largest = [*checked], []
    while len(together) > 1 and _together(together) * (1 + margin) > free_bytes:
        largest.append(max(together, key=lambda one: one.found.footprint.total))
        together.remove(largest[-1])
    batches = [together, *([one] for one in largest)]
    reason = (
        f"with the other kernels beside it {_size(_together(checked))} would be held (and {margin:.0%} to "
        f"spare), but {_size(free_bytes)} were free."
    )
    return [
        (alone(batch[0], reason),) if largest and len(batch) == 1 else tuple(batch)
        for batch in sorted(batches, key=lambda batch: batch[0].point.index)
    ]


def alone(checked: CheckedPoint, reason: str) -> CheckedPoint:
    """The point with a remark on why it takes no turns, after what its kernel had to say."""
    note = " · ".join(filter(None, (checked.found.note, f"Sampled alone: {reason}")))
    return replace(checked, found=replace(checked.found, note=note))


def _together(checked: Sequence[CheckedPoint]) -> int:
    """Bytes of the inputs once, and of what each holds beside them."""
    ledgers = [one.found.footprint for one in checked]
    return ledgers[0].inputs + sum(ledger.total - ledger.inputs for ledger in ledgers)


def _arithmetic(spec: KernelSpec, problem: Problem, backend: Backend, margin: float, free_bytes: int) -> str:
    parts = [("inputs Q, K, V", problem.input_bytes), ("outputs O, LSE", problem.output_bytes)]
    parts += [(f"workspace {b.name} {b.shape}", b.nbytes) for b in spec.workspace(problem, backend)]
    predicted = spec.predicted_bytes(problem, backend)
    parts += [
        ("predicted", predicted),
        (f"with {margin:.0%} to spare", round(predicted * (1 + margin))),
        ("free", free_bytes),
    ]
    return "\n".join(f"{name}: {nbytes:,} B" for name, nbytes in parts)


def _size(nbytes: int) -> str:
    return f"{nbytes / GIB:,.2f} GiB"
