"""Sampling where the warps of a launch stand: the build with lines, ncu twice, and what both say of it."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec
import numpy as np

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.sources import source_digest
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.cuda.reading.cards import GpuCard, card_of
from flashscope.kernels.cuda.sass.listing import BuildListing, listing_of
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import DeviceUnavailableError, UnsupportedError
from flashscope.kernels.workload.stalls import StallProfile, StallRequest, text_digest
from flashscope.kernels.workload.trace import Array
from flashscope.profiles.wire.events import StallsProgress
from flashscope.profiles.wire.messages import Message
from flashscope.profiles.wire.process import python_command
from flashscope.profiles.worker.ncu_tool import MISSING, find_ncu, why_refused
from flashscope.profiles.worker.stalls.joining import joined
from flashscope.profiles.worker.stalls.printed import (
    DROPPED,
    DURATION,
    INTERVAL,
    MARK,
    METRIC,
    NOT_ISSUED,
    PASSES,
    REASONS,
    UnreadableError,
    read_counters,
    read_samples,
    read_version,
)

STEPS = 4  # the build with lines, the launch alone, the launch that is sampled, and reading it
TIMEOUT_S, TICK_S = 240.0, 0.05
GRACE_S = 5.0  # for what was killed to be gone
MAIN = "flashscope.profiles.worker.stalls.launched:main"
SAMPLER = "Nsight Compute"
SAMPLING = ("--warp-sampling-interval", "0")  # as often as the GPU can: every 256 cycles on an H100
LOST = "Nsight Compute lost samples ({bytes:.0f} bytes): its buffer was full. Choose a shorter sequence."
UNREADABLE = "Nsight Compute printed something else than is known of it: {why}."
NO_CARD = "There is no build for the {name} (compute capability {capability})."


class StepLink(Protocol):
    """What the engine's link has of use here."""

    def send(self, message: Message) -> None:
        """Say something to the engine."""

    def check(self, timeout_s: float = 0) -> None:
        """Go on, or raise to give up; a timeout waits for so long whether to."""


def record_stalls(request: StallRequest, link: StepLink, listing: BuildListing | None = None) -> StallProfile:
    """Launch a kernel's timed build once under Nsight Compute, which samples where its warps stand.

    It says StallsProgress between its steps, and listens to the engine while ncu runs.

    Args:
        request: What to sample.
        link: The engine.
        listing: The build with lines, None: it is made first.

    Raises:
        InputError: It is no kernel of ours with a source in CUDA.
        UnsupportedError: It does not take the problem here, or the build with lines is another.
        DeviceUnavailableError: There is no GPU, no ncu, or it may not sample; the text has the remedy.
        CompileError: The compiler refused the kernel.
        CancelledError: It is no longer wanted.
    """
    device = describe()
    spec, problem = find_kernel(request.kernel), request.problem
    spec.require(problem, device)
    ncu = find_ncu()
    if ncu is None:
        raise DeviceUnavailableError(MISSING)
    steps, card = StallSteps(link), _card(device)
    with tempfile.TemporaryDirectory(prefix="flashscope-") as place:
        folder = Path(place)
        report = folder / "samples.ncu-rep"
        steps.next()
        listing = listing or listing_of(request.kernel, problem, card, folder)
        steps.next()
        alone = _answered(alone_command(ncu, request), link)
        steps.next()
        _answered(sampling_command(ncu, request, report), link)
        steps.next()
        pages = [_answered(page_command(ncu, report, page), link) for page in ("source", "raw")]
        version = read_version(_answered([ncu, "--version"], link))
    try:
        return assembled(request, device, listing, NcuPages(f"{SAMPLER} {version}", alone, *pages))
    except UnreadableError as error:
        raise DeviceUnavailableError(UNREADABLE.format(why=error)) from error


class NcuPages(NamedTuple):
    """What ncu printed.

    Attributes:
        sampler: Its name and version.
        alone: The raw page of a launch without samples, and what the program printed meanwhile.
        source: The source page of the launch that was sampled.
        raw: Its raw page.
    """

    sampler: str
    alone: str
    source: str
    raw: str


def alone_command(ncu: str, request: StallRequest) -> list[str]:
    """What measures a launch under the profiler that takes no samples, and prints its raw page."""
    return [*_base(ncu), "--metrics", DURATION, *_printed("raw"), *_program(request)]


def sampling_command(ncu: str, request: StallRequest, report: Path) -> list[str]:
    """What samples a launch into a report."""
    reasons = [f"{METRIC}{one}{of}" for one in REASONS for of in ("", NOT_ISSUED)]
    asked = ["--metrics", ",".join([DURATION, *reasons]), *SAMPLING]
    return [*_base(ncu), *asked, "--export", str(report), *_program(request)]


