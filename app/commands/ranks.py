"""`ranks`: one sequence on several GPUs, scheme by scheme, each pass beside one GPU with all of it.

Exit codes: 0 when all was measured and is right; 1 when something was not, or is wrong; 2 where nothing could
be asked for like this; 128 plus the signal's number after Ctrl-C or SIGTERM, what is done until then printed.
With a file each result is in it before the next one is measured.
"""

import time
import uuid
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from flashscope.app.commands.exit_codes import FAILED, SIGNALLED, USAGE_ERROR
from flashscope.app.commands.hosts import Hosts
from flashscope.app.commands.local import (
    Events,
    check_keeps,
    find_device,
    find_machine,
    hear_signals,
    local_driver,
)
from flashscope.app.commands.messages import complain, pasteable, say, say_json, tell
from flashscope.app.commands.printed.ranks import (
    print_forecasts,
    print_modelled,
    print_results,
    progress_line,
)
from flashscope.app.words.ranks import title_of
from flashscope.installation import driver_here
from flashscope.kernels.catalogue.registry import AUTO
from flashscope.kernels.catalogue.spec import installed
from flashscope.kernels.context_parallel.schemes import Scheme
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Backend, Dtype, Passes, Problem
from flashscope.profiles.cluster.client.device_words import ALL
from flashscope.profiles.engine.contract import Engine
from flashscope.profiles.engine.line_kinds import LINE_KINDS
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.formats.ranks import ranks_documents
from flashscope.profiles.results.model.parts import machine_differences
from flashscope.profiles.results.model.ranks import modelled
from flashscope.profiles.running.driver import Driver
from flashscope.profiles.store import Recorder, SessionFileError, check_place, load
from flashscope.profiles.store.keeping import keep
from flashscope.profiles.wire.events import PlanFinished, PlanStarted, RanksReady
from flashscope.profiles.wire.ranks import (
    TRANSPORTS,
    LinkKind,
    PassMeasured,
    RanksAnswer,
    RanksEnded,
    RanksResult,
    RanksToMeasure,
)

GPU_SEQLENS = tuple(1 << power for power in range(14, 19))
CPU_SEQLENS = (1024,)
INTERRUPTED = "It was interrupted before all of it was done; ask again."

AnswerQueue = SimpleQueue[RanksAnswer | int]  # an int is the number of a signal that arrived


class RanksChoices(NamedTuple):
    """What is asked for: each scheme at each length.

    Attributes:
        schemes: Which.
        seqlens: N; None: those that fit the backend.
        backend: As `sweep` takes it.
        gpus: How many; 0: all.
        ranks: How many; None: one on each GPU, two on a CPU.
        causal: Whether under a causal mask.
        passes: Forward, backward or both.
        batch: Sequences.
        heads: Query heads.
        kv_heads: Key/value heads; None: as many.
        head_dim: d.
        dtype: Of the inputs; None: that which fits the backend.
        transport: How arrays go from GPU to GPU.
        repeats: Timed runs.
        seed: What inputs are drawn by.
    """

    schemes: tuple[Scheme, ...]
    seqlens: tuple[int, ...] | None
    backend: str
    gpus: int
    ranks: int | None
    causal: bool
    passes: Passes
    batch: int
    heads: int
    kv_heads: int | None
    head_dim: int
    dtype: Dtype | None
    transport: LinkKind
    repeats: int
    seed: int
    alone: bool = True


