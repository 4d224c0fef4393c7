"""The engine of this machine without a window: events come out of a queue."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue

from profiles.engine.local import LocalEngine
from profiles.plan.machine import Machine
from profiles.wire.events import Event, MachineFound

Events = SimpleQueue[Event | int]  # an int is the number of a signal that arrived


@contextmanager
def local_engine() -> Iterator[tuple[LocalEngine, Events]]:
    """An engine and the queue it fills; closed at the end, with all of its children.

    From then on Ctrl-C and SIGTERM are what arrives in the queue: they never interrupt a write.
    """
    events: Events = SimpleQueue()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _: events.put(received))
    engine = LocalEngine(events.put)
    try:
        yield engine, events
    finally:
        engine.close()


def find_machine(engine: LocalEngine, events: Events) -> Machine | int:
    """Probe this machine in a child; the number of a signal that arrived before the answer, if one did."""
    engine.probe()
    while True:
        event = events.get()
        if isinstance(event, MachineFound):
            return event.machine
        if isinstance(event, int):
            return event
