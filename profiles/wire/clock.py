"""From one clock to another: what was measured in a later part of a session goes by the session's clock."""

from msgspec.structs import replace

from flashscope.profiles.wire.events import (
    Event,
    PlanFinished,
    PointChecked,
    PointFailed,
    PointMeasured,
    PointStarted,
    Readings,
    SamplingStarted,
)
from flashscope.profiles.wire.measurement import Measurement, Sample


def shifted(event: Event, by_ns: int) -> Event:
    """The event with all of its times moved; one that tells none, or begins a session or part, as it is."""
    if not by_ns:
        return event
    match event:
        case Readings(readings=readings):
            return replace(event, readings=tuple(replace(one, t_ns=one.t_ns + by_ns) for one in readings))
        case PointMeasured(samples=samples):
            return replace(event, t_ns=event.t_ns + by_ns, samples=_moved(samples, by_ns))
        case PointFailed(measurement=Measurement() as measured):
            samples = _moved(measured.samples, by_ns)
            return replace(event, t_ns=event.t_ns + by_ns, measurement=replace(measured, samples=samples))
        case PointStarted() | PointChecked() | SamplingStarted() | PointFailed() | PlanFinished():
            return replace(event, t_ns=event.t_ns + by_ns)
    return event


def _moved(samples: tuple[Sample, ...], by_ns: int) -> tuple[Sample, ...]:
    return tuple(one if one.t_ns is None else replace(one, t_ns=one.t_ns + by_ns) for one in samples)
