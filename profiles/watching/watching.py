"""Measures each save of a kernel's file, in turns beside the version before it and peers.

Every version is measured by a worker that no earlier save has run in: what a file leaves behind in a process
(modules beside it, settings of NumPy or PyTorch, patched functions) never reaches the next one. A fresh
worker is started while the next save is waited for, so that no save waits for it.
"""

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.own.consent import allow
from flashscope.kernels.own.files import file_of
from flashscope.kernels.own.references import admitted, declared_by, declared_in
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.running.driver import Driver, OpenRecording
from flashscope.profiles.running.recording import FileNote, RunRecording
from flashscope.profiles.watching.saves import Save
from flashscope.profiles.watching.versions import UNREADABLE, Strip, Version, version_name, version_of
from flashscope.profiles.wire.events import Event, PlanFinished, PointChecked, PointFailed

SUPERSEDED = "The file was saved anew before this was measured."
CANCELLED = "It was cancelled."


class WatchedFile(NamedTuple):
    """A file that is watched, as the user named it.

    Attributes:
        path: The file.
        function: The function asked for; empty: the one that the file declares, whatever it is called.
        name: What versions are called, before their number.
    """

    path: Path
    function: str
    name: str

    @classmethod
    def of(cls, own: OwnKernel) -> "WatchedFile":
        """What a kernel's file is watched as.

        Raises:
            InputError: It is a package's, which is imported and not read anew.
        """
        if own.module:
            raise InputError(f"{own.name} is from an installed package, which is read once; watch a file.")
        path = file_of(own)
        try:
            usual = declared_in(path).function
        except InputError:  # several functions, of which one was asked for
            usual = ""
        return cls(path, "" if usual == own.function else own.function, own.name)

    def read(self, save: Save) -> OwnKernel | str:
        """What a save declares, with its text, or what is wrong with it and where; on any thread.

        It takes as long as git does to answer, and nothing else follows from it.
        """
        try:
            own = declared_by(save.data, self.path, self.function, name=self.name)
        except InputError as error:
            return str(error)
        return replace(own, source=save.data.decode("utf-8"))


def version_kernel(declared: OwnKernel, number: int) -> OwnKernel:
    """What a save declares as a kernel of its version's name, which may run from now on.

    Raises:
        InputError: It can have no such name, or its path cannot be written in a list.
    """
    own = admitted(replace(declared, name=version_name(declared.name, number)))
    allow(own)  # the user asked for what the file will hold, too
    return own


class Timing(NamedTuple):
    """How long a version took from when its save was seen, in s.

    Attributes:
        verdict_s: Until it was known right or not, on every problem.
        ended_s: Until it was measured, too.
    """

    verdict_s: float
    ended_s: float


class InFlight:
    """A version that is to be measured, or is being so.

    Attributes:
        own: What it declares.
        save: What was saved.
        number: Of the version.
        superseded: Whether it was given up for a newer save.
        verdict_s: Until it was known right or not on every problem, None before.
    """

    def __init__(self, own: OwnKernel, save: Save, number: int) -> None:
        self.own, self.save, self.number, self.superseded = own, save, number, False
        self._problems = self._left = 1  # in all, and without a verdict
        self._wrong = 0
        self.verdict_s: float | None = None

    def begin(self, problems: int) -> None:
        """It is to be measured on so many problems."""
        self._problems = self._left = problems

    @property
    def checked(self) -> bool:
        """Whether there is a verdict on every problem."""
        return self._left <= 0

    @property
    def failed(self) -> bool:
        """Whether it failed on every problem: nothing is left to be timed."""
        return self._wrong >= self._problems

    def judged(self, *, passed: bool) -> None:
        """There is a verdict on one more problem."""
        self._left -= 1
        self._wrong += not passed
        if self.checked:
            self.verdict_s = seconds_since(self.save)


RunVersion = Callable[[Plan, OpenRecording | None], None]
"""Starts a plan, recorded by what is made by this."""

Tell = Callable[[Version, Timing, RunRecording | None], None]
"""Takes a version that has ended, how long that took, and what records its session, None: nothing does."""