@dataclass
class RanksFile:
    """The session that results are kept in.

    Attributes:
        path: Its file.
        session: Its id.
        begun: How a new one begins; None: there is one.
        earlier: What it held before.
        kept: How many results are in it that were not before.
        lost: How many could not be written.
    """

    path: Path
    session: str
    begun: PlanStarted | None = None
    earlier: Sequence[RanksResult] = ()
    kept: int = 0
    lost: int = 0

    def keep(self, result: RanksResult) -> None:
        """Write a result; where it cannot be, that is said, and the next one is tried."""
        try:
            self._write(result)
            self.kept += 1
        except SessionFileError as error:
            self.lost += 1
            complain("ranks", f"{title_of(result.asked)} is not saved: {error}")

    def _write(self, result: RanksResult) -> None:
        """Add it to the session; the first one makes it, so that there is none of nothing."""
        if self.begun is None:
            keep(self.path, result, self.session)
            return
        recorder = Recorder(self.path)
        try:
            recorder.record(self.begun)
            recorder.record(RanksReady(result=result))
            recorder.record(PlanFinished(t_ns=time.monotonic_ns(), outcome="finished"))
            recorder.close()
        except SessionFileError:
            if recorder.created:
                recorder.path.unlink(missing_ok=True)
            raise
        self.begun = None


def run(choices: RanksChoices, *, out: Path | None, as_json: bool, connect: str | None = None) -> int:
    """Measure, here or on a host, keep, print, and say by the exit code whether all is there and right."""
    if out is not None:
        (check_keeps if out.exists() else check_place)(out)
    with local_driver(_hosts(choices, connect)) as (driver, events):
        backend = _backend(choices.backend) if connect is None else _backend_there(choices, driver, events)
        if isinstance(backend, int):
            return backend
        asked = requests_of(choices, backend)
        file = None if out is None else file_for(out, backend, driver, events)
        if isinstance(file, int):
            return file
        return _measure_all(asked, file, driver.engine, as_json=as_json)


def _hosts(choices: RanksChoices, connect: str | None) -> Hosts:
    """Who measures: a host's GPUs together, of which ranks on a CPU need none."""
    if connect is None or choices.backend == "cpu":
        return Hosts.one(connect)
    return Hosts((connect,), choices.gpus or ALL, together=True)


def _measure_all(
    asked: Sequence[RanksToMeasure], file: RanksFile | None, engine: Engine, *, as_json: bool
) -> int:
    """Have one after the other measured, keep and print what comes of each; the exit code."""
    results, earlier = list[RanksResult](), file.earlier if file is not None else ()
    answers: AnswerQueue = SimpleQueue()
    hear_signals(answers.put)
    waiting, stopped = deque(asked), None
    while waiting and stopped is None:
        process = engine.lines("ranks", waiting, answers.put)
        try:
            stopped = _follow(waiting, answers, results, file)
        finally:
            process.end()
    if as_json:
        say_json(ranks_documents(results, earlier))
    else:
        print_results(results)
        print_modelled(modelled([*earlier, *results]))
        print_forecasts(results)
        if file is not None and file.kept:
            say(f"Saved as {pasteable(file.path)}")
    if stopped is not None:
        return SIGNALLED + stopped
    return FAILED if file is not None and file.lost else _exit_code(results)


def file_for(path: Path, backend: Backend, driver: Driver, events: Events) -> RanksFile | int:
    """The session of this file, or what one begins with where there is none; the exit code after a signal.

    Raises:
        SessionFileError: It was measured otherwise than these would be.
    """
    machine = find_machine(driver, events)
    if isinstance(machine, int):
        return SIGNALLED + machine
    return _with(path, machine, backend) if path.exists() else _new(path, machine, backend)


def _with(path: Path, machine: Machine, backend: Backend) -> RanksFile:
    session = load(path)
    if told := "; ".join(machine_differences(session.machine, machine, backend)):
        raise SessionFileError(f"{path} was measured otherwise: {told} now. Name a new file.")
    return RanksFile(path, session.id, earlier=session.ranks)


def _new(path: Path, machine: Machine, backend: Backend) -> RanksFile:
    """A session without points, which says where and when."""
    begun = PlanStarted(
        session_id=uuid.uuid4().hex,
        plan=Plan(backend=backend, kernels=(), problems=()),
        machine=machine,
        started_at=datetime.now().astimezone().isoformat(timespec="seconds"),
        t_ns=time.monotonic_ns(),
        predicted_bytes=(),
    )
    return RanksFile(path, begun.session_id, begun)


