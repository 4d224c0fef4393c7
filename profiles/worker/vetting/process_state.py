"""The process that judges and times, before and after code of the user's own has run in it.

All is compared by identity, in plain Python: what was replaced can blunt no comparison that way.
"""

import gc
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import chain
from operator import is_
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from flashscope.profiles.worker.failures import CaughtError
from flashscope.profiles.worker.instruments.bench import KeptSettings
from flashscope.profiles.worker.vetting.openblas import openblas_threads
from flashscope.profiles.worker.vetting.started import StartedProcesses
from flashscope.profiles.worker.vetting.torch_defaults import TORCH_DEFAULTS

try:
    import resource as _resource
except ImportError:  # on Windows
    resource: ModuleType | None = None
else:
    resource = _resource

WATCHED = (
    *("time", "numpy", "builtins", "gc", "os", "sys", "threading", "tracemalloc", "math", "ctypes"),
    *("_thread", "random", "struct", "psutil", "ml_dtypes", "msgspec", "multiprocessing", "flashscope"),
    *("secrets", "statistics", "contextlib", "pynvml", "cupy", "cupy_backends"),
)
"""The packages that judge and time, those that most readers know first."""
OURS = "flashscope"
WITH_METHODS = frozenset((OURS, "psutil", "random", "threading", "multiprocessing"))
"""Those of them whose classes are written in Python, and do some of it: NumPy's answers come from C."""
TOLD = 3  # names of what was replaced, the rest is counted
SMALLEST = sys.float_info.min  # half of it is lost where denormals are flushed
ONE = 1.0
LOST = sys.float_info.epsilon / 8  # too small to change one, but where it is rounded up, or down
USUAL_DEPTH = 1000  # of calls, as Python begins with; libraries raise it
REMEDY = "What it sets it must put back before it returns: other kernels run in this process, too."


class Binding(NamedTuple):
    """A function, a class, or a constant of ours, as a module or class had it.

    Attributes:
        owner: The module or class.
        name: What it calls it.
        value: The function, or the constant.
        inside: What can be changed with the value left in place: code and defaults, or what it contains.
    """

    owner: Any
    name: str
    value: Any
    inside: tuple[Any, ...]

    def holds(self) -> bool:
        """Whether all is as it was."""
        if self.owner.__dict__.get(self.name) is not self.value:
            return False
        now = _inside(self.value)
        return len(now) == len(self.inside) and all(map(is_, now, self.inside))

    def put_back(self) -> None:
        """Have all as it was."""
        setattr(self.owner, self.name, self.value)
        if isinstance(self.value, FunctionType):
            self.value.__code__, self.value.__defaults__, self.value.__kwdefaults__ = self.inside
        elif isinstance(self.value, dict):
            self.value.clear()
            self.value.update(zip(self.inside[0::2], self.inside[1::2], strict=True))
        elif isinstance(self.value, list):
            self.value[:] = self.inside

    @property
    def told(self) -> str:
        """Its full name."""
        above = f"{self.owner.__module__}." if isinstance(self.owner, type) else ""
        return f"{above}{self.owner.__name__}.{self.name}"


class HeldClocks(NamedTuple):
    """HeldClocks in ns, held since before any code of the user's own ran.

    Attributes:
        wall: Time that goes by.
        process: CPU time of all threads.
        thread: CPU time of the thread that asks.
    """

    wall: Callable[[], int]
    process: Callable[[], int]
    thread: Callable[[], int]


class ProcessState:
    """How the process was when this was made: before any code of the user's own ran in it.

    Args:
        instruments: Objects whose attributes stay as they are, too.
        settings: What is to stay as it is beside the settings of the process.

    Attributes:
        spoilt: Whether it has been found otherwise, or a kernel did what none may, so that nothing more is to
            be measured in it.
        clocks: HeldClocks of its own.
        started: Processes that have been started from it since.
        lent: Whether code of the user's own has run in it.
    """

    def __init__(self, *instruments: object, settings: KeptSettings | None = None) -> None:
        self.spoilt, self.lent, self.started = False, False, StartedProcesses()
        self.clocks = HeldClocks(time.perf_counter_ns, time.process_time_ns, time.thread_time_ns)
        self._instruments = [(one, dict(vars(one))) for one in instruments]
        self._bindings = list(_bindings())
        self._read = {**SETTINGS, **(settings or {})}
        self._settings = {what: read() for what, read in self._read.items()}

    def trouble(self) -> str:
        """One sentence on what is otherwise now; empty where nothing is. Functions are put back."""
        replaced = [one for one in self._bindings if not one.holds()]
        for one in replaced:
            one.put_back()
        told = _told_replaced(replaced) or self._told_instruments() or self._told_settings()
        self.spoilt = self.spoilt or bool(told)
        return told

    def is_spoilt_by(self, error: Exception) -> bool:
        """Whether an error, or what its kernel left, has nothing more be measured in this process.

        A kernel that was caught at more than a wrong answer may have left threads behind.
        """
        caught = isinstance(error, CaughtError) and error.refusal.status == "failed"
        self.spoilt = bool(self.trouble()) or self.spoilt or caught
        return self.spoilt

    def _told_instruments(self) -> str:
        for one, before in self._instruments:
            now = one.__dict__
            for name in {*before, *now}:
                if name not in before or name not in now or now[name] is not before[name]:
                    return f"It changed {name} of the instruments that time it."
        return ""

    def _told_settings(self) -> str:
        changed = [
            what
            for what, read in self._read.items()
            if self._settings[what] is not None and read() != self._settings[what]
        ]
        if not changed:
            return ""
        return f"It left settings changed: {', '.join(changed)}. {REMEDY}"


