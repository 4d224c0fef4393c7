"""Kernels that misbehave on purpose, beside the real ones: what an engine must survive.

Each faulty kernel is named after what it does. This module is their registry (`tests.faults:KERNELS`) and,
on the CPU, also their implementation; those for CUDA are in tests/faults_cuda.py.
"""

import os
import signal
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from flashscope.kernels.catalogue.buffers import Buffer
from flashscope.kernels.catalogue.fp8 import Rounding
from flashscope.kernels.catalogue.registry import KERNELS as REAL
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.workload.errors import CompileError
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.tensors import Inputs
from flashscope.profiles.wire.events import PointChecked
from flashscope.profiles.wire.measurement import Measurement
from flashscope.profiles.wire.messages import encode

COMPILER_LOG = "kernel.cu(7): error: expected a ';'"
GARBAGE = b"\x00\xff\x82 not a message\n" * 3
SLOW_S = 0.03
REPLAY = "replay"
GATE = "FLASHSCOPE_TEST_GATE"  # names a pipe; each byte in it lets one run of `gated` go on
HANGS = "hangs from now on"
AT_THE_GATE = "waits at the gate"
LEFT_BEHIND = "left behind:"
NO_SUCH_POINT = PointChecked(
    index=99, t_ns=1, measurement=Measurement(timer="none", cold=False), free_bytes=0
)


PIB = 1 << 50


