"""Records the bundled stall profiles anew: `python -m tests.stall_session FILE`, on an H100 with ncu.

Where there is no such file, flash2 and flash3's ladder are first measured on the problems of Source at head
dim 128, without and under a causal mask. Then it samples where their warps stand, as far as the file has no
profile of today's sources, and keeps that in it: begun with a copy of the bundled one, or broken off, it goes
on with what is left. Where today's machine code is the one that was sampled, the samples stay, and only their
lines are made anew; `python -m tests.stall_session FILE --lines` does that alone, without a GPU. It takes
NVRTC and nvdisasm, but no package of the window.
"""

import os
import sqlite3
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from queue import SimpleQueue

import numpy as np
from msgspec import structs

from flashscope.kernels.cuda.compile import compile_module
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.cuda.reading.cards import CARDS, card_of
from flashscope.kernels.cuda.reading.step import program_of, read_problem, source_of
from flashscope.kernels.cuda.sass.listing import BuildListing, listing_of
from flashscope.kernels.workload.errors import KernelError
from flashscope.kernels.workload.stalls import StallProfile, StallRequest, text_digest
from flashscope.kernels.workload.trace import Array
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.running.driver import Driver
from flashscope.profiles.running.recording import FileNote, RunRecording
from flashscope.profiles.store import Recorder, load
from flashscope.profiles.store.keeping import drop, keep
from flashscope.profiles.store.words import change
from flashscope.profiles.wire.events import Event
from flashscope.profiles.wire.messages import Message
from flashscope.profiles.worker.stalls.joining import joined
from flashscope.profiles.worker.stalls.printed import SampledInstruction
from flashscope.profiles.worker.stalls.recording import record_stalls

Told = Event | FileNote
NAME = "H100 stalls of flash2 and flash3"
KERNELS = ("flash3-a", "flash3-b", "flash3-c", "flash3", "flash2")
H100 = next(card for card in CARDS if card.name == "H100")
PROBLEMS = tuple(read_problem(128, causal=causal) for causal in (False, True))
REQUESTS = [StallRequest(problem=problem, kernel=kernel) for problem in PROBLEMS for kernel in KERNELS]


class SilentLink:
    """In place of the engine that would be told how far it is."""

    def send(self, message: Message) -> None:
        """Nobody hears it."""

    def check(self, timeout_s: float = 0) -> None:
        """Nobody gives it up."""
        time.sleep(timeout_s)


def listed(request: StallRequest) -> BuildListing:
    """In a process of its own: the build with lines."""
    with tempfile.TemporaryDirectory() as folder:
        return listing_of(request.kernel, request.problem, H100, Path(folder))


def compiled(request: StallRequest) -> BuildListing:
    """In a process of its own: compile the timed build, which CuPy keeps, and the one with lines."""
    card = card_of(describe())
    if card is None or card.target != H100.target:
        sys.exit("this is no H100")
    os.environ["CUDA_CACHE_DISABLE"] = "1"  # of what NVRTC has in its cache ptxas says nothing
    compile_module(program_of(request.kernel, request.problem, card))
    return listed(request)


def renew(path: Path, *, lines_alone: bool) -> None:
    """Make lines anew where they are of an older source, and sample what the file lacks.

    What fails is told in the end.
    """
    session = load(path)
    wanted = [request for request in REQUESTS if not any(map(partial(is_new, request), session.stalls))]
    failed = []
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        listings = list(pool.map(listed if lines_alone else compiled, wanted))
    for request, listing in zip(wanted, listings, strict=True):
        known = next((one for one in session.stalls if one.request == request), None)
        profile = relined(known, listing) if known is not None else None
        if profile is None and not lines_alone:
            try:
                profile = record_stalls(request, SilentLink(), listing)
            except KernelError as error:
                failed.append(f"{request.kernel}: {error}")
        if profile is not None:
            replace(path, session, profile)
        told = "lacks" if profile is None else "sampled" if known is None else "renewed"
        print(told, request.kernel, request.problem.causal, flush=True)  # noqa: T201 - how far it is
    if failed:
        sys.exit("\n".join(failed))


def relined(profile: StallProfile, listing: BuildListing) -> StallProfile | None:
    """A profile with the lines of today's source; None: the machine code is another."""
    code = next((one.instructions for one in listing.kernels if one.entry == profile.entry), [])
    if [one.text for one in code] != list(profile.text[: len(code)]):
        return None
    pairs = zip(profile.address.numpy().tolist(), profile.text, strict=True)
    found = joined([SampledInstruction(at, text, (), 0) for at, text in pairs], code, listing.source.file)
    line = Array.of(np.array([one.line for one in found], np.int32))
    return structs.replace(profile, line=line, source=text_digest(listing.source.text))


def is_new(request: StallRequest, profile: StallProfile) -> bool:
    """Whether a profile is of this, and of the source as it is now."""
    source = source_of(request.kernel, request.problem, H100)
    return (profile.request, profile.source) == (request, text_digest(source.text))


def replace(path: Path, session: Session, profile: StallProfile) -> None:
    """Keep a profile in place of those that the file had of the same."""
    there = load(path).stalls
    with closing(sqlite3.connect(path)) as connection:
        numbers = [number for (number,) in connection.execute("SELECT n FROM stall_profiles ORDER BY n")]
    keep(path, profile, session.id)
    for number, one in zip(numbers, there, strict=True):
        if one.request == profile.request:
            drop(path, StallProfile, number, session.id)


def measure(path: Path) -> None:
    """Time every kernel on every problem."""
    events: SimpleQueue[Told] = SimpleQueue()
    plan = Plan(backend="cuda", kernels=KERNELS, problems=PROBLEMS, protocol=Protocol(drift_check=False))
    recorder = Recorder(path)
    driver = Driver(LocalEngine, events.put)
    try:
        driver.run(plan, lambda _event: RunRecording(recorder, events.put))
        while driver.running:
            driver.take(events.get())
        session: Session | None = driver.session
    finally:
        driver.close()
        driver.wait()
    if session is None or any(one.status != "done" for one in session.points):
        sys.exit("not every point is done")
    change(path, "name", NAME)


if __name__ == "__main__":
    file, lines_alone = Path(sys.argv[1]), "--lines" in sys.argv
    if not lines_alone and not file.exists():
        measure(file)
    renew(file, lines_alone=lines_alone)
