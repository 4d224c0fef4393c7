"""Why a request cannot be run as it is, and what of a session the form cannot hold, in sentences."""

from collections.abc import Mapping, Sequence

from msgspec import structs

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.own.consent import obstacle_of_file
from flashscope.kernels.own.files import is_there
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.choice import choices_of
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.request import MOST_SPREAD, Request, lengths_of, queries_of


def left_out(problems: Sequence[Problem]) -> list[str]:
    """What of the problems of one curve the form cannot hold, each in one sentence."""
    said = []
    batches = list(dict.fromkeys(problem.batch for problem in problems))
    if len(batches) > 1:
        along = f"from {batches[0]} to {batches[-1]} along N"
        said.append(f"Their batch goes {along}; the form takes {min(batches)}.")
    if queries_of(problems) is None:
        said.append("Their query rows are neither N nor one lower number; it takes N.")
    if lengths_of(problems) is None:
        said.append("Their sequences have lengths of their own; it takes full ones.")
    mask = problems[0].block_mask
    if mask is not None and mask.pattern and problems[0].window:
        said.append("Their window is left out: the form holds either a window or blocks.")
    if mask is not None and not mask.pattern:
        said.append("Their block mask was not made from a pattern and is left out.")
    return said


def out_of_range(asked: Request, shown: Request) -> list[str]:
    """The numbers of a request that the form's fields do not reach, each in one sentence."""
    return [
        f"Their {declared.choice.label} of {there} is beyond the form's range; it takes {here}."
        for declared in choices_of(Request)
        if declared.kind in {int, float} and not declared.choice.needs
        for there, here in [(asked.value(declared.name), shown.value(declared.name))]
        if there != here
    ]


def unavailable(spec: KernelSpec, request: Request, device: Device | None) -> str | None:
    """Why a kernel cannot be chosen for this request, None when it can; unknown devices rule nothing out."""
    if spec.own is not None and not is_there(spec.own):
        return obstacle_of_file(spec.own)
    if request.backend not in spec.dtypes:
        return f"not implemented on {request.backend}"
    if device is None:
        return None
    try:
        return spec.unsupported(_smallest(request), device)
    except InputError as error:
        return str(error)


def refusal(spec: KernelSpec, problem: Problem, device: Device | None) -> str:
    """Why a kernel cannot run a problem, empty when it can; unknown devices rule nothing out."""
    return (spec.unsupported(problem, device) if device is not None else None) or ""


def _smallest(request: Request) -> Problem:
    """A short problem of the request's kind; what is wrong with its lengths, `impossible` tells.

    Raises:
        InputError: There is no problem of its kind.
    """
    spread = request.lengths == "spread"
    batch = min(max(request.batch, 2), MOST_SPREAD) if spread else request.batch
    blocks = None if spread or request.page_size else request.blocks
    shortest = (batch if spread else 1) * (request.page_size or 1)
    return structs.replace(request, queries=0, batch=batch, blocks=blocks).problem(shortest)


def impossible(request: Request) -> str | None:
    """Why there is no problem of one of its lengths, None when there are all."""
    try:
        for seqlen in request.seqlens:
            request.problem(seqlen)
    except InputError as error:
        return str(error)
    return None


def blocked(
    request: Request, machine: Machine | None, refused: Mapping[str, str] | None = None
) -> str | None:
    """Why this request cannot be run now, in one sentence; None when it can.

    Args:
        request: The choices.
        machine: Where it is to run, None when that is not known yet.
        refused: Kernels that were ticked but cannot be chosen, each with the reason.
    """
    if machine is not None and machine.device(request.backend) is None:
        return f"This machine has no {request.backend} device; choose another backend in the top bar."
    if not request.kernels and refused:
        return f"No ticked kernel can run: {_said(refused)}."
    if not request.kernels:
        return "Choose at least one kernel."
    if not request.seqlens:
        return "Add at least one sequence length, for example 256:2048."
    return impossible(request)


def _said(refused: Mapping[str, str]) -> str:
    """The first reason with its kernel, and how many more the list of kernels tells."""
    name, why = next(iter(refused.items()))
    others = f"; {len(refused) - 1} more in the list" if len(refused) > 1 else ""
    return (why if why.startswith(name) else f"{name}: {why}").rstrip(".") + others