def _huge(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    return (Buffer("S", (PIB,), "float32"),)


def _nothing(problem: Problem, backend: Backend) -> tuple[Buffer, ...]:
    return ()


def _spec(name: str) -> KernelSpec:
    return KernelSpec(
        name=name,
        family="tiled",
        idea=f"a fault: {name}",
        dtypes={"cpu": ("float32",), "cuda": ("float32",)},
        workspace=_huge if name == "huge" else _nothing,
        implementation={"cpu": "tests.faults", "cuda": "tests.faults_cuda"},
    )


class FaultyLaunch:
    """The real flash2, spoilt."""

    def __init__(self, real: Launch, fault: Callable[["FaultyLaunch"], None]) -> None:
        self.output: Any = real.output
        self.lse: Any = real.lse
        self.workspace_bytes, self.note = real.workspace_bytes, real.note
        self.runs = 0
        self._real, self._fault = real, fault

    def run(self) -> None:
        self.before = self.output.copy()
        self._real.run()
        self.runs += 1
        self._fault(self)


class ReplayingLaunch(FaultyLaunch):
    """It computes once, and gives that answer in every further run."""

    def run(self) -> None:
        self.runs += 1
        if self.runs == 1:
            self._real.run()
            self.stored = self.output.copy(), self.lse.copy()
        else:
            self.output[...], self.lse[...] = self.stored


def _abort(_: FaultyLaunch) -> None:
    os.abort()


def _kill_itself(_: FaultyLaunch) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _hang(_: FaultyLaunch) -> None:
    """Endless; it leaves the core to other tests."""
    print(HANGS)  # noqa: T201 - read by a test
    while True:
        signal.pause()


def _hang_deaf(launch: FaultyLaunch) -> None:
    """Endless, and terminating does not help."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _hang(launch)


def _raise(_: FaultyLaunch) -> None:
    raise RuntimeError("the kernel says no")


def _raise_what_utf8_cannot_hold(_: FaultyLaunch) -> None:
    raise RuntimeError("no file named caf\udce9")


def _run_out_of_memory(_: FaultyLaunch) -> None:
    raise MemoryError


def _fail_to_compile(_: FaultyLaunch) -> None:
    raise CompileError("The compiler refused the kernel.", COMPILER_LOG)


def _be_wrong(launch: FaultyLaunch) -> None:
    launch.output[..., 0] += 1


def _write_nan(launch: FaultyLaunch) -> None:
    launch.output[0, 0, 0, 0] = np.nan


def _leave_a_row_out(launch: FaultyLaunch) -> None:
    """What stood there before is still there."""
    launch.output[0, 0, -1] = launch.before[0, 0, -1]


def _chatter(_: FaultyLaunch) -> None:
    """Garbage on the descriptors, as a C library would print it, and through Python."""
    os.write(1, GARBAGE)
    os.write(2, b"to stderr\n")
    print("from Python")  # noqa: T201 - this is the fault
    os.write(1, b"an end without a newline")


def _be_slow(_: FaultyLaunch) -> None:
    """A run of a known, noticeable length."""
    end = time.perf_counter() + SLOW_S
    while time.perf_counter() < end:
        pass


def _wait_at_the_gate(_: FaultyLaunch) -> None:
    """Go on once the test has written a byte into its pipe."""
    print(AT_THE_GATE)  # noqa: T201 - read by a test
    gate = os.open(os.environ[GATE], os.O_RDONLY)
    os.read(gate, 1)
    os.close(gate)


def _tell_imports(_: FaultyLaunch) -> None:
    print("loaded:", *sorted({name.partition(".")[0] for name in sys.modules}))  # noqa: T201 - read by a test


def _when_parked(fault: Callable[[FaultyLaunch], None]) -> Callable[[FaultyLaunch], None]:
    """Nothing now, the fault once its worker is to be parked."""

    def prepared(launch: FaultyLaunch) -> None:
        from flashscope.profiles.worker.serve import Worker  # noqa: PLC0415 - in a worker alone

        setattr(Worker, "park", lambda _: fault(launch))  # noqa: B010 - mypy forbids the assignment

    return prepared


def _raise_in_the_tenth_run(launch: FaultyLaunch) -> None:
    if launch.runs == 10:  # more than a check, a warm-up and three samples
        _raise(launch)


def in_turns(fault: Callable[[FaultyLaunch], None]) -> Callable[[FaultyLaunch], None]:
    """Nothing in the single run of a check, the fault after that."""

    def later(launch: FaultyLaunch) -> None:
        if launch.runs > 1:
            fault(launch)

    return later


def _to_the_engine(data: bytes) -> None:
    """Write into the pipe of messages, the only socket of a worker."""
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - numbers, not paths
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                os.write(int(name), data)


def _send(data: bytes) -> Callable[[FaultyLaunch], None]:
    """Send what is no message, and nothing after that."""

    def fault(launch: FaultyLaunch) -> None:
        _to_the_engine(data)
        _hang(launch)

    return fault


def _framed(data: bytes) -> bytes:
    """As multiprocessing sends it."""
    return struct.pack("!i", len(data)) + data


def _leave_behind(*command: str) -> Callable[[FaultyLaunch], None]:
    """Die, but leave a process that holds every pipe open."""

    def fault(launch: FaultyLaunch) -> None:
        left = subprocess.Popen(command, close_fds=False)
        print(LEFT_BEHIND, left.pid)  # noqa: T201 - read by a test, which ends it
        _kill_itself(launch)

    return fault


def _say(word: str) -> Callable[[FaultyLaunch], None]:
    return lambda _: print(word)  # noqa: T201 - read by a test


FAULTS: dict[str, Callable[[FaultyLaunch], None]] = {
    "abort": _abort,
    "kill-itself": _kill_itself,
    "hang": _hang,
    "hang-deaf": _hang_deaf,
    "raise": _raise,
    "raise-no-utf8": _raise_what_utf8_cannot_hold,
    "out-of-memory": _run_out_of_memory,
    "compile-error": _fail_to_compile,
    "wrong": _be_wrong,
    "nan": _write_nan,
    "chatter": _chatter,
    "slow": _be_slow,
    "gated": in_turns(_wait_at_the_gate),
    "tell-imports": _tell_imports,
    "wrong-in-turns": in_turns(_be_wrong),
    "leave-a-row-out-in-turns": in_turns(_leave_a_row_out),
    "abort-in-turns": in_turns(_abort),
    "hang-in-turns": in_turns(_hang),
    "raise-in-turns": in_turns(_raise),
    "raise-when-sustained": _raise_in_the_tenth_run,
    "out-of-memory-in-turns": in_turns(_run_out_of_memory),
    "send-garbage": _send(_framed(GARBAGE)),
    "send-a-huge-length": _send(struct.pack("!i", (1 << 31) - 1)),
    "send-a-huger-length": _send(struct.pack("!iQ", -1, 1 << 62)),
    "send-half-a-message": _send(struct.pack("!i", 100) + b"half"),
    "send-an-unknown-point": _send(_framed(encode(NO_SUCH_POINT))),
    "leave-a-process": _leave_behind("sleep", "600"),
    "leave-a-chatterer": _leave_behind("yes"),
    "hang-when-parked": _when_parked(_hang),
    "abort-when-parked": _when_parked(_abort),
    "say-a": _say("A ran"),
    "say-b": _say("B ran"),
    "say-c": _say("C ran"),
    REPLAY: lambda _: None,
    "huge": _say("this is never launched"),
}
CUDA_FAULTS = ("illegal-address", "illegal-address-in-turns", "endless")

EXACT_AS_8_BIT = replace(find_kernel("flash2"), name="exact-as-8-bit", rounding=lambda _: Rounding(32))
"""Judged as if it rounded its inputs, which it does not."""

_FLASH2_BACKWARD = find_kernel("flash2").backward
assert _FLASH2_BACKWARD is not None
BACKWARD_FAULTS = tuple(
    replace(
        find_kernel("flash2"),
        name=name,
        backward=replace(_FLASH2_BACKWARD, implementation={"cpu": "tests.faults_backward"}),
    )
    for name in ("wrong-dk", "drifting-dk")
)
"""Their forward passes are right, their backward passes are not."""

OTHERS = map(_spec, (*FAULTS, *CUDA_FAULTS))
KERNELS: tuple[KernelSpec, ...] = (*REAL, EXACT_AS_8_BIT, *BACKWARD_FAULTS, *OTHERS)


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    from flashscope.kernels.cpu import flash2  # noqa: PLC0415 - the registry above loads no implementation

    return spoilt(spec.name, flash2.prepare(find_kernel("flash2"), problem, inputs))


def spoilt(name: str, real: Launch) -> FaultyLaunch:
    """The real launch with the fault of that name."""
    return ReplayingLaunch(real, FAULTS[name]) if name == REPLAY else FaultyLaunch(real, FAULTS[name])
