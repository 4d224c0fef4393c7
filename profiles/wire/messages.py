"""What an engine and its children say to each other beside events; msgspec over a pipe, never pickle."""

from typing import Any

import msgspec

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.live import LiveRequest
from flashscope.kernels.workload.problem import Backend
from flashscope.kernels.workload.stalls import StallRequest
from flashscope.kernels.workload.timeline import TimelineRequest
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.plan.plan import Point, Protocol
from flashscope.profiles.wire.event_base import EventBase
from flashscope.profiles.wire.events import Event
from flashscope.profiles.wire.text import in_utf8

MAX_MESSAGE_BYTES = 256 << 20  # twice what the largest trace that can be kept takes


class MessageBase(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """Base of every message that is not an event; the tags of both share one field."""


class ProbeMachine(MessageBase, frozen=True, kw_only=True, tag="probe"):
    """To the worker: look at this machine. Answer: MachineFound."""


class MeasureCeilings(MessageBase, frozen=True, kw_only=True, tag="measure-ceilings"):
    """To the worker: measure what a device reaches. Answer: CeilingsMeasured."""

    device: Device


class TryPoint(MessageBase, frozen=True, kw_only=True, tag="try"):
    """To the worker: compile, run, verify and weigh one point. Answer: PointChecked or PointFailed.

    `own` declares the plan's kernels of the user's own; the worker is the one process that runs them.
    """

    point: Point
    device: Device
    protocol: Protocol
    own: tuple[OwnKernel, ...] = ()


class SamplePoints(MessageBase, frozen=True, kw_only=True, tag="sample"):
    """To the worker: sample points that are right, those of one problem in turns. Answer: SamplingEnded.

    Each point that ends is told with PointMeasured or PointFailed before that. One may be left without: then
    memory ran out for all of them together, or another of them broke the device, and it may be sampled again.
    """

    points: tuple[Point, ...]
    device: Device
    protocol: Protocol
    own: tuple[OwnKernel, ...] = ()


class RecordTrace(MessageBase, frozen=True, kw_only=True, tag="record-trace"):
    """To the worker: record one trace. Answer: TraceReady or RequestFailed."""

    request: TraceRequest


class RecordBackwardTrace(MessageBase, frozen=True, kw_only=True, tag="record-backward-trace"):
    """To the worker: record a backward pass's trace. Answer: BackwardTraceReady or RequestFailed."""

    request: BackwardTraceRequest


class RecordTimeline(MessageBase, frozen=True, kw_only=True, tag="record-timeline"):
    """To the worker: record one timeline, telling how far it is. Answer: TimelineReady or RequestFailed."""

    request: TimelineRequest


class RunLive(MessageBase, frozen=True, kw_only=True, tag="run-live"):
    """To the worker: launch in slow motion, telling of tiles. Answer: LiveEnded or RequestFailed."""

    request: LiveRequest


class RecordStalls(MessageBase, frozen=True, kw_only=True, tag="record-stalls"):
    """To the worker: sample where warps stand, telling how far. Answer: StallsReady or RequestFailed."""

    request: StallRequest


class WatchDevice(MessageBase, frozen=True, kw_only=True, tag="watch"):
    """To telemetry: watch this device from now on; `uuid` None: the first GPU."""

    backend: Backend
    uuid: str | None


class Cancel(MessageBase, frozen=True, kw_only=True, tag="cancel"):
    """To the worker: give up the points in flight before the next repeat."""


class Park(MessageBase, frozen=True, kw_only=True, tag="park"):
    """To the worker: another measures next; give back what can be had anew. Answer: Parked."""


class Beside(MessageBase, frozen=True, kw_only=True, tag="beside"):
    """To the worker: these processes on the GPU are parked workers of its engine."""

    pids: tuple[int, ...]


class StopChild(MessageBase, frozen=True, kw_only=True, tag="stop"):
    """To any child: end."""


class Ready(MessageBase, frozen=True, kw_only=True, tag="ready"):
    """From a child: it has started and takes commands."""


class Parked(MessageBase, frozen=True, kw_only=True, tag="parked"):
    """From the worker: it is idle, and holds no more than its CUDA context and what measures.

    `pid` numbers its process where it has such a context.
    """

    pid: int | None = None


class Retiring(MessageBase, frozen=True, kw_only=True, tag="retiring"):
    """From the worker: its next answer is its last: its CUDA context is broken, or keeps all others out."""


class DeviceLeft(MessageBase, frozen=True, kw_only=True, tag="device-left"):
    """From the process of a device that is lent: the client that had it has left, or is not heard."""


class SchedulerLost(MessageBase, frozen=True, kw_only=True, tag="scheduler-lost"):
    """From the process of a device that is lent: the scheduler through which clients reach it is gone."""


class SamplingEnded(MessageBase, frozen=True, kw_only=True, tag="sampling-ended"):
    """From the worker: a SamplePoints is done; `left_open` says why points of it did not end, if any."""

    left_open: str = ""


Command = (
    ProbeMachine
    | MeasureCeilings
    | TryPoint
    | SamplePoints
    | RecordTrace
    | RecordBackwardTrace
    | RecordTimeline
    | RunLive
    | RecordStalls
    | WatchDevice
    | Cancel
    | Park
    | Beside
    | StopChild
)
Message = Event | Ready | Parked | Retiring | DeviceLeft | SchedulerLost | SamplingEnded

decode_command = msgspec.msgpack.Decoder(Command).decode
decode_message = msgspec.msgpack.Decoder(Message).decode
_encode = msgspec.msgpack.Encoder().encode


def encode(message: EventBase | MessageBase) -> bytes:
    """A message for the pipe; no text in it, such as an exception's, can keep it from being sent."""
    try:
        return _encode(message)
    except UnicodeEncodeError:
        return _encode(_in_utf8(msgspec.to_builtins(message, builtin_types=(bytes,))))


def _in_utf8(value: Any) -> Any:
    match value:
        case str():
            return in_utf8(value)
        case dict():
            return {_in_utf8(key): _in_utf8(each) for key, each in value.items()}
        case list() | tuple():
            return [_in_utf8(each) for each in value]
        case _:
            return value
