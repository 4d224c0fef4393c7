"""What an engine and its children say to each other beside events; msgspec over a pipe, never pickle."""

import msgspec

from kernels.device import Device
from kernels.problem import Backend
from kernels.trace import TraceRequest
from profiles.events import Event
from profiles.plan import Point, Protocol


class MessageBase(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """Base of every message that is not an event; the tags of both share one field."""


class ProbeMachine(MessageBase, frozen=True, kw_only=True, tag="probe"):
    """To the worker: look at this machine. Answer: MachineFound."""


class MeasurePoint(MessageBase, frozen=True, kw_only=True, tag="measure"):
    """To the worker: measure one point on a device. Answer: PointMeasured or PointFailed."""

    point: Point
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
    """To the worker: give up the point in flight before its next repeat."""


class Stop(MessageBase, frozen=True, kw_only=True, tag="stop"):
    """To any child: end."""


class Ready(MessageBase, frozen=True, kw_only=True, tag="ready"):
    """From a child: it has started and takes commands."""


class Retiring(MessageBase, frozen=True, kw_only=True, tag="retiring"):
    """From the worker: what it runs on is broken (a poisoned CUDA context); its next answer is its last."""


Command = ProbeMachine | MeasurePoint | RecordTrace | WatchDevice | Cancel | Stop
Message = Event | Ready | Retiring

encode = msgspec.msgpack.Encoder().encode
decode_command = msgspec.msgpack.Decoder(Command).decode
decode_message = msgspec.msgpack.Decoder(Message).decode
