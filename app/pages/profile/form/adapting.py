"""What a request has to leave or change to run on this machine, in sentences."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from flashscope.app.pages.profile.form.reasons import unavailable
from flashscope.app.words.results.queueing import DEVICES
from flashscope.app.words.units import thousands
from flashscope.kernels.catalogue.registry import find_kernel, lesson_on
from flashscope.kernels.workload.device import Device
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.problem_words import PASS_WORDS
from flashscope.profiles.plan.request import Request

COUNTERS_OFF = "Counters are off: they are read on an NVIDIA GPU alone."


class Change(NamedTuple):
    """What may be changed of a request.

    Attributes:
        name: Of the choice.
        value: What it would be.
        words: The sentence that says so.
    """

    name: str
    value: Any
    words: str


def adapted(request: Request, machine: Machine | None) -> tuple[Request, list[str]]:
    """The request as this machine can run it, and what was changed, each in a sentence; unknown: as it is."""
    device = None if machine is None else machine.device(request.backend) or machine.device("cpu")
    if device is None:
        return request, []
    said: list[str] = []
    if device.backend != request.backend:
        said.append("CPU in the place of the GPU: this machine has none that can be used.")
        request = replace(request, backend=device.backend)
    if device.backend == "cpu" and request.protocol.counters:
        request = replace(request, protocol=replace(request.protocol, counters=False))
        said.append(COUNTERS_OFF)
    request, changed = _with_some_kernel(request, device)
    said += changed
    return request, [*said, *_long(request, said)]


def _with_some_kernel(request: Request, device: Device) -> tuple[Request, list[str]]:
    """Change as little as lets a kernel run: other kernels, or one choice of the problem, or several."""
    changes = [one for one in _changes(request, device) if request.value(one.name) != one.value]
    several = [changes[:count] for count in range(2, len(changes) + 1)]
    for tried in ([], *([one] for one in changes), *several):
        changed = replace(request, **{one.name: one.value for one in tried})
        found, told = _kernels(changed, device)
        if found:
            return replace(changed, kernels=found), [*(one.words for one in tried), *told]
    return request, []  # nothing runs here whatever is changed: the form says why


def _changes(request: Request, device: Device) -> list[Change]:
    """What may be changed, in this order."""
    usual, where = Request.of(device.backend), f"no kernel takes on this {DEVICES[device.backend]}"
    dtype, dim, asked = usual.dtype, usual.head_dim, PASS_WORDS[request.passes]
    return [
        Change("dtype", dtype, f"{dtype} in the place of {request.dtype}, which {where}."),
        Change("head_dim", dim, f"Head dim {dim} in the place of {request.head_dim}, which {where}."),
        Change("page_size", None, f"Without pages, which {where}."),
        Change("lengths", "full", f"Full lengths in the place of others, which {where}."),
        Change("softcap", None, f"Without a softcap, which {where}."),
        Change("sinks", False, f"Without sinks, which {where}."),
        Change("alibi", False, f"Without ALiBi, which {where}."),
        Change(
            "head_dim_v", None, f"V's head dim as Q's in the place of {request.head_dim_v}, which {where}."
        ),
        Change("blocks", None, f"Without blocks, which {where}."),
        Change("deterministic", False, f"Without the choice of deterministic gradients, which {where}."),
        Change("passes", "forward", f"The forward pass in the place of {asked}, which {where}."),
    ]


def _kernels(request: Request, device: Device) -> tuple[tuple[str, ...], list[str]]:
    """The kernels of the request that run there, else those of the lesson that do; what that leaves out."""

    def why_not(name: str) -> str | None:
        return unavailable(find_kernel(name), request, device)

    reasons = {name: why_not(name) for name in request.kernels}
    left = tuple(name for name, reason in reasons.items() if reason is None)
    out = _left_out({name: _about(name, reason) for name, reason in reasons.items() if reason})
    if left:
        return left, out
    lesson = tuple(name for name in lesson_on(device.backend) if why_not(name) is None)
    return lesson, [*out, f"In their place: {', '.join(lesson)}."]


def _left_out(reasons: Mapping[str, str]) -> list[str]:
    """A sentence for each reason, with all kernels that it is about."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        by_reason.setdefault(reason, []).append(name)
    return [
        f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} left out: {reason}."
        for reason, names in by_reason.items()
    ]


def _about(name: str, reason: str) -> str:
    """The reason without the name that stands before it already."""
    return reason.removeprefix(f"{name} ").rstrip(".")


def _long(request: Request, said: Sequence[str]) -> list[str]:
    """A warning where a GPU's lengths have come to a CPU."""
    usual = max(Request.of(request.backend).seqlens)
    longest = max(request.seqlens, default=0)
    if request.backend != "cpu" or not said or longest <= usual:
        return []
    return [f"N up to {thousands(longest)} takes long on a CPU; take out what you do not need."]
