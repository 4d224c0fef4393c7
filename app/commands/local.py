"""Runs on this machine without a window: events come out of a queue."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

from flashscope.app.commands.exit_codes import FAILED, SIGNALLED, USAGE_ERROR
from flashscope.app.commands.hosts import HERE, Hosts, engine_of
from flashscope.app.commands.messages import complain
from flashscope.app.control.bundled import check_own
from flashscope.kernels.catalogue.registry import AUTO
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.cluster.connection import ConnectError
from flashscope.profiles.engine.contract import EngineFactory
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.running.driver import Driver
from flashscope.profiles.store.opening import check_editable
from flashscope.profiles.wire.events import Event, MachineFound, RequestFailed, RequestKind

Events = SimpleQueue[Event | int]  # an int is the number of a signal that arrived
Answering = TypeVar("Answering", bound=Event)
LIFE = "FLASHSCOPE_LIFE"
"""Names to a run the end of a pipe of whoever makes it, which can be read once that process is gone."""


@contextmanager
def local_driver(hosts: Hosts = HERE) -> Iterator[tuple[Driver, Events]]:
    """A driver and the queue that its engine fills; closed at the end, with all children and files.

    Args:
        hosts: Who measures; left out: this machine does.

    Raises:
        ConnectError: A host cannot be reached or used.

    From then on signals are what arrives in the queue, as `driver_of` says.
    """
    with engine_of(hosts) as make_engine, driver_of(make_engine) as found:
        yield found


@contextmanager
def driver_of(make_engine: EngineFactory) -> Iterator[tuple[Driver, Events]]:
    """The driver of an engine, and the queue that it fills; closed at the end, with all children and files.

    From then on Ctrl-C and SIGTERM are what arrives in the queue: they never interrupt a write. So is the end
    of whoever makes this run, however that process went.
    """
    events: Events = SimpleQueue()
    hear_signals(events.put)
    if (life := os.environ.pop(LIFE, "")).isdigit():
        Thread(target=_follow_maker, args=(int(life), events), daemon=True).start()
    driver = Driver(make_engine, events.put)
    try:
        yield driver, events
    finally:
        driver.close()
        driver.wait()


def check_keeps(path: Path) -> None:
    """Refuse a session that cannot keep what is to be measured, before it is.

    Raises:
        SessionFileError: It comes with the program, is being recorded, or cannot be written.
    """
    check_own(path)
    check_editable(path)


def hear_signals(put: Callable[[int], None]) -> None:
    """From now on the numbers of Ctrl-C and SIGTERM are put where this says; they interrupt nothing."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _: put(received))


def _follow_maker(life: int, events: Events) -> None:
    """Stop as by SIGTERM when the other end of the pipe is gone."""
    os.read(life, 1)
    events.put(signal.SIGTERM)


def find_machine(driver: Driver, events: Events) -> Machine | int:
    """Probe the machine that measures; the number of a signal that arrived before the answer, if one did.

    Raises:
        ConnectError: It is another machine, and was lost.
    """
    driver.engine.probe()
    while True:
        event = events.get()
        if isinstance(event, RequestFailed) and event.request == "probe":
            raise ConnectError(event.reason)
        if isinstance(event, MachineFound):
            return event.machine
        if isinstance(event, int):
            return event


def answer_to(
    request: RequestKind,
    events: Events,
    ready: type[Answering],
    told: Callable[[Event], None] = lambda _: None,
) -> Answering | RequestFailed | int:
    """What came of a request: its answer, why there is none, or the number of a signal that arrived before.

    Args:
        request: Which is in flight.
        events: What the engine says.
        ready: What an answer is.
        told: Hears of everything else.
    """
    while True:
        event = events.get()
        if isinstance(event, int | ready):
            return event
        if isinstance(event, RequestFailed) and event.request == request:
            return event
        told(event)


def say_failure(command: str, failure: RequestFailed, about: str = "") -> int:
    """Say why a request has no answer, and of which kernel; the exit code."""
    named = not about or failure.reason.startswith(about)
    complain(command, failure.reason if named else f"{about}: {failure.reason}")
    return USAGE_ERROR if failure.misused else FAILED


def find_device(driver: Driver, events: Events, command: str, asked: str) -> Device | int:
    """The device of the backend that is asked for; the exit code where there is none, and why is said."""
    machine = find_machine(driver, events)
    if isinstance(machine, int):
        return SIGNALLED + machine
    device = machine.device(_backend_of(asked, machine))
    if device is None:
        complain(command, f"no usable GPU: {machine.why_no_gpu()}. Use --backend cpu.")
        return FAILED
    return device


def _backend_of(asked: str, machine: Machine) -> Backend:
    """The backend asked for; `auto` is the GPU if there is one that can be used."""
    if asked == "cpu" or (asked == AUTO and machine.device("cuda") is None):
        return "cpu"
    return "cuda"