def requests_of(choices: RanksChoices, backend: Backend) -> list[RanksToMeasure]:
    """Each scheme at each length, the schemes of a length one after the other.

    Raises:
        InputError: There is no such problem, or GPUs are asked for where there is none.
    """
    if backend == "cpu" and choices.gpus:
        raise InputError(f"--gpus {choices.gpus} takes GPUs, and it would run on the CPU; leave it out.")
    if backend == "cpu" and choices.transport != TRANSPORTS[0]:
        told = f"--transport {choices.transport} goes from GPU to GPU"
        raise InputError(f"{told}, and it would run on the CPU; leave it out.")
    seqlens = choices.seqlens or (GPU_SEQLENS if backend == "cuda" else CPU_SEQLENS)
    problems = [
        Problem(
            batch=choices.batch,
            seqlen_q=seqlen,
            seqlen_k=seqlen,
            heads=choices.heads,
            kv_heads=choices.kv_heads,
            head_dim=choices.head_dim,
            dtype=choices.dtype or ("bfloat16" if backend == "cuda" else "float32"),
            causal=choices.causal,
            passes=choices.passes,
            seed=choices.seed,
        )
        for seqlen in seqlens
    ]
    return [
        RanksToMeasure(
            scheme=scheme,
            problem=problem,
            backend=backend,
            ranks=choices.ranks or 0,
            gpus=choices.gpus,
            transport=choices.transport,
            repeats=choices.repeats,
            alone=choices.alone,
        )
        for problem in problems
        for scheme in choices.schemes
    ]


def _backend(word: str) -> Backend:
    """The backend that is meant: `auto` is a GPU's where there is a driver, and CuPy."""
    if word == AUTO:
        return "cuda" if driver_here() and installed("cupy") else "cpu"
    return "cuda" if word == "cuda" else "cpu"


def _backend_there(choices: RanksChoices, driver: Driver, events: Events) -> Backend | int:
    """The same of a host, which is asked; the exit code where it has none, and why is said."""
    device = find_device(driver, events, "ranks", choices.backend)
    return device if isinstance(device, int) else device.backend


def _follow(
    waiting: deque[RanksToMeasure],
    answers: AnswerQueue,
    results: list[RanksResult],
    file: RanksFile | None = None,
) -> int | None:
    """Hear one process until it has done all that waits, or ends; the number of a signal that came before."""
    first = True
    while waiting:
        result, stopped = _result(waiting[0], answers)
        if stopped is not None and not result.passes:
            return stopped
        cut_off = result.ended.reason == LINE_KINDS["ranks"].cut_off
        if cut_off and not result.passes and not first:  # it is for the next process
            return None
        results.append(result)
        if file is not None:
            file.keep(result)
        if result.ended.reason:
            complain("ranks", f"{title_of(waiting[0])}: {result.ended.reason}")
        else:
            tell(progress_line(result))
        waiting.popleft()
        if cut_off or stopped is not None:
            return stopped
        first = False
    return None


def _result(asked: RanksToMeasure, answers: AnswerQueue) -> tuple[RanksResult, int | None]:
    """What comes of a request, and the number of a signal that came before it was done."""
    passes: list[PassMeasured] = []
    while isinstance(answer := answers.get(), PassMeasured):
        passes.append(answer)
    stopped = answer if isinstance(answer, int) else None
    ended = RanksEnded(reason=INTERRUPTED) if isinstance(answer, int) else answer
    return RanksResult(asked, tuple(passes), ended), stopped


def _exit_code(results: list[RanksResult]) -> int:
    if results and all(one.ended.misused for one in results):
        return USAGE_ERROR
    right = all(one.passed for result in results for one in result.passes)
    return 0 if right and not any(one.ended.reason for one in results) else FAILED
