"""A sweep whose points take what their work says, as far as a test has let it go."""

from msgspec.structs import replace

from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.measurement import Measurement, Sample
from tests.profiles.sessions import make_plan, started

PROTOCOL = Protocol(warmup=2, repeats=10, time_cap_s=10.0, drift_check=False)
RUNS = 10 + 2 + 2
REST_S = 0.3
SEQLENS = (256, 512, 1024, 2048, 4096, 8192)


def run_s(kernel: str, seqlen: int) -> float:
    """What a run takes where time grows with N²."""
    return {"standard": 2.0, "flash1": 3.0, "flash2": 2.5}[kernel] * (seqlen / 8192) ** 2 / 10


def at(done: int, protocol: Protocol = PROTOCOL) -> tuple[Session, float]:
    """A sweep of 18 points after so many, and what the others will really take without a time cap."""
    plan = replace(make_plan(("standard", "flash1", "flash2"), SEQLENS, "cpu"), protocol=protocol)
    session, now, real = Session.begin(started(plan)), 0.0, 0.0
    for place, state in enumerate(session.points):
        each = run_s(state.point.kernel, state.point.problem.seqlen)
        seconds = REST_S + RUNS * each
        if place >= done:
            real += seconds
            continue
        state.status, state.part, state.started_ns = "done", 1, round(now * 1e9)
        now += seconds
        state.ended_ns = round(now * 1e9)
        samples = tuple(Sample(1e3 * each) for _ in range(10))
        state.measurement = Measurement(timer="a script", cold=True, samples=samples)
    return session, real
