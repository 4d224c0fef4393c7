"""What an engine and its children say to each other beside events; msgspec over a pipe, never pickle."""

import msgspec

from kernels.device import Device
from kernels.problem import Backend
from kernels.trace import TraceRequest
from profiles.events import Event, Measurement
from profiles.plan import Point, Protocol


class MessageBase(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """Base of every message that is not an event; the tags of both share one field."""


class ProbeMachine(MessageBase, frozen=True, kw_only=True, tag="probe"):
    """To the worker: look at this machine. Answer: MachineFound."""


class CheckPoint(MessageBase, frozen=True, kw_only=True, tag="check"):
    """To the worker: compile, run, verify and weigh one point. Answer: PointChecked or PointFailed."""

    point: Point
    device: Device
    protocol: Protocol


class CheckedPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A point that is worth its time, and what is known of it: everything but samples."""

    point: Point
    found: Measurement


class SamplePoints(MessageBase, frozen=True, kw_only=True, tag="sample"):
    """To the worker: sample points of one problem in turns, or one alone. Answer: SamplingEnded.

    Before it comes a PointMeasured or PointFailed for each point that ended. Those without one may be sampled
    again: together they ran out of memory, or one of them broke the worker.
    """

    checked: tuple[CheckedPoint, ...]
    device: Device
    protocol: Protocol


class RecordTrace(MessageBase, frozen=True, kw_only=True, tag="record-trace"):
    """To the worker: record one trace. Answer: TraceReady or RequestFailed."""

    request: TraceRequest


class WatchDevice(MessageBase, frozen=True, kw_only=True, tag="watch"):
    """To telemetry: watch this device from now on; `uuid` None: the first GPU."""

    backend: Backend
    uuid: str | None


class Cancel(MessageBase, frozen=True, kw_only=True, tag="cancel"):
    """To the worker: give up the points in flight before the next repeat."""


class Stop(MessageBase, frozen=True, kw_only=True, tag="stop"):
    """To any child: end."""


class Ready(MessageBase, frozen=True, kw_only=True, tag="ready"):
    """From a child: it has started and takes commands."""


class Retiring(MessageBase, frozen=True, kw_only=True, tag="retiring"):
    """From the worker: what it runs on is broken (a poisoned CUDA context); its next answer is its last."""


class PointChecked(MessageBase, frozen=True, kw_only=True, tag="checked"):
    """From the worker: a point is right, and may be sampled; `free_bytes` is memory it could have now."""

    checked: CheckedPoint
    free_bytes: int


class SamplingEnded(MessageBase, frozen=True, kw_only=True, tag="sampling-ended"):
    """From the worker: it is done with the points it was to sample; `left_open` says why some did not end."""

    left_open: str = ""


Command = ProbeMachine | CheckPoint | SamplePoints | RecordTrace | WatchDevice | Cancel | Stop
Message = Event | Ready | Retiring | PointChecked | SamplingEnded

encode = msgspec.msgpack.Encoder().encode
decode_command = msgspec.msgpack.Decoder(Command).decode
decode_message = msgspec.msgpack.Decoder(Message).decode
