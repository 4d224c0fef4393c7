"""`sweep`: measure kernels over sequence lengths, without a window.

Exit codes: 0 when at least one point is done and every other was predicted not to fit; 1 when a point failed,
was wrong, unsupported (which a preset expects of some kernels), timed out or ran out of memory, when none is
done, or when the file could not be written; 2 when no kernel takes any of the problems; 128 plus the signal's
number after Ctrl-C (130) or SIGTERM (143), with the points measured until then kept.
"""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from flashscope.app.commands.exit_codes import FAILED, SIGNALLED
from flashscope.app.commands.hosts import HERE, Hosts
from flashscope.app.commands.local import Events, find_device, local_driver
from flashscope.app.commands.messages import complain, pasteable, say, say_json
from flashscope.app.commands.printed.against import print_against
from flashscope.app.commands.printed.progress import progress_display
from flashscope.app.commands.printed.table import print_session
from flashscope.app.words.results.provenance import of_session
from flashscope.installation import PROGRAM
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.registry import AUTO, KernelChoice, choose, find_kernel, runnable
from flashscope.kernels.own.consent import allow
from flashscope.kernels.own.references import with_source
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.presets import preset_plan, with_those_at
from flashscope.profiles.plan.request import Request
from flashscope.profiles.plan.run_mark import MARK, RunMark
from flashscope.profiles.results.formats.export import to_json
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.running.driver import Driver
from flashscope.profiles.running.recording import FileNote, FileTrouble, RunRecording
from flashscope.profiles.store import (
    Recorder,
    SessionFileError,
    TakenFileError,
    check_place,
    load,
    new_session_path,
    sessions_dir,
)
from flashscope.profiles.wire.events import Event, PlanFinished, PointStatus
from flashscope.profiles.wire.text import listed

PEERS_OF_TILED = ("torch-flash",)  # FlashAttention-2: what a tiled kernel is measured against
FINE = {"done", "will-not-fit"}


OWN_RIGHTS = (
    "{files} {run} with your rights, in the worker process alone: name no file that you do not trust."
)
RIGHTS_THERE = (
    "{files} {be} sent, and {run} there with the rights of who serves: name no file that you do not trust."
)


def run(
    choices: Mapping[str, Any],
    *,
    preset: str | None,
    out: Path | None,
    as_json: bool,
    own: Sequence[OwnKernel] = (),
    keep_source: bool = False,
    hosts: Hosts = HERE,
) -> int:
    """Run the sweep of these choices or of the preset, beside kernels of one's own; record it, print it.

    With `hosts` it is measured there, and a host alone knows what libraries are there.
    """
    mark = RunMark.read(os.environ.pop(MARK, ""))
    with local_driver(hosts) as (driver, events):
        asked = "cuda" if hosts.are_gpus_here else choices.get("backend", AUTO)
        device = find_device(driver, events, "sweep", asked)
        if isinstance(device, int):
            return device
        plan = with_kernels_chosen(make_plan(choices, device, preset), device)
        rights = RIGHTS_THERE if hosts.addresses else OWN_RIGHTS
        plan = with_own_kernels(plan, own, rights, keep_source=keep_source)
        check_runnable(plan, device)
        path = out or new_session_path(sessions_dir(), device.backend, datetime.now().astimezone())
        check_place(path)
        sweep = SweepRun(driver, events, Recorder(path, numbered=out is None))
        sweep.run(plan, mark)
    return report(sweep, as_json=as_json, compared=preset is not None)


def make_plan(choices: Mapping[str, Any], device: Device, preset: str | None = None) -> Plan:
    """The plan of these choices, or of the preset; what was left out depends on the device."""
    request = Request.of(**{**choices, "backend": device.backend})
    if preset is not None:
        plan = preset_plan(
            preset,
            request.backend,
            request.protocol,
            seed=request.seed,
            kernels=choices.get("kernels"),
            passes=request.passes,
            deterministic=request.deterministic,
        )
        return plan if "kernels" in choices else told_without(with_those_at(device, plan), plan)
    plan = request.plan()
    if "kernels" in choices:
        return plan
    return replace(plan, kernels=runnable(plan.kernels, plan.problems, device) or plan.kernels)


def with_own_kernels(plan: Plan, own: Sequence[OwnKernel], rights: str, *, keep_source: bool) -> Plan:
    """The plan with these kernels too, after it is said with whose rights their Python runs.

    Raises:
        InputError: A file has changed since it was read, or one name means two files.
    """
    added = dict.fromkeys(one.name for one in own if one.name not in plan.kernels)
    known = {one.name: one for one in (*plan.own, *own)}
    for one in (*plan.own, *own):
        if (last := known[one.name]) != one:
            both = f"{one.reference} and {last.reference}"
            raise InputError(f"{both} declare kernels of one name, {one.name}; give one another: name = ...")
    every = tuple(map(with_source, known.values())) if keep_source else tuple(known.values())
    for one in every:
        allow(one)  # the command line named it
    files = dict.fromkeys(one.path for one in every if one.function)
    if files:
        complain("sweep", with_files(rights, tuple(files)))
    return replace(plan, kernels=(*plan.kernels, *added), own=every)


def with_files(rights: str, files: Sequence[str]) -> str:
    """Whose rights files run with, as a sentence on one or several."""
    be, run = ("is", "runs") if len(files) == 1 else ("are", "run")
    return rights.format(files=listed(files), be=be, run=run)