class Watching:
    """Runs versions on a driver, one at a time; used on the driver's thread.

    A version that is not checked yet is given up for a newer save that declares a kernel; one that is
    checked is measured to its end, and the newest save meanwhile is next. The driver may run other plans
    between them: whoever has it calls `go_on` whenever it may run a version.

    Args:
        driver: What runs them.
        watched: The file.
        plan: The problems, the protocol and the peers.
        record: Makes what records a version's session, of the version's kernel; None: nothing does.
        tell: Takes each version that has ended.
        run: Starts a plan on the driver; None: the driver does.

    Attributes:
        plan: What the next version is measured by.
        strip: The versions that have ended.
        in_flight: The version that is measured; None: none is.
        waiting: The version that is next; None: none is.
    """

    def __init__(
        self,
        driver: Driver,
        watched: WatchedFile,
        plan: Plan,
        record: Callable[[OwnKernel], OpenRecording] | None,
        tell: Tell,
        *,
        run: RunVersion | None = None,
    ) -> None:
        self.plan, self.strip = plan, Strip()
        self.in_flight: InFlight | None = None
        self.waiting: InFlight | None = None
        self._driver, self._watched, self._run = driver, watched, run or driver.run
        self._record, self._tell = record, tell
        self._number, self._stopping = 0, False
        self._before: OwnKernel | None = None  # the newest that was right

    def saved(self, save: Save) -> None:
        """Take a save as the next version; one that declares no kernel is told, no more."""
        self.take_save(save, self._watched.read(save))

    def take_save(self, save: Save, declared: OwnKernel | str) -> None:
        """The same, once it is known what the save declares, or what is wrong with it."""
        self._number += 1
        try:
            own = declared if isinstance(declared, str) else version_kernel(declared, self._number)
        except InputError as error:
            own = str(error)
        if isinstance(own, str):
            self._end(self._unrun(self._number, save, UNREADABLE, own), save, None)
            return
        if self.waiting is not None:
            late = self.waiting
            self._end(self._unrun(late.number, late.save, "cancelled", SUPERSEDED), late.save, None)
        self.waiting = InFlight(own, save, self._number)
        if self.in_flight is not None and not self.in_flight.checked:
            self.in_flight.superseded = True
            self._driver.cancel()

    def stop(self) -> None:
        """Give up what is measured, and begin nothing more; what is given up is told once it has ended."""
        self._stopping = True
        if self.waiting is not None:
            late, self.waiting = self.waiting, None
            self._end(self._unrun(late.number, late.save, "cancelled", CANCELLED), late.save, None)
        if self.in_flight is not None:
            self._driver.cancel()

    def resume(self) -> None:
        """After `stop`: go on with the versions and their numbers."""
        self._stopping = False

    def take(self, told: Event | FileNote) -> None:
        """Take in what the engine or a recording said."""
        self._driver.take(told)
        flying = self.in_flight
        if flying is None:
            return
        match told:
            case PointChecked(index=index) if self._is_of(flying, index):
                flying.judged(passed=True)
            case PointFailed(index=index) if self._is_of(flying, index):
                self._failed(flying)
            case PlanFinished(reason=reason):
                self._finished(flying, reason)
            case _:
                pass

    def _is_of(self, flying: InFlight, index: int) -> bool:
        session = self._driver.session
        return session is not None and session.points[index].point.kernel == flying.own.name

    def _failed(self, flying: InFlight) -> None:
        """One point of the version failed; where all did, nothing is left to be compared."""
        flying.judged(passed=False)
        if flying.failed:
            self._driver.cancel()

    def go_on(self) -> None:
        """Begin what waits, unless something runs.

        Raises:
            EngineBusyError: The engine runs something; it waits on.
        """
        flying = self.waiting
        if flying is None or self._driver.running:
            return
        earlier, own = [] if self._before is None else [self._before], flying.own
        plan = replace(
            self.plan,
            kernels=(own.name, *(one.name for one in earlier), *self.plan.kernels),
            own=(own, *earlier, *self.plan.own),
        )
        flying.begin(len(plan.problems))
        self._run(plan, self._record(own) if self._record else None)
        self.waiting, self.in_flight = None, flying

    def _finished(self, flying: InFlight, reason: str) -> None:
        session, recording = self._driver.session, self._driver.recording
        version = version_of(session) if session else None
        if version is None:  # the engine broke off before it began
            version = self._unrun(flying.number, flying.save, "failed", reason)
        elif reason:  # it broke off, or refused the plan
            version = version._replace(verdict="failed", reason=reason)
        elif version.verdict in {"cancelled", "pending"}:
            told = SUPERSEDED if flying.superseded else CANCELLED
            version = version._replace(verdict="cancelled", reason=told)
        if version.right:
            self._before = flying.own
        self.in_flight = None
        self._end(version, flying.save, recording, flying.verdict_s)
        self._driver.engine.renew()
        if not self._stopping:
            self._driver.engine.probe()  # starts the next worker

    def _unrun(self, number: int, save: Save, verdict: str, reason: str) -> Version:
        return Version(
            number=number,
            name=version_name(self._watched.name, number),
            sha256=save.sha256,
            saved_at=now(),
            verdict=verdict,
            reason=reason,
            source=save.data.decode("utf-8", "replace"),
        )

    def _end(
        self, version: Version, save: Save, recording: RunRecording | None, verdict_s: float | None = None
    ) -> None:
        self.strip.add(version)
        ended_s = seconds_since(save)
        self._tell(version, Timing(ended_s if verdict_s is None else verdict_s, ended_s), recording)


def seconds_since(save: Save) -> float:
    """Seconds from when a save was seen."""
    return (time.monotonic_ns() - save.seen_ns) / 1e9


def now() -> str:
    """The moment, ISO 8601 with offset."""
    return datetime.now().astimezone().isoformat(timespec="milliseconds")