def _told_replaced(replaced: list[Binding]) -> str:
    if not replaced:
        return ""
    names = [one.told for one in replaced]
    more = f" and {len(names) - TOLD} more" if len(names) > TOLD else ""
    what = "functions" if any(callable(one.value) for one in replaced) else "constants"
    return f"It replaced {what} of the process that judges it: {', '.join(names[:TOLD])}{more}."


def _bindings() -> Iterator[Binding]:
    """All functions and classes of the modules that judge and time, and the constants of ours."""
    by_root: dict[str, list[Any]] = {root: [] for root in WATCHED}
    for name, module in list(sys.modules.items()):
        root = name.partition(".")[0]
        if root in by_root and hasattr(module, "__name__"):
            by_root[root].append(module)
    for root, modules in by_root.items():
        for module in modules:
            yield from _of(module)
            yield from _constants(module) if root == OURS else ()
            if root in WITH_METHODS:
                yield from _methods(module)


def _methods(module: Any) -> Iterator[Binding]:
    for kind in list(vars(module).values()):
        if isinstance(kind, type) and kind.__module__ == module.__name__:
            yield from _of(kind)


def _of(owner: Any) -> Iterator[Binding]:
    for name, value in list(vars(owner).items()):
        if callable(value) or (isinstance(owner, type) and isinstance(value, property | staticmethod)):
            yield Binding(owner, name, value, _inside(value))


def _constants(module: Any) -> Iterator[Binding]:
    for name, value in list(vars(module).items()):
        if name.strip("_").isupper() and not callable(value):
            yield Binding(module, name, value, _inside(value))


def _inside(value: Any) -> tuple[Any, ...]:
    if isinstance(value, FunctionType):
        return value.__code__, value.__defaults__, value.__kwdefaults__
    if isinstance(value, dict):
        return tuple(chain.from_iterable(value.items()))
    return tuple(value) if isinstance(value, list) else ()


def _signals() -> object:
    """What Python does when each signal comes, but for that of a child's end, by which libraries wait."""
    return [signal.getsignal(one) for one in sorted(signal.valid_signals() - {signal.SIGCHLD})]


def _limits() -> object:
    """What the system lets the process have of memory and time, where it tells."""
    kinds = ("RLIMIT_AS", "RLIMIT_DATA", "RLIMIT_CPU")
    return [resource.getrlimit(getattr(resource, one)) for one in kinds] if resource else None


def _monitored() -> object:
    """Whether code of anyone is called as Python code runs."""
    names = [sys.monitoring.get_tool(one) for one in range(6)] if hasattr(sys, "monitoring") else []
    return sys.gettrace() is None, sys.getprofile() is None, names


def _threads_wanted() -> tuple[tuple[str, str], ...]:
    """What the environment says of the threads of libraries."""
    return tuple(sorted((name, value) for name, value in os.environ.items() if name.endswith("_NUM_THREADS")))


def _torch_threads() -> int | None:
    """PyTorch's, where it is loaded already."""
    torch = sys.modules.get("torch")
    found: int | None = torch.get_num_threads() if torch is not None else None
    return found


def _cores() -> object:
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None


def _timers() -> object:
    """Whether signals are to interrupt the process at times of their own."""
    kinds = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
    return [any(signal.getitimer(kind)) for kind in kinds]


def _priority() -> object:
    niceness = os.getpriority(os.PRIO_PROCESS, 0) if hasattr(os, "getpriority") else None
    return niceness, os.sched_getscheduler(0) if hasattr(os, "sched_getscheduler") else None


def _warnings_that_raise() -> object:
    """Those that libraries silence as they are imported do nobody harm."""
    return [one for one in warnings.filters if one[0] == "error"]


SETTINGS: KeptSettings = {
    "the garbage collector": lambda: (gc.isenabled(), gc.get_threshold()),
    "NumPy's handling of floating-point errors": np.geterr,
    "the interval at which threads switch": sys.getswitchinterval,
    "the cores it may run on": _cores,
    "its priority": _priority,
    "the threads that libraries are to use": _threads_wanted,
    "the threads of NumPy's products": openblas_threads,
    "PyTorch's threads": _torch_threads,
    **TORCH_DEFAULTS,
    "timers that interrupt it": _timers,
    "denormal numbers (a library linked with -ffast-math has them flushed)": lambda: SMALLEST / 2 > 0,
    "how numbers are rounded": lambda: (ONE + LOST, ONE - LOST),
    "a trace or profile function": _monitored,
    "warnings that it makes errors": _warnings_that_raise,
    "how deep calls may be nested": lambda: min(sys.getrecursionlimit(), USUAL_DEPTH),
    "where its output goes": lambda: (sys.stdout, sys.stderr),
    "what is called when garbage is collected": lambda: list(gc.callbacks),
    "what is called when a signal comes": _signals,
    "the memory and time that the system lets it have": _limits,
    "the size of NumPy's buffers": np.getbufsize,
}
"""Those of the process."""