def told_without(plan: Plan, whole: Plan) -> Plan:
    """The plan, after it is said which peers of the whole one are left out."""
    absent = [kernel for kernel in whole.kernels if kernel not in plan.kernels]
    if absent:
        complain(
            "sweep",
            f"without {', '.join(absent)}, not installed there ({PROGRAM} peers says how)",
        )
    return plan


def with_kernels_chosen(plan: Plan, device: Device) -> Plan:
    """The plan with `auto` replaced by the kernels it stands for, which is said with why; others as they are.

    Raises:
        UnsupportedError: No kernel supports one of the problems.
    """
    if plan.kernels != (AUTO,):
        return plan
    choices = [choose(problem, device) for problem in plan.problems]
    for told in dict.fromkeys(map(reasoned, choices)):
        complain("sweep", f"auto chose {told}")
    return replace(plan, kernels=tuple(dict.fromkeys(choice.spec.name for choice in choices)))


def reasoned(choice: KernelChoice) -> str:
    """A choice with why it was made."""
    if not choice.passed_over:
        return f"{choice.spec.name}, the fastest of ours"
    return f"{choice.spec.name}, the fastest of ours that takes this: {'; '.join(choice.passed_over)}"


def check_runnable(plan: Plan, device: Device) -> None:
    """Refuse a plan of which no kernel takes any problem.

    Raises:
        UnsupportedError: There is nothing to measure; the text says why.
    """
    specs = [find_kernel(name) for name in plan.kernels]
    reasons = [spec.unsupported(problem, device) for problem in plan.problems for spec in specs]
    if all(reasons):
        told = "; ".join(reason for reason in dict.fromkeys(reasons) if reason)
        raise UnsupportedError(f"There is nothing to measure: {told}.")


class SweepRun:
    """One sweep, followed to its end, with its progress on stderr.

    Args:
        driver: Runs it.
        events: What the driver's engine says.
        recorder: Writes its file; None: nothing does.

    Attributes:
        stopped_by: The signal that ended it, None when none did.
        troubled: Whether something went wrong that no later attempt has mended.
    """

    def __init__(self, driver: Driver, events: Events, recorder: Recorder | None = None) -> None:
        self.stopped_by: int | None = None
        self.troubled = False
        self._driver, self._events, self._recorder = driver, events, recorder
        self._open = partial(self._recording, recorder) if recorder else None
        self._display = progress_display()

    @property
    def session(self) -> Session | None:
        """What is known of it, None before it began or goes on."""
        return self._driver.session

    def run(self, plan: Plan, mark: RunMark | None = None, held: Sequence[Event] = ()) -> None:
        """Measure a plan and return when that has ended.

        Args:
            plan: What to measure.
            mark: Which of several runs it is.
            held: What the session holds from its beginning.
        """
        self._driver.engine.watch(plan.backend)
        self._driver.run(plan, self._open, mark, held)
        self._follow()

    def resume(self, session: Session, remaining: Remaining) -> None:
        """Measure what is left of a session's plan and return when that has ended."""
        self._driver.engine.watch(session.backend)
        self._driver.resume(session, remaining, self._open)
        self._follow()

    def saved(self) -> Path | None:
        """The file that can be opened again and shows what was measured; None, and said: there is none."""
        if self._recorder is None:
            return None
        path = self._recorder.path
        try:
            found = load(path)
        except SessionFileError as error:
            _complain(f"the sweep is not saved: {error}")
            return None
        if self.session is None or found.id != self.session.id:
            _complain(f"the sweep is not saved: {path} holds another session")
        elif [one.status for one in found.points] != [one.status for one in self.session.points]:
            _complain(f"not all of the sweep is saved: {path} holds what was written until then")
        else:
            return path
        return None

    def _follow(self) -> None:
        while self._driver.running:
            event = self._events.get()
            if isinstance(event, int):
                self.stopped_by = event
                self._driver.cancel()
            else:
                self._driver.take(event)
                self._tell(event)

    def _tell(self, event: Event) -> None:
        """Say what an event means, which is in the file by now."""
        if isinstance(event, PlanFinished) and event.reason:
            self.troubled = True
            _complain(event.reason)
        if self.session is not None:
            self._display.report(self.session, event)

    def _recording(self, recorder: Recorder, _event: Event) -> RunRecording:
        return RunRecording(recorder, self._hear_of_file)

    def _hear_of_file(self, note: FileNote) -> None:
        """What cannot be written is said; the sweep goes on, and the recorder tries again.

        Raises:
            TakenFileError: Another sweep has made the file since it was looked for, or gone on in it.
        """
        if isinstance(note, FileTrouble):
            if isinstance(note.error, TakenFileError):
                raise note.error
            self.troubled = self.troubled or not note.passing
            _complain(note.text)


def _complain(trouble: str) -> None:
    complain("sweep", trouble)


def report(sweep: SweepRun, *, as_json: bool, compared: bool) -> int:
    """Print the result, as ratios to the peer if `compared`; returns the exit code."""
    session = sweep.session
    if session is None:
        return FAILED
    path = sweep.saved()
    if as_json:
        say_json(to_json(session, str(path) if path else None, of_session(session, "live").badge))
    else:
        if compared:
            print_against(session, PEERS_OF_TILED)
        else:
            print_session(session)
        if path:
            say(f"Saved as {pasteable(path)}")
    if sweep.stopped_by is not None:
        return SIGNALLED + sweep.stopped_by
    statuses: set[PointStatus] = {state.status for state in session.points}
    statuses |= {row.status for row in rows(session)}  # one that is done may be impossible
    fine = FINE | {"unsupported"} if compared else FINE
    good = statuses <= fine and "done" in statuses and path is not None and not sweep.troubled
    return 0 if good else FAILED
