"""`cuts`: time cuts of kernels around the shipped ones, and keep the landscapes in a session.

The shipped kernels are swept over the same problems first, so that the session says how fast they are and
on what; a session that is there takes the landscapes as they are. Exit codes: 0 when every landscape is
there; 1 when one is not; 128 plus the signal's number after Ctrl-C or SIGTERM, with the landscapes until then
kept.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import product
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from flashscope.app.commands.exit_codes import FAILED, SIGNALLED
from flashscope.app.commands.hosts import Hosts
from flashscope.app.commands.local import check_keeps, find_device, hear_signals, local_driver
from flashscope.app.commands.messages import complain, pasteable, say, say_json
from flashscope.app.commands.printed.cuts import cut_display, print_landscape
from flashscope.app.commands.sweep import SweepRun
from flashscope.app.figures.landscapes import knob_of, maker_in_numpy, maker_on, row_names
from flashscope.app.words.inside.cuts import problem_line
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda.design.refusals import refusals
from flashscope.kernels.cuda.reading.cards import GpuCard, card_of
from flashscope.kernels.workload.cut import BACKWARD, CutKernel
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.landscape import CutLandscape
from flashscope.kernels.workload.problem import ONE_PASS, Backend, Passes, Problem
from flashscope.profiles.engine.contract import Engine
from flashscope.profiles.engine.line_kinds import LINE_KINDS
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.formats.landscapes import landscape_document
from flashscope.profiles.results.model.landscape_made import LandscapeMaker
from flashscope.profiles.store import Recorder, check_place, load, new_session_path, sessions_dir
from flashscope.profiles.store.keeping import keep
from flashscope.profiles.wire.cuts import CutAnswer, CutsEnded

Answers = SimpleQueue[CutAnswer | int]  # an int is the number of a signal that arrived
NUMPY: CutKernel = "numpy"
CUT_OFF = LINE_KINDS["cuts"].cut_off


class CutChoices(NamedTuple):
    """What is asked for: a landscape for each kernel, pass, head dim and mask.

    Attributes:
        kernels: flash2, flash3; on the CPU there is flash2 alone, forward.
        passes: Forward, backward, or a landscape of each.
        backend: As `sweep` takes it.
        seqlen: N.
        heads: Of one sequence.
        head_dims: d.
        masks: Whether causal, each.
        rows: The numbers that rows differ in, where a kernel has them; empty: the first that it has.
    """

    kernels: tuple[str, ...]
    passes: Passes
    backend: str
    seqlen: int
    heads: int
    head_dims: tuple[int, ...]
    masks: tuple[bool, ...]
    rows: tuple[str, ...]


def run(
    choices: CutChoices,
    *,
    out: Path | None,
    into: Path | None,
    as_json: bool,
    connect: str | None = None,
) -> int:
    """Time the cuts, here or on a host, keep and print the landscapes.

    Args:
        choices: Which.
        out: The session to make, of a sweep of the shipped kernels; None: a new one among the user's.
        into: A session that is there and takes the landscapes; None: one is made.
        as_json: Print one JSON document.
        connect: The host that measures; None: this machine does.
    """
    found = None if into is None else load(into)
    if into is not None:
        check_keeps(into)
    with local_driver(Hosts.one(connect)) as (driver, events):
        device = find_device(driver, events, "cuts", choices.backend)
        if isinstance(device, int):
            return device
        makers = makers_of(choices, device)
        if into is None:
            path = out or new_session_path(sessions_dir(), device.backend, datetime.now().astimezone())
            check_place(path)
            sweep = SweepRun(driver, events, Recorder(path, numbered=out is None))
            sweep.run(_plan(device.backend, makers))
            into, found = sweep.saved(), sweep.session
            if sweep.stopped_by is not None:
                return SIGNALLED + sweep.stopped_by
        if into is None or found is None:
            return FAILED
        return time_all(makers, into, found.id, driver.engine, as_json=as_json)


def _plan(backend: Backend, makers: Sequence[LandscapeMaker]) -> Plan:
    """A sweep of the shipped kernels over the problems of the cuts."""
    return Plan(
        backend=backend,
        kernels=tuple(dict.fromkeys(one.asked.shipped.spec for one in makers)),
        problems=tuple(dict.fromkeys(one.asked.problem for one in makers)),
    )


def _card(device: Device) -> GpuCard | None:
    """The GPU as cuts are designed for it; None on a CPU.

    Raises:
        UnsupportedError: No program is made for GPUs like it.
    """
    card = card_of(device)
    if card is None and device.backend == "cuda":
        raise UnsupportedError(f"No kernel has cuts for {device.name}.")
    return card


def makers_of(choices: CutChoices, device: Device) -> list[LandscapeMaker]:
    """What is timed on a device, a landscape each; on a CPU in NumPy. What no kernel takes is said.

    Raises:
        UnsupportedError: Nothing is left; the text says why.
    """
    card = _card(device)
    made: list[LandscapeMaker] = []
    why: dict[str, None] = {}
    for name, kernel, problem in _asked(choices, on_gpu=card is not None):
        if reason := find_kernel(name).unsupported(problem, device):
            why[reason] = None
            continue
        if card is None:
            made.append(maker_in_numpy(problem))
            continue
        names = row_names(kernel)
        for rows in [one for one in names if one in choices.rows] or names[:1]:
            one = maker_on(card, kernel, problem, knob_of(kernel, rows))
            if refused := refusals(one.asked.shipped, problem, card):
                why[f"{kernel}, {problem_line(problem)}: {refused[0]}"] = None
            else:
                made.append(one)
    if not made:
        reasons = "; ".join(told.rstrip(".") for told in why) or "NumPy has cuts of flash2 alone, forward"
        raise UnsupportedError(f"There are no cuts to time: {reasons}.")
    for told in why:
        complain("cuts", told)
    return made


def _asked(choices: CutChoices, *, on_gpu: bool) -> Iterator[tuple[str, CutKernel, Problem]]:
    """Kernels, whose cuts, and problems, those of one problem one after the other for its oracle."""
    passes = ONE_PASS if choices.passes == "both" else (choices.passes,)
    for of, head_dim, causal, kernel in product(passes, choices.head_dims, choices.masks, choices.kernels):
        if not on_gpu and (kernel, of) != ("flash2", "forward"):
            continue
        own: Any = kernel + BACKWARD * (of == "backward") if on_gpu else NUMPY
        yield (
            kernel,
            own,
            Problem(
                heads=choices.heads,
                seqlen_q=choices.seqlen,
                seqlen_k=choices.seqlen,
                head_dim=head_dim,
                dtype="bfloat16" if on_gpu else "float32",
                causal=causal,
                passes=of,
            ),
        )


def time_all(
    makers: Sequence[LandscapeMaker], path: Path, session: str, engine: Engine, *, as_json: bool
) -> int:
    """Time one after the other in a process where an engine measures, and keep each; the exit code.

    Where the process ends before it is through, another one goes on with the next.
    """
    answers: Answers = SimpleQueue()
    hear_signals(answers.put)
    made: list[CutLandscape] = []

    def take(landscape: CutLandscape) -> None:
        keep(path, landscape, session)
        made.append(landscape)
        if not as_json:
            print_landscape(landscape)

    waiting, stopped = deque(makers), None
    while waiting and stopped is None:
        process = engine.lines("cuts", [one.asked for one in waiting], answers.put)
        try:
            stopped = _follow(waiting, answers, len(makers), take)
        finally:
            process.end()
    if as_json:
        say_json(list(map(landscape_document, made)))
    else:
        say(f"Saved as {pasteable(path)}")
    if stopped is not None:
        return SIGNALLED + stopped
    return 0 if len(made) == len(makers) else FAILED


def _follow(
    waiting: deque[LandscapeMaker], answers: Answers, total: int, take: Callable[[CutLandscape], None]
) -> int | None:
    """Hear one process until it has done all that waits, or ends; the number of a signal that came before."""
    first = True
    while waiting:
        maker = waiting.popleft()
        ended = _ended(maker, answers, f"{total - len(waiting)} of {total}")
        if isinstance(ended, int):
            return ended
        if ended.reason == CUT_OFF and not maker.begun and not first:  # it is for the next process
            waiting.appendleft(maker)
            return None
        if (landscape := _made(maker, ended)) is not None:
            take(landscape)
        if ended.reason == CUT_OFF:
            return None
        first = False
    return None


def _ended(maker: LandscapeMaker, answers: Answers, place: str) -> CutsEnded | int:
    """How it ended, once the maker has all answers; a number is that of a signal that came before."""
    display = cut_display(maker, place)
    try:
        while not isinstance(answer := answers.get(), int | CutsEnded):
            maker.take(answer)
            display.report(answer)
    finally:
        display.close()
    return answer


def _made(maker: LandscapeMaker, ended: CutsEnded) -> CutLandscape | None:
    """The landscape; None, and said why: there is none."""
    landscape = maker.made(ended)
    if ended.reason:
        complain("cuts", " ".join(filter(None, (ended.reason, ended.detail))))
    elif landscape is None:
        complain("cuts", f"no cut of {maker.asked.shipped.kernel} could be timed: {maker.first_reason}")
    return landscape
