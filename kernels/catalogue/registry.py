"""The kernels there are, our own and the libraries', and which of them to take.

Forms, tables, tests and documents iterate over these tuples.
"""

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from flashscope.kernels.catalogue.ladder import LADDER
from flashscope.kernels.catalogue.peers import LIBRARY
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Backend, Problem

KERNELS: tuple[KernelSpec, ...] = (*LADDER, *LIBRARY)
_OWN: dict[str, KernelSpec] = {}  # of the user, as plans of this process name them


def register_own(specs: Iterable[KernelSpec]) -> None:
    """Have `find_kernel` find kernels of the user's own, too; the newest of a name is what it means.

    A name that is taken means what is taken: a session may be older than a kernel of ours.
    """
    _OWN.update((spec.name, spec) for spec in specs if not is_taken(spec.name))


def is_taken(name: str) -> bool:
    """Whether a name means a kernel of ours, or one to be chosen."""
    return name == AUTO or any(spec.name == name for spec in KERNELS)


def own_kernel(name: str) -> KernelSpec | None:
    """The spec of a kernel of the user's own that this process knows, None where it knows none."""
    return _OWN.get(name)


def known_kernel(name: str) -> KernelSpec | None:
    """The spec of that name, of ours or of the user's own; None where neither is known."""
    return next((spec for spec in KERNELS if spec.name == name), None) or own_kernel(name)


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
    """The spec of that name, among these kernels and those of the user's own that this process knows.

    Raises:
        KeyError: No kernel has it; the text lists those that exist.
    """
    for spec in kernels:
        if spec.name == name:
            return spec
    if name in _OWN:
        return _OWN[name]
    names = [spec.name for spec in kernels]
    meant = "".join(f" (did you mean {near}?)" for near in get_close_matches(str(name), names, n=1))
    raise KeyError(f"no kernel is called {name!r}{meant}; there are {', '.join(names)}")


AUTO = "auto"  # in place of a kernel's name: the one `choose_kernel` names
RANKED: tuple[KernelSpec, ...] = tuple(sorted((s for s in KERNELS if s.rank), key=lambda s: s.rank or 0))
"""The kernels that `choose_kernel` tries, in this order, on either backend."""


class KernelChoice(NamedTuple):
    """A kernel, and why those that are tried before it do not take the problem; each reason once."""

    spec: KernelSpec
    passed_over: tuple[str, ...]


def choose(problem: Problem, device: Device) -> KernelChoice:
    """The kernel that "auto" stands for: the first of `RANKED` that supports the problem there.

    Raises:
        UnsupportedError: None does; the text has each one's reason.
    """
    return _first_without(lambda spec: spec.unsupported(problem, device))


def choose_kernel(problem: Problem, device: Device) -> KernelSpec:
    """The kernel that `choose` names, without the reasons."""
    return choose(problem, device).spec


def choose_backward(problem: Problem, device: Device) -> KernelSpec:
    """The kernel that "auto" stands for in a backward pass: the first of `FASTEST_FIRST` that supports it.

    Raises:
        UnsupportedError: None does; the text has each one's reason.
    """
    return _first_without(lambda spec: spec.unsupported_backward(problem, device)).spec


def _first_without(reason_of: Callable[[KernelSpec], str | None]) -> KernelChoice:
    """The first of `RANKED` that there is no reason against."""
    reasons: dict[str, None] = {}  # in order, each once
    for spec in RANKED:
        reason = reason_of(spec)
        if reason is None:
            return KernelChoice(spec, tuple(reasons))
        reasons[reason] = None
    raise UnsupportedError(f"No kernel can run this: {'; '.join(reasons)}.")
