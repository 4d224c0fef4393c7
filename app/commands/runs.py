"""`sweep --runs K`: the same sweep several times, each in processes of its own, also beside another program.

Runs of one program differ by what no sample within a run shows: where memory came to lie, what the machine
did beside it. A comparison of several runs a side knows that (profiles.results.compare.run_pairs).
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from flashscope.app.commands import compare
from flashscope.app.commands.exit_codes import SIGNALLED, USAGE_ERROR
from flashscope.app.commands.local import LIFE
from flashscope.app.commands.messages import complain, pasteable, say, say_json
from flashscope.app.commands.printed.spread import print_spread
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.plan.run_mark import MARK, RunMark, run_marks
from flashscope.profiles.results.quantities.registry import RUNTIME
from flashscope.profiles.store import load
from flashscope.profiles.wire.process import python_command

MAIN = "flashscope.__main__:main"
ANSWER_S = 60  # that another program may take to tell its version


class RunFile(NamedTuple):
    """One run to be made: by which program, into which file, marked as which run."""

    program: tuple[str, ...]
    file: Path
    mark: RunMark


class RunFiles(NamedTuple):
    """The runs of one side or of both, in the order in which they are made."""

    own: list[RunFile]
    beside: list[RunFile]

    @property
    def in_turns(self) -> Iterator[RunFile]:
        """A run of each side by turns, every other pair the other way round: a drift harms neither."""
        if not self.beside:
            yield from self.own
        for place, both in enumerate(zip(self.own, self.beside, strict=False)):
            yield from both if place % 2 == 0 else reversed(both)


def run(words: Sequence[str], *, runs: int, out: Path, beside: Path | None, as_json: bool) -> int:
    """Make the runs one after the other; print their files and how far they differ, or the comparison.

    Args:
        words: What is said to `sweep`, without where to save.
        runs: How many a side.
        out: The file whose name the files are numbered under.
        beside: Another program that takes the same words, a script of Python or a command; None: none.
        as_json: Whether to print the files as one JSON document.

    Returns:
        0 if every run ended with 0; the first other code; 128 plus the signal's number after a signal.
    """
    files = _files(out, runs, beside)
    made: list[RunFile] = []
    worst = 0
    relay = _Relay()
    with signals_reach(relay.pass_on):
        for place, one in enumerate(files.in_turns):
            complain("sweep", f"run {place + 1} of {len(files.own) + len(files.beside)}, {one.file}")
            code = relay.run([*one.program, "sweep", *words, "--out", str(one.file)], one.mark)
            made += [one] if one.file.exists() else []
            worst = worst or code
            if relay.stopped_by is not None or code == USAGE_ERROR:
                break
    sides = [[one.file for one in side if one in made] for side in files]
    _report(sides, as_json=as_json)
    return SIGNALLED + relay.stopped_by if relay.stopped_by is not None else worst


def _files(out: Path, runs: int, beside: Path | None) -> RunFiles:
    """The files of all runs, none of which may be there.

    Raises:
        InputError: One is, or the other program does not answer.
    """
    own = _side(tuple(python_command(MAIN)), out, "", runs)
    other = _program(beside) if beside else None
    theirs = _side(other, out, "-beside", runs) if other else []
    for one in (*own, *theirs):
        if one.file.exists():
            raise InputError(f"{one.file} exists already; give another name to --out, or remove it")
    return RunFiles(own, theirs)


def _side(program: tuple[str, ...], out: Path, side: str, runs: int) -> list[RunFile]:
    return [RunFile(program, _numbered(out, side, mark.run), mark) for mark in run_marks(runs)]


def _numbered(out: Path, side: str, number: int) -> Path:
    return out.with_name(f"{out.stem}{side}-{number}{out.suffix}")


def _program(beside: Path) -> tuple[str, ...]:
    """How the other program is started, which answers when it is asked for its version.

    Raises:
        InputError: It does not.
    """
    found = (sys.executable, str(beside)) if beside.suffix == ".py" else (str(beside),)
    try:
        asked = subprocess.run([*found, "--version"], capture_output=True, timeout=ANSWER_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"{beside} cannot be run: {error}") from error
    if asked.returncode != 0 or not asked.stdout.startswith(b"flashscope "):
        raise InputError(f"{beside} is no Flashscope: it takes its main.py, or its command `flashscope`")
    return found


class _Relay:
    """Runs one child after another; a signal goes to the child, which keeps what it measured."""

    def __init__(self) -> None:
        self.stopped_by: int | None = None
        self._child: subprocess.Popen[bytes] | None = None

    def run(self, command: Sequence[str], mark: RunMark) -> int:
        """The exit code of a command, whose stdout nobody sees; it stops when this process is killed.

        A program that knows no marks makes sessions that have none.
        """
        with life_of_this() as life:
            self._child = subprocess.Popen(
                command,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=(life,),
                env={**os.environ, LIFE: str(life), MARK: mark.written},
            )
            if self.stopped_by is not None:  # between the last child and this one
                self._child.send_signal(self.stopped_by)
            return self._child.wait()

    def pass_on(self, number: int, _frame: FrameType | None) -> None:
        """Send a signal on to the child that runs."""
        self.stopped_by = number
        if self._child is not None and self._child.poll() is None:
            self._child.send_signal(number)


@contextmanager
def life_of_this() -> Iterator[int]:
    """The end of a pipe that can be read as soon as this process is gone, however it went."""
    life, held = os.pipe()
    try:
        yield life
    finally:
        os.close(life)
        os.close(held)


@contextmanager
def signals_reach(take: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Have Ctrl-C and SIGTERM taken by this, until it ends."""
    before = {number: signal.signal(number, take) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _report(sides: Sequence[Sequence[Path]], *, as_json: bool) -> None:
    own, beside = sides
    if as_json:
        say_json({"runs": list(map(str, own)), "beside": list(map(str, beside))})
        return
    if own:
        print_spread([load(file) for file in own])
    for side in filter(None, sides):
        say(f"Saved as {pasteable(side[0])} to {pasteable(Path(side[-1].name))}")
    if own and beside:
        say("")
        compare.run(
            (beside, own),
            as_json=False,
            quantity=RUNTIME,
            fail_on=None,
            allow_inconclusive=False,
            page=None,
            force=False,
        )
