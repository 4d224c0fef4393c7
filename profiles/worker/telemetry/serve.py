"""The telemetry child: samples a device 20 times a second, in batches of at most 10 messages a second."""

import time
from typing import Any, Protocol

from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.wire.events import Reading, Readings, RequestFailed, TelemetryStarted
from flashscope.profiles.wire.messages import Command, Ready, WatchDevice
from flashscope.profiles.worker.child import Link
from flashscope.profiles.worker.nvml import NvmlError
from flashscope.profiles.worker.telemetry.cpu import CpuSource
from flashscope.profiles.worker.telemetry.gpu import NvmlSource

SAMPLE_S = 0.05
BATCH_S = 0.1


class Source(Protocol):
    """What can be sampled."""

    def describe(self) -> TelemetryStarted:
        """What is watched and what cannot be read."""

    def read(self) -> Reading:
        """One sample.

        Raises:
            NvmlError: The device answers no more.
        """


def serve(link: Link, _: str) -> None:
    """Watch whatever device the engine names last, until it says stop."""
    link.send(Ready())
    command = link.receive()
    while True:
        command = watch(link, command) if isinstance(command, WatchDevice) else link.receive()


def watch(link: Link, wanted: WatchDevice, nvml: Any | None = None) -> Command | None:
    """Stream one device's readings; returns the command that ends it.

    A device that cannot be watched, or no longer, is answered with RequestFailed.
    `nvml` takes the place of pynvml.
    """
    try:
        source = open_source(wanted.backend, wanted.uuid, nvml)
        link.send(source.describe())
        return _stream(link, source)
    except NvmlError as error:
        link.send(RequestFailed(request="watch", reason=str(error)))
        return link.receive()


def open_source(backend: Backend, uuid: str | None, nvml: Any | None = None) -> Source:
    """What watches a backend's device.

    Raises:
        NvmlError: NVML cannot be used or knows no such GPU.
    """
    return CpuSource() if backend == "cpu" else NvmlSource(uuid, nvml)


def _stream(link: Link, source: Source) -> Command:
    """Sample on a steady beat and send a batch every other beat, until a command comes."""
    batch: list[Reading] = []
    beat = sent = time.monotonic()
    while True:
        batch.append(source.read())
        now = time.monotonic()
        if now - sent >= BATCH_S:
            link.send(Readings(readings=tuple(batch)))
            batch, sent = [], now
        beat = max(beat + SAMPLE_S, now)  # after a pause (suspend) go on from now, do not catch up
        command = link.receive(beat - now)
        if command is not None:
            return command
