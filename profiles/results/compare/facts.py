"""What a session says of the circumstances of its figures, each fact as text."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from flashscope.kernels.catalogue.registry import KERNELS, known_kernel
from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.results.model.session import Session

Explains = Literal["every", "gpu", "cpu", "none"] | tuple[str, ...]
"""Whose changes a fact may explain: those of every point, of every point on one backend, of none, or of the
kernels that use one of some things (see `uses`)."""

OWN, NUMPY = "our CUDA kernels", "our CPU kernels"


@dataclass(frozen=True)
class Fact:
    """One circumstance.

    Attributes:
        key: Its name in a document.
        title: Its name where people read it.
        of: Its value; None: the session does not tell.
        explains: Whose changes it may explain.
        absent: What stands for None; empty: two sessions of which one does not tell do not differ.
        of_kind: What its value is a mere mark of, which people read in its place; None: it is none.
    """

    key: str
    title: str
    of: Callable[[Session], str | None]
    explains: Explains
    absent: str = ""
    of_kind: Callable[[Session], str | None] | None = None


def uses(kernel: str, backend: str) -> frozenset[str]:
    """What a kernel is made with: packages by name, or one of ours."""
    spec = known_kernel(kernel)
    if spec is not None and spec.own is not None and spec.own.arrays == "torch":
        return frozenset({"torch"})
    if spec is not None and spec.extra is not None:
        return frozenset({spec.extra, "torch"})  # flash-attn-4 is called through PyTorch
    return frozenset({OWN if backend == "cuda" else NUMPY})


def _device(name: str) -> Callable[[Session], str | None]:
    def read(session: Session) -> str | None:
        device = session.machine.device(session.backend)
        return _text(getattr(device, name, None))

    return read


def _protocol(read: Callable[[Protocol], object]) -> Callable[[Session], str | None]:
    return lambda session: _text(read(session.plan.protocol))


def _package(*names: str) -> Callable[[Session], str | None]:
    """The version of the first of these that is installed, with its name where there are several."""

    def read(session: Session) -> str | None:
        known = session.machine.packages
        told = (f"{name} {known[name]}" if len(names) > 1 else known[name] for name in names if name in known)
        return next(told, None)

    return read


def _finding(name: str) -> Callable[[Session], str | None]:
    def read(session: Session) -> str | None:
        return next((found.detail for found in session.machine.findings if found.name == name), None)

    return read


def _host(session: Session) -> str | None:
    device = session.machine.device("cpu")
    return device.name if device else None


def _power_limit(session: Session) -> str | None:
    limit = session.telemetry.power_limit_w if session.telemetry else None
    return None if limit is None else f"{limit:g} W"


def _commits(session: Session) -> str | None:
    """The commits around the files of kernels of one's own, and whether the files are as in them."""
    told = (
        f"{one.name} {one.commit[:12]}{', edited' * bool(one.differs)}"
        for one in session.plan.own
        if one.commit
    )
    return "; ".join(told) or None


def _timers(session: Session) -> str | None:
    timers = {state.measurement.timer for state in session.points if state.measurement}
    return ", ".join(sorted(timers)) or None


def _text(value: object) -> str | None:
    return None if value is None else f"{value:g}" if isinstance(value, float) else str(value)


NOT_INSTALLED = "not installed"
OURS = (OWN, NUMPY)
OTHER_LIBRARIES = dict.fromkeys(spec.extra for spec in KERNELS if spec.extra and spec.extra != "torch")
FACTS: tuple[Fact, ...] = (
    Fact("backend", "Backend", lambda session: session.backend, "every"),
    Fact("device", "Device", _device("name"), "every"),
    Fact("uuid", "Card", _device("uuid"), "every", of_kind=_device("name")),
    Fact("multiprocessors", "Multiprocessors", _device("multiprocessors"), "every"),
    Fact("power-limit", "Power limit", _power_limit, "every"),
    Fact("driver", "NVIDIA driver", lambda session: session.machine.driver, "gpu"),
    Fact("timer", "Timer", _timers, "every"),
    Fact("cache", "Cache", _protocol(lambda one: "cold" if one.cold else "warm"), "every"),
    Fact("turns", "Kernels in turns", _protocol(lambda one: "yes" if one.interleave else "no"), "every"),
    Fact("warm-up", "Warm-up runs", _protocol(lambda one: one.warmup), "every"),
    Fact("flashscope", "Flashscope", _package("flashscope"), "every"),
    Fact("blas-threads", "BLAS threads", lambda session: _text(session.machine.blas_threads), "cpu"),
    Fact("cuda", "CUDA runtime", lambda session: session.machine.cuda, (OWN,)),
    Fact("nvrtc", "NVRTC, which compiles", _finding("NVRTC"), (OWN,)),
    Fact("cupy", "CuPy", _package("cupy-cuda13x", "cupy-cuda12x"), (OWN,), NOT_INSTALLED),
    Fact("numpy", "NumPy", _package("numpy"), (NUMPY,), NOT_INSTALLED),
    Fact("torch", "PyTorch", _package("torch"), ("torch",), NOT_INSTALLED),
    Fact("cudnn", "cuDNN", _package("nvidia-cudnn-cu13", "nvidia-cudnn-cu12"), ("torch",)),
    *(Fact(library, library, _package(library), (library,), NOT_INSTALLED) for library in OTHER_LIBRARIES),
    Fact("python", "Python", lambda session: session.machine.python, "cpu"),
    Fact("system", "System", lambda session: session.machine.system, "cpu"),
    Fact("own-commits", "Commits of one's own kernels", _commits, "none"),
    Fact("host", "CPU of the host", _host, "none"),
    Fact("repeats", "Repeats", _protocol(lambda one: one.repeats), "none"),
    Fact("time-cap", "Time cap, s", _protocol(lambda one: one.time_cap_s), "none"),
    Fact("sustained", "Sustained runs, s", _protocol(lambda one: one.sustain_s), "none"),
    Fact("counters", "Counters read", _protocol(lambda one: "yes" if one.counters else "no"), "none"),
    Fact("shuffle", "Shuffled", _protocol(lambda one: "yes" if one.shuffle else "no"), "none"),
    Fact("verified", "Verified", _protocol(lambda one: "yes" if one.verify else "no"), "none"),
    Fact("seed", "Seed of the order", lambda session: str(session.plan.seed), "none"),
)
"""Every circumstance that a session tells, but for clocks and kernels' sources (see circumstances)."""