def page_command(ncu: str, report: Path, page: str) -> list[str]:
    """What prints a page of a report."""
    return [ncu, "--import", str(report), *_printed(page)]


def _base(ncu: str) -> list[str]:
    return [ncu, "--profile-from-start", "off", "--clock-control", "none", "--cache-control", "none"]


def _printed(page: str) -> list[str]:
    return ["--page", page, "--csv", "--print-units", "base"]


def _program(request: StallRequest) -> list[str]:
    return python_command(MAIN, request.kernel, msgspec.json.encode(request.problem).decode())


def assembled(request: StallRequest, device: Device, listing: BuildListing, pages: NcuPages) -> StallProfile:
    """The profile of the kernel that has most samples.

    Raises:
        UnreadableError: ncu printed something else.
        UnsupportedError: The machine code that ran is not that of the build with lines.
    """
    kernels = read_samples(pages.source)
    kernel = max(kernels, key=lambda one: one.total)
    counters, alone = read_counters(pages.raw), read_counters(pages.alone)
    place = kernels.index(kernel)
    if place >= min(len(counters), len(alone)) or INTERVAL not in counters[place]:
        raise UnreadableError("its counters are not those of the launches")
    if counters[place].get(DROPPED, 0):
        raise DeviceUnavailableError(LOST.format(bytes=counters[place][DROPPED]))
    built = next((one for one in listing.kernels if one.entry == kernel.entry), None)
    if built is None:
        raise UnreadableError(f"it launched {kernel.entry}, which is no kernel of {request.kernel}")
    instructions = kernel.instructions
    known = joined(instructions, built.instructions, listing.source.file)
    return StallProfile(
        request=request,
        device=device.name,
        sampler=pages.sampler,
        build=source_digest("cuda", request.kernel) or "",
        file=listing.source.file,
        source=text_digest(listing.source.text),
        entry=kernel.entry,
        others=sum(one.total for one in kernels if one is not kernel),
        interval=round(counters[place][INTERVAL]),
        launches=round(counters[place].get(PASSES, 1)),
        reasons=kernel.reasons,
        address=Array.of(np.array([one.address for one in instructions], np.int32)),
        text=tuple(one.text for one in known),
        line=Array.of(np.array([one.line for one in known], np.int32)),
        samples=Array.of(np.array([one.samples for one in instructions], np.int32)),
        idle=Array.of(np.array([one.idle for one in instructions], np.int32)),
        plain_ns=Array.of(np.array(read_plain(pages.alone), np.int64)),
        profiled_ns=round(alone[place].get(DURATION, 0)),
        sampled_ns=round(counters[place].get(DURATION, 0)),
    )


def read_plain(printed: str) -> list[int]:
    """What launches took without being watched, in ns, as the program printed it."""
    for line in printed.splitlines():
        if line.startswith(MARK):
            return msgspec.json.decode(line.removeprefix(MARK), type=list[int])
    raise UnreadableError("the launches that are not watched were not timed")


class StallSteps:
    """Tells the engine how far it is, and whether to go on.

    Args:
        link: The engine.
    """

    def __init__(self, link: StepLink) -> None:
        self._link, self._done = link, 0

    def next(self) -> None:
        """Another step begins.

        Raises:
            CancelledError: It is no longer wanted.
        """
        self._link.check()
        self._link.send(StallsProgress(done=self._done, total=STEPS))
        self._done += 1


def _card(device: Device) -> GpuCard:
    card = card_of(device)
    if card is None:
        raise UnsupportedError(NO_CARD.format(name=device.name, capability=device.compute_capability))
    return card


def _answered(command: Sequence[str], link: StepLink) -> str:
    """What ncu prints; may be given up meanwhile.

    Raises:
        DeviceUnavailableError: It ended badly; the text says why.
        CancelledError: It is no longer wanted.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as printed:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # with the program that ncu runs it is one group
            )
        except OSError as error:
            raise DeviceUnavailableError(f"Nsight Compute could not be started: {error}.") from error
        try:
            _await(process, link)
        finally:
            _end(process)
        printed.seek(0)
        told = printed.read()
    if process.returncode:
        raise DeviceUnavailableError(why_refused(told))
    return told


def _await(process: subprocess.Popen[bytes], link: StepLink) -> None:
    """Return when a process has ended.

    Raises:
        DeviceUnavailableError: It takes too long.
        CancelledError: It is no longer wanted.
    """
    until = time.monotonic() + TIMEOUT_S
    while process.poll() is None:
        link.check(TICK_S)
        if time.monotonic() > until:
            raise DeviceUnavailableError(f"Nsight Compute did not end within {TIMEOUT_S:.0f} s.")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End ncu with all that it started, if it runs."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(GRACE_S)
