"""What an engine here and a host there say to each other; msgspec, as between an engine and its children."""

import hashlib
from functools import cache
from typing import Any, Literal

import msgspec

from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.wire.audits import AuditAnswer, AuditAsked
from flashscope.profiles.wire.cuts import CutAnswer, CutRequest
from flashscope.profiles.wire.events import Event
from flashscope.profiles.wire.lines import LineKind
from flashscope.profiles.wire.messages import (
    Cancel,
    MessageBase,
    ProbeMachine,
    RecordBackwardTrace,
    RecordStalls,
    RecordTimeline,
    RecordTrace,
    RunLive,
)
from flashscope.profiles.wire.ranks import RanksAnswer, RanksToMeasure


class Versions(msgspec.Struct, frozen=True, kw_only=True):
    """Of what both sides are made; None: it is not there.

    Attributes:
        messages: A digest of the form of all messages, which differs between builds of one version, too.
    """

    flashscope: str | None
    messages: str
    python: str
    distributed: str | None
    msgspec: str | None
    cupy: str | None = None
    driver: str | None = None


class WatchBackend(MessageBase, frozen=True, kw_only=True, tag="watch-backend"):
    """Stream telemetry of a backend's device."""

    backend: Backend


class RunPlan(MessageBase, frozen=True, kw_only=True, tag="run-plan"):
    """Run a plan, or what remains of one.

    Attributes:
        at_ns: When that was asked for, by the monotonic clock of who is told: what remains begins so much
            later by the session's clock as the way took. None: the way took no time.
    """

    plan: Plan
    remaining: Remaining | None = None
    at_ns: int | None = None


class Renew(MessageBase, frozen=True, kw_only=True, tag="renew"):
    """Have what is run next measured by a fresh process."""


class GiveUp(MessageBase, frozen=True, kw_only=True, tag="give-up"):
    """Stop what was requested; a sweep goes on."""

    what: Literal["timeline", "live", "stalls"]


class StartLines(MessageBase, frozen=True, kw_only=True, tag="start-lines"):
    """Start a process that answers in lines, in place of one before it.

    Attributes:
        number: Which one of this client it is; later ones have larger numbers.
        kind: Of which kind.
        asked: What it does, one after the other, as it reads that.
        gpus: The UUIDs of the GPUs that it sees, all held by this client; none: the device's.
    """

    number: int
    kind: LineKind
    asked: tuple[bytes, ...]
    gpus: tuple[str, ...] = ()


class EndLines(MessageBase, frozen=True, kw_only=True, tag="end-lines"):
    """End the process that answers in lines, if this is the one that runs."""

    number: int


class LineSaid(MessageBase, frozen=True, kw_only=True, tag="line-said"):
    """A process that answers in lines has said one.

    Attributes:
        number: Which one of this client.
        line: The answer, as it stands in the line.
    """

    number: int
    line: bytes


OwnRequest = (
    ProbeMachine
    | WatchBackend
    | RunPlan
    | Renew
    | RecordTrace
    | RecordBackwardTrace
    | RecordTimeline
    | RunLive
    | RecordStalls
    | GiveUp
    | Cancel
)
"""What the engine there has under its own name."""
EngineRequest = OwnRequest | StartLines | EndLines


class Describe(MessageBase, frozen=True, kw_only=True, tag="describe"):
    """Tell about the device without taking it. Answer: Described."""


class Attach(MessageBase, frozen=True, kw_only=True, tag="attach"):
    """Take the device. Answer: Attached or Refused.

    Attributes:
        replaces: The token by which the caller held it before its connection was lost; empty: it did not.
    """

    holder: str
    versions: Versions
    replaces: str = ""


class Ask(MessageBase, frozen=True, kw_only=True, tag="ask"):
    """Ask the engine there for something; one number is one request. Answer: PassedOn or Refused."""

    token: str
    number: int
    asked: EngineRequest


class Pull(MessageBase, frozen=True, kw_only=True, tag="pull"):
    """Give the events from this number on; those before have been taken. Answer: EventBatch or Refused."""

    token: str
    first: int


class Leave(MessageBase, frozen=True, kw_only=True, tag="leave"):
    """Give the device back, all that runs on it ended. Answer: EventBatch, the last, or Refused."""

    token: str
    first: int


class Described(MessageBase, frozen=True, kw_only=True, tag="described"):
    """What a host lends, and who has it.

    Attributes:
        host: The name of the machine.
        backend: What kernels run by there.
        memory_bytes: Of the device.
        holder: Who has it; empty: it is free.
        silent_s: For how long its holder has not been heard.
        t_ns: When this was told, by the host's monotonic clock (ns).
        versions: Of what the host is made.
    """

    host: str
    backend: Backend
    memory_bytes: int
    holder: str = ""
    silent_s: float = 0
    t_ns: int = 0
    versions: Versions


class Attached(MessageBase, frozen=True, kw_only=True, tag="attached"):
    """The device is the caller's.

    Attributes:
        token: What the host knows the caller by from now on.
        host: The name of the machine.
        libraries: Names of the kernels whose library is there, if they wrap one.
        trusts_code: Whether kernels that are sent run there.
        gpu: The UUID of the device; empty: it is no GPU.
        versions: Of what the host is made.
    """

    token: str
    host: str
    libraries: tuple[str, ...]
    trusts_code: bool
    gpu: str = ""
    versions: Versions


class PassedOn(MessageBase, frozen=True, kw_only=True, tag="done"):
    """It was passed on."""


class Refused(MessageBase, frozen=True, kw_only=True, tag="refused"):
    """It cannot be.

    Attributes:
        reason: Why, in one sentence with the remedy.
        kind: `busy`: another has the device; `gone`: the caller no longer has it.
    """

    reason: str
    kind: Literal["obstacle", "busy", "gone"] = "obstacle"


class EventBatch(MessageBase, frozen=True, kw_only=True, tag="batch"):
    """Events in order, from the number that was asked for on, and lines among them."""

    events: tuple[Event | LineSaid, ...]


HostCall = Describe | Attach | Ask | Pull | Leave
HostAnswer = Described | Attached | PassedOn | Refused | EventBatch

decode_call = msgspec.msgpack.Decoder(HostCall).decode
decode_answer = msgspec.msgpack.Decoder(HostAnswer).decode


@cache
def form_digest() -> str:
    """A digest of the form of all calls, answers and lines, without what is said about them."""
    lines = [AuditAsked, AuditAnswer, CutRequest, CutAnswer, RanksToMeasure, RanksAnswer]
    schemas, components = msgspec.json.schema_components([HostCall, HostAnswer, *lines])
    told = msgspec.json.encode(_without_words([list(schemas), components]), order="deterministic")
    return hashlib.sha256(told).hexdigest()[:16]


def _without_words(value: Any) -> Any:
    match value:
        case dict():
            return {key: _without_words(each) for key, each in value.items() if key != "description"}
        case list() | tuple():
            return [_without_words(each) for each in value]
        case _:
            return value
