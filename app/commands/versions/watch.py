"""`sweep --kernel FILE --watch`: measure a kernel of one's own anew at each save of its file.

Exit codes: 128 plus the signal's number after Ctrl-C (130) or SIGTERM (143), by which it ends; 1 where there
is no device to measure on; 2 where nothing can be measured.
"""

import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Any, cast

from msgspec.structs import replace

from flashscope.app.commands.exit_codes import SIGNALLED
from flashscope.app.commands.local import Events, find_device, local_driver
from flashscope.app.commands.messages import complain, pasteable, say, say_json, tell
from flashscope.app.commands.sweep import OWN_RIGHTS, make_plan, with_files, with_kernels_chosen
from flashscope.app.words.own.versions import RATIOS, version_lines
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.registry import AUTO
from flashscope.kernels.own.references import with_source
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.seqlens import parse_seqlens
from flashscope.profiles.running.driver import Driver, OpenRecording
from flashscope.profiles.running.recording import FileNote, FileTrouble, RunRecording
from flashscope.profiles.store import Recorder, check_place, new_session_path, sessions_dir
from flashscope.profiles.watching.document import version_document
from flashscope.profiles.watching.saves import Missing, Save, SaveWatch
from flashscope.profiles.watching.versions import Version
from flashscope.profiles.watching.watching import Timing, WatchedFile, Watching
from flashscope.profiles.wire.events import Event, LogLine

USUAL: Mapping[str, Any] = {"kernels": (AUTO,), "seqlens": parse_seqlens("1k")}
"""What is chosen where the command line says nothing: one problem, beside the fastest of ours."""


def run(choices: Mapping[str, Any], *, own: OwnKernel, out: Path | None, as_json: bool) -> int:
    """Measure the file as it is, and at each save, until a signal comes; print a line for each version."""
    watched = WatchedFile.of(own)
    with local_driver() as (driver, events):
        device = find_device(driver, events, "sweep", choices.get("backend", AUTO))
        if isinstance(device, int):
            return device
        plan = with_kernels_chosen(make_plan({**USUAL, **choices}, device), device)
        plan = replace(plan, own=tuple(map(with_source, plan.own)))
        if device.backend not in own.backends:
            taken = " and ".join(own.backends)
            raise UnsupportedError(f"There is nothing to measure: {own.name} runs on {taken} alone.")
        files = _Files(out, device.backend)
        files.check()
        driver.engine.watch(device.backend)
        told = _tell_json if as_json else _tell_line
        if own.function:
            complain("sweep", with_files(OWN_RIGHTS, (own.path,)))
        complain(
            "sweep", f"watching {own.path}, until Ctrl-C; sessions are saved in {pasteable(files.folder)}"
        )
        complain("sweep", RATIOS)
        return _follow(driver, events, watched, Watching(driver, watched, plan, files.record, told))


def _follow(driver: Driver, events: Events, watched: WatchedFile, watching: Watching) -> int:
    """Serve saves and events in their order until a signal comes."""
    queue = cast("SimpleQueue[Event | int | Save | Missing]", events)
    watch = SaveWatch(watched.path, queue.put)
    stopped_by: int | None = None
    try:
        while stopped_by is None or driver.running:
            found = queue.get()
            if isinstance(found, Missing):
                complain("sweep", f"{found.text}; waiting for it")
            elif isinstance(found, int):
                stopped_by = found
                watching.stop()
            elif not isinstance(found, Save):
                watching.take(found)
                _pass_on(found)
            elif stopped_by is None:
                watching.saved(found)
            if stopped_by is None:
                watching.go_on()
    finally:
        watch.stop()
    return SIGNALLED + stopped_by


class _Files:
    """Where sessions of versions are saved: beside `out` by its name, else among the user's sessions.

    Args:
        out: The name that versions are numbered under; None: that of the moment.
        backend: Which names of moments hold, too.
    """

    def __init__(self, out: Path | None, backend: Backend) -> None:
        self._out, self._backend = out, backend
        self.path_of: Callable[[OwnKernel], Path] = self._numbered if out else self._dated

    @property
    def folder(self) -> Path:
        """The folder."""
        return self._out.absolute().parent if self._out else sessions_dir()

    def check(self) -> None:
        """Refuse a name that is taken, before anything is measured.

        Raises:
            InputError: There is a file of the first version already.
            SessionFileError: No file can be made there.
        """
        if self._out is None:
            return
        first = self._out.with_name(f"{self._out.stem}-v1{self._out.suffix}")
        if first.exists():
            raise InputError(f"{first} exists already; give another name to --out, or remove it")
        check_place(first)

    def record(self, own: OwnKernel) -> OpenRecording:
        """What records the session of a version."""
        recorder = Recorder(self.path_of(own), numbered=self._out is None)
        return lambda _event: RunRecording(recorder, _hear_of_file)

    def _numbered(self, own: OwnKernel) -> Path:
        out = self._out or Path()
        return out.with_name(f"{out.stem}-v{own.name.rpartition('-v')[2]}{out.suffix}")

    def _dated(self, own: OwnKernel) -> Path:
        made = new_session_path(sessions_dir(), self._backend, datetime.now().astimezone())
        return made.with_name(f"{made.stem}-{own.name}{made.suffix}")


def _pass_on(event: Event) -> None:
    """What the kernel printed, and any trouble, on stderr."""
    if isinstance(event, LogLine) and (event.source == "worker" or event.level in {"warning", "error"}):
        tell(f"{event.source}: {event.text}")


def _hear_of_file(note: FileNote) -> None:
    if isinstance(note, FileTrouble):
        complain("sweep", note.text)


def _tell_line(version: Version, timing: Timing, recording: RunRecording | None) -> None:
    path = recording.path if recording else None
    first, *others = version_lines(version)
    took = f"{timing.verdict_s:.1f} s to the verdict, {timing.ended_s:.1f} s in all"
    saved = f", saved as {pasteable(Path(path.name))}" if path else ""
    for line in (f"{first}; {took}{saved}", *others):
        say(line)
    sys.stdout.flush()  # whoever reads a pipe sees each version as it ends


def _tell_json(version: Version, timing: Timing, recording: RunRecording | None) -> None:
    say_json(version_document(version, recording.path if recording else None, timing))
