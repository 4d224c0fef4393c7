"""The kernels there are, our own and the libraries', and which of them to take.

Forms, tables, tests and documents iterate over these tuples.
"""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from kernels.device import Device
from kernels.errors import UnsupportedError
from kernels.ladder import LADDER
from kernels.peers import LIBRARY
from kernels.problem import Backend, Problem
from kernels.spec import KernelSpec

KERNELS: tuple[KernelSpec, ...] = (*LADDER, *LIBRARY)


LESSON: tuple[str, ...] = ("standard", "flash1", "flash2", "flash3")
"""One kernel for each step of the argument for tiling: what runs when nothing else is chosen."""


def lesson_on(backend: Backend) -> tuple[str, ...]:
    """Names of the `LESSON`'s kernels that exist on a backend."""
    return tuple(spec.name for spec in LADDER if spec.name in LESSON and backend in spec.dtypes)


def runnable(names: Sequence[str], problems: Sequence[Problem], device: Device) -> tuple[str, ...]:
    """Those of these kernels that take at least one of the problems on the device."""
    specs = [find_kernel(name) for name in names]
    return tuple(s.name for s in specs if any(s.unsupported(p, device) is None for p in problems))


def base_of(name: str) -> str | None:
    """The kernel of the ladder that this one is a step to or a variant of, as flash3 of flash3-fp8."""
    base, dash, _ = name.partition("-")
    return base if dash and any(spec.name == base for spec in LADDER) else None


def find_kernel(name: str, kernels: tuple[KernelSpec, ...] = KERNELS) -> KernelSpec:
    """The spec of that name.

    Raises:
        KeyError: No kernel has it; the text lists those that exist.
    """
    for spec in kernels:
        if spec.name == name:
            return spec
    names = [spec.name for spec in kernels]
    meant = "".join(f" (did you mean {near}?)" for near in get_close_matches(str(name), names, n=1))
    raise KeyError(f"no kernel is called {name!r}{meant}; there are {', '.join(names)}")


AUTO = "auto"  # in place of a kernel's name: the one `choose_kernel` names
FASTEST_FIRST: tuple[str, ...] = ("flash3", "flash2", "flash1", "standard", "simt", "fused")
"""The order in which `choose_kernel` tries our own kernels, on either backend."""


class Choice(NamedTuple):
    """A kernel, and why those that are tried before it do not take the problem; each reason once."""

    spec: KernelSpec
    passed_over: tuple[str, ...]


def choose(problem: Problem, device: Device) -> Choice:
    """The kernel that "auto" stands for: the first of `FASTEST_FIRST` that supports the problem there.

    Raises:
        UnsupportedError: None does; the text has each one's reason.
    """
    return _first_without(lambda spec: spec.unsupported(problem, device))


def choose_kernel(problem: Problem, device: Device) -> KernelSpec:
    """The same, without the reasons."""
    return choose(problem, device).spec


def choose_backward(problem: Problem, device: Device) -> KernelSpec:
    """The kernel that "auto" stands for in a backward pass, likewise.

    Raises:
        UnsupportedError: None does; the text has each one's reason.
    """
    return _first_without(lambda spec: spec.unsupported_backward(problem, device)).spec


def _first_without(reason_of: Callable[[KernelSpec], str | None]) -> Choice:
    """The first of `FASTEST_FIRST` that there is no reason against."""
    reasons: dict[str, None] = {}  # in order, each once
    for name in FASTEST_FIRST:
        spec = find_kernel(name)
        reason = reason_of(spec)
        if reason is None:
            return Choice(spec, tuple(reasons))
        reasons[reason] = None
    raise UnsupportedError(f"No kernel can run this: {'; '.join(reasons)}.")
