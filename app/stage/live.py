"""What a stop runs on stage: the options of `sweep`, as the form's *Copy command* writes them."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import AUTO, runnable
from flashscope.kernels.own.consent import obstacle_to_run
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.choice import Declared, choices_of
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.request import BACKENDS, Request, own_of

EXAMPLE = "--kernels standard,flash2 --seqlen 1k:16k"
BACKEND = "backend"


class Unrunnable(Exception):  # noqa: N818 - the story is right, this machine lacks something
    """A stop cannot run on this machine; the text says why, as a sentence without its stop."""


def check_run(text: str) -> None:
    """Refuse what is no sweep on any machine.

    Raises:
        InputError: An option or its value is wrong, or there is no such problem.
    """
    choices = read_options(text)
    for backend in BACKENDS if BACKEND not in choices else (choices[BACKEND],):
        _plan(choices, backend)


def plan_here(text: str, machine: Machine) -> Plan:
    """The plan of these options on a machine, of those kernels that run there.

    Raises:
        Unrunnable: The machine has no such device, none of the kernels runs on it, or one is from a file of
            the user's own that nobody named here.
        InputError: The options are wrong.
    """
    choices = read_options(text)
    backend: Backend = choices.get(BACKEND) or ("cuda" if machine.device("cuda") else "cpu")
    device = machine.device(backend)
    if device is None:
        raise Unrunnable(f"no usable GPU here: {machine.why_no_gpu()}")
    return _fitting(_plan(choices, backend), device)


def _fitting(plan: Plan, device: Device) -> Plan:
    kernels = runnable(plan.kernels, plan.problems, device)
    if not kernels:
        raise Unrunnable(f"{', '.join(plan.kernels)} cannot run on {device.name}")
    own = own_of(kernels)
    if obstacle := next(filter(None, map(obstacle_to_run, own)), ""):
        raise Unrunnable(obstacle.rstrip("."))
    return replace(plan, kernels=kernels, own=own)


def read_options(text: str) -> Mapping[str, Any]:
    """The choices of a sweep by their names, those that are not said left out.

    What stands before the word `sweep` is no option, so that a copied command can be pasted whole.

    Raises:
        InputError: It says what is wrong, and what to write.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"it is no line of options ({error}); write {EXAMPLE}") from error
    words = words[words.index("sweep") + 1 :] if "sweep" in words else words
    choices = dict(_read(iter(words)))
    if not choices:
        raise InputError(f"it names nothing to run; write {EXAMPLE}")
    return {name: value for name, value in choices.items() if value not in {AUTO, (AUTO,)}}


def _read(words: Iterator[str]) -> Iterator[tuple[str, Any]]:
    flags = {flag: one for one in choices_of(Request) for flag in one.choice.flag.split("/")}
    for word in words:
        flag, gives, value = word.partition("=")
        if flag == "--out":
            if not gives:
                next(words, None)
            continue
        declared = flags.get(flag)
        if declared is None:
            raise InputError(f"{flag[:40]!r} is no option of a sweep; {_meant(flag, tuple(flags))}")
        if declared.kind is bool:
            yield declared.name, flag == declared.choice.flag.split("/")[0]
        else:
            yield declared.name, _value(declared, flag, value if gives else next(words, ""))


def _value(declared: Declared, flag: str, text: str) -> Any:
    if text in declared.choice.also:
        return AUTO
    try:
        return declared.read(text)
    except ValueError as error:
        raise InputError(f"{flag}: {error}; write {EXAMPLE}") from error


def _meant(flag: str, flags: Sequence[str]) -> str:
    close = get_close_matches(flag, flags, n=1)
    return f"did you mean {close[0]}?" if close else f"write {EXAMPLE}"


def _plan(choices: Mapping[str, Any], backend: Backend) -> Plan:
    try:
        return Request.of(**{**choices, BACKEND: backend}).plan()
    except (ValueError, InputError) as error:
        raise InputError(f"there is no such sweep: {error}; write {EXAMPLE}") from error
