"""Records the bundled stall profiles anew: `python -m tests.stall_session FILE`, on an H100 with ncu.

Measures flash2 and flash3's ladder on the problems of Source at head dim 128, without and under a causal
mask, then samples where their warps stand, and keeps that in the same file. It takes NVRTC and nvdisasm, but
neither Qt nor the packages of the command line.
"""

import sys
from pathlib import Path
from queue import SimpleQueue

from flashscope.kernels.cuda.reading.step import read_problem
from flashscope.kernels.workload.stalls import StallRequest
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.running.driver import Driver
from flashscope.profiles.running.recording import FileNote, RunRecording
from flashscope.profiles.store import Recorder
from flashscope.profiles.store.keeping import keep
from flashscope.profiles.wire.events import Event, RequestFailed, StallsReady

Told = Event | FileNote
KERNELS = ("flash2", "flash3-a", "flash3-b", "flash3-c", "flash3")
PROBLEMS = tuple(read_problem(128, causal=causal) for causal in (False, True))


def record(path: Path) -> None:
    """Measure and sample into a new file; what fails ends it with the reason."""
    events: SimpleQueue[Told] = SimpleQueue()
    driver = Driver(LocalEngine, events.put)
    try:
        session = _measure(driver, events, path)
        for problem in PROBLEMS:
            for kernel in KERNELS:
                profile = _sample(driver, events, StallRequest(problem=problem, kernel=kernel))
                keep(path, profile.profile, session.id)
    finally:
        driver.close()
        driver.wait()


def _measure(driver: Driver, events: "SimpleQueue[Told]", path: Path) -> Session:
    """Times every kernel on every problem."""
    plan = Plan(backend="cuda", kernels=KERNELS, problems=PROBLEMS, protocol=Protocol(drift_check=False))
    recorder = Recorder(path)

    driver.run(plan, lambda _event: RunRecording(recorder, events.put))
    while driver.running:
        driver.take(events.get())
    session = driver.session
    if session is None or any(one.status != "done" for one in session.points):
        sys.exit("not every point is done")
    return session


def _sample(driver: Driver, events: "SimpleQueue[Told]", request: StallRequest) -> StallsReady:
    """Samples one launch."""
    driver.engine.stalls(request)
    while True:
        event = events.get()
        if isinstance(event, RequestFailed):
            sys.exit(f"{request.kernel}: {event.reason}\n{event.detail}")
        if isinstance(event, StallsReady):
            return event


if __name__ == "__main__":
    record(Path(sys.argv[1]))
