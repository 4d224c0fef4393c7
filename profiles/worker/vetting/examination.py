"""What a kernel of the user's own is asked before it is timed, beside its answer to the first inputs.

| looked at | finds who |
|---|---|
| process, inputs and the memory around them | replaces functions, changes settings, writes there |
| its first answer, as it stood when it returned | works on after its return |
| threads and processes while nothing of it runs | takes the time of others |
| rows drawn at random, every row for NaN | is right where samples are expected |
| its answers when one row of K and V, then all was changed in place | remembers by address or by samples |
| runs on a GPU whose stream is held | works on other streams, or after its end; waits on the host: doubtful |
| its time with values that it has just had, beside new ones | remembers by content: doubtful |
| its answers to scores of 10,000, one key above all, small values | is right at one scale alone: doubtful |
| its answer at other addresses | keeps its first arrays, or pointers to them |
| its answers at other sizes and another scale with the same features | is right at these alone: doubtful |

Of sequences that differ in length only the first three are asked, of gradients the runs that are held and
those with one row of dO changed, too.
"""

import threading
from statistics import median
from typing import NamedTuple

import numpy as np

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.passes import Given, PassLaunch, PassOutputs
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.measurement import SUSPECTED, Figure
from flashscope.profiles.worker.instruments.bench import Bench
from flashscope.profiles.worker.judging import Judge
from flashscope.profiles.worker.steps import Steps
from flashscope.profiles.worker.vetting.answers import (
    LATE,
    caught,
    differ,
    found_wrong,
    taken,
    what_is_wrong_in_rows,
)
from flashscope.profiles.worker.vetting.around import Around, bytes_read, overlap
from flashscope.profiles.worker.vetting.other_addresses import told_of_other_addresses
from flashscope.profiles.worker.vetting.other_size import told_of_other_sizes
from flashscope.profiles.worker.vetting.scales import ROWS as ROWS_OF_SCALES
from flashscope.profiles.worker.vetting.scales import SCALES
from flashscope.profiles.worker.vetting.streams import told_of_streams
from flashscope.profiles.worker.vetting.values import (
    FIRST_AND_LAST,
    redraw,
    redraw_row,
    redraw_row_of_gradients,
)

PAIRS = 5  # of runs with values that are new, and are not
PAIRS_S = 2.0  # after which two must do
LEAST_PAIRS = 2
SUSPICIOUS = 0.6  # of the time with new values
SLOW_MS = 5000.0  # of a run, from which on no pairs are asked for: they would take the time of its deadline
PAUSE = 4  # times as long as a run
AGAIN = 3  # runs at the first addresses, where it was wrong at others
LONGEST_PAUSE_S = 2.0
BUSY = (
    f"Threads or processes of it worked on for {LONGEST_PAUSE_S:.3g} s after its return: it works ahead of "
    "its timed runs, or takes the time of what is measured beside it."
)
BUSY_BEFORE = (
    "Threads or processes were at work before it ran, and after its return: an earlier run in this process "
    "has left them, of another kernel of one's own or of this one. Measure it in a sweep of its own."
)
LOOK_S = 0.05  # for which other threads are watched
AT_WORK = 0.02  # of that time


class Means(NamedTuple):
    """What runs a kernel.

    Attributes:
        device: Where.
        bench: The instruments.
        steps: What the engine may cancel.
    """

    device: Device
    bench: Bench
    steps: Steps


class RunCost(NamedTuple):
    """What a run took: ms that went by, and ms of CPU time of the process."""

    ms: float
    cpu_ms: float


class Examination:
    """One kernel of the user's own, while it is tried."""

    def __init__(self, spec: KernelSpec, problem: Problem, around: Around, means: Means) -> None:
        self._spec, self._problem, self._around, self._means = spec, problem, around, means
        self._rng = np.random.default_rng()
        self._before: dict[str, bytes] = {}
        self._threads, self._started = threading.active_count(), around.state.started
        self._busy_before = around.state.lent and self._works_on()
        around.state.lent = True

    def give(self, given: Given) -> None:
        """Look after all that it is given: a backward pass alone has O and LSE beside what was drawn."""
        self._around = self._around._replace(given=given)
        self._before = bytes_read(given)

    def first_answer(self, launch: PassLaunch) -> PassOutputs:
        """The answer as it stands now, right after the first run, in host memory.

        Raises:
            CaughtError: The run left something else changed.
        """
        answer = taken(launch.answer())
        self._around.guards.add(launch)  # what it writes holds anything before
        self._around.look(self._before, launch.answer())
        return answer

    def tell_late(self, launch: PassLaunch, judge: Judge) -> None:
        """The first answer was wrong.

        Raises:
            CaughtError: It has become right since.
        """
        self._await_rest()
        self._means.bench.wait()
        if judge(launch.answer()).passed:
            raise caught(
                "Its answer was not there when it returned, and was later: it works on after its return."
            )

    def _await_rest(self) -> None:
        """Wait as long as other threads work, or more are there than were, but not for ever."""
        looks = round(LONGEST_PAUSE_S / LOOK_S)
        while looks and (self._works_on() or threading.active_count() > self._threads):
            looks -= 1

    def _works_on(self) -> bool:
        """Whether other threads of the process get CPU time, or processes that it has started work."""
        clocks = self._around.state.clocks
        before = clocks.process() - clocks.thread()
        threading.Event().wait(LOOK_S)
        spent = clocks.process() - clocks.thread() - before
        return spent > LOOK_S * 1e9 * AT_WORK or self._started.at_work()

    def _tell_at_work(self) -> None:
        """Whether anything of it works for long while nothing of it is to run.

        Raises:
            CaughtError: It does.
        """
        if all(self._works_on() for _ in range(round(LONGEST_PAUSE_S / LOOK_S))):
            raise caught(BUSY_BEFORE if self._busy_before else BUSY)

    def ask(self, launch: PassLaunch, first: PassOutputs) -> dict[str, Figure]:
        """Everything else; what it finds that refuses nobody, as a figure.

        Args:
            launch: The kernel, which has run once and was right.
            first: Its answer, see `first_answer`.

        Raises:
            CaughtError: It remembers, or is wrong.
            CancelledError: The engine gave up on it.
        """
        self._tell_at_work()
        if not self._problem.even:
            return {}
        if self._problem.runs_backward:
            self._change_one_row_of_gradients(launch)
            return _figures([self._on_streams(launch)])
        if told := self._wrong(first):
            raise found_wrong(f"In rows drawn at random: {told}")
        suspicions = [self._on_streams(launch)]
        ms, earlier = self._change_one_row(launch)
        suspicions.append(self._known_again(launch) if ms < SLOW_MS else "")
        suspicions.append(self._at_other_scales(launch))
        self._change_all(launch, earlier)
        self._at_other_addresses(launch)
        suspicions.append(self._at_other_sizes())
        return _figures(suspicions)

    def _on_streams(self, launch: PassLaunch) -> str:
        ms, _ = self._run(launch)
        return told_of_streams(launch, self._problem, self._around, self._means.bench, ms)

    def _at_other_scales(self, launch: PassLaunch) -> str:
        """What is wrong with answers to values of other sizes, as a clause; empty where nothing is."""
        if self._problem.block_mask is not None:
            return ""
        given = self._around.given
        for scale, draw in SCALES.items():
            draw(self._problem, given, self._rng)
            _, answer = self._run(launch)
            if told := what_is_wrong_in_rows(self._problem, given, answer, self._rng, ROWS_OF_SCALES):
                return f"with {scale} it is wrong: {told.rstrip('.')}"
        return ""

    def _at_other_addresses(self, launch: PassLaunch) -> None:
        device, bench, steps = self._means
        steps.check()
        told = told_of_other_addresses(self._spec, self._problem, device, bench, self._around)
        if not told:
            return
        for _ in range(AGAIN):
            if wrong_here := self._wrong(self._run(launch)[1]):
                raise found_wrong(f"In a later run, though the first ones were right: {wrong_here}")
        raise found_wrong(
            "With arrays of the same shapes at other addresses, it was wrong: it keeps the first ones, or "
            f"what it made of them. {told}"
        )

    def _at_other_sizes(self) -> str:
        device, bench = self._means.device, self._means.bench
        return told_of_other_sizes(self._spec, self._problem, device, bench, self._around.state)

    def _run(self, launch: PassLaunch) -> tuple[float, PassOutputs]:
        """One run: its ms, and a copy of its answer."""
        self._means.steps.check()
        ms = self._means.bench.time_ms(launch.run)
        return ms, taken(launch.answer())

    def _wrong(self, answer: PassOutputs) -> str:
        return what_is_wrong_in_rows(self._problem, self._around.given, answer, self._rng)

    def _change_one_row(self, launch: PassLaunch) -> tuple[float, PassOutputs]:
        """Twice back to back, the second time with one row changed; the ms and the answer of that."""
        _, earlier = self._run(launch)
        redraw_row(self._around.given, self._rng)
        ms, answer = self._run(launch)
        if told := self._wrong(answer):
            self._diagnose(launch, (ms, answer), earlier, told)
        return ms, answer

    def _change_one_row_of_gradients(self, launch: PassLaunch) -> None:
        """Twice back to back, the second time with one row of dO changed, which dV at least shows."""
        problem = self._problem
        if problem.block_mask is not None or min(problem.seqlen_q, problem.seqlen_k) <= FIRST_AND_LAST:
            return
        _, earlier = self._run(launch)
        redraw_row_of_gradients(self._around.given, self._rng)
        if not differ(self._run(launch)[1], earlier):
            raise found_wrong(
                "Its gradients did not change when one row of dO was changed in place: it remembers."
            )

    def _change_all(self, launch: PassLaunch, earlier: PassOutputs) -> None:
        """Everything changed, and all around looked at again after it has run many times."""
        redraw(self._around.given.inputs.qkv, self._rng)
        before = bytes_read(self._around.given)
        ms, answer = self._run(launch)
        self._around.look(before, launch.answer())
        if told := self._wrong(answer):
            self._diagnose(launch, (ms, answer), earlier, told)

    def _known_again(self, launch: PassLaunch) -> str:
        """Whether values that it has just had take less time: it was right, but remembers."""
        new: list[RunCost] = []
        known: list[RunCost] = []
        earlier: PassOutputs | None = None
        while len(new) < PAIRS and (len(new) < LEAST_PAIRS or sum(one.ms for one in new) < 1e3 * PAIRS_S):
            redraw_row(self._around.given, self._rng)
            for kept in (new, known):
                spent, answer = self._spent(launch)
                kept.append(spent)
                if kept is new and earlier is not None:
                    self._tell_unchanged(launch, answer, earlier, spent.ms)
                earlier = answer
        if not (
            _falls([one.ms for one in new], [one.ms for one in known]) and self._falls_in_work(new, known)
        ):
            return ""
        took, at_first = (median(one.ms for one in of) for of in (known, new))
        return (
            f"it took {took:.3g} ms with inputs it had just had and {at_first:.3g} ms with new ones: it "
            "remembers by content"
        )

    def _spent(self, launch: PassLaunch) -> tuple[RunCost, PassOutputs]:
        """What one run takes, and its answer."""
        before = self._around.state.clocks.process()
        ms, answer = self._run(launch)
        return RunCost(ms, (self._around.state.clocks.process() - before) / 1e6), answer

    def _tell_unchanged(
        self, launch: PassLaunch, answer: PassOutputs, earlier: PassOutputs, ms: float
    ) -> None:
        """Whether its answer stayed though a row changed; it may, where a mask hides that row."""
        if _same_rows(answer, earlier) == 1 and self._wrong(answer):
            raise found_wrong(self._why_unchanged(launch, answer, ms))

    def _falls_in_work(self, new: list[RunCost], known: list[RunCost]) -> bool:
        """Whether a CPU works less, too: other programs may take its time in the rhythm of the pairs."""
        on_cpu = self._means.device.backend == "cpu"
        return not on_cpu or _falls([one.cpu_ms for one in new], [one.cpu_ms for one in known])

    def _diagnose(
        self, launch: PassLaunch, timed: tuple[float, PassOutputs], earlier: PassOutputs, told: str
    ) -> None:
        """Say what kind of wrong an answer is, by more runs."""
        ms, answer = timed
        self._await_rest()
        if differ(answer, taken(launch.answer())):
            raise caught(LATE)
        if _same_rows(answer, earlier) == 1:
            raise found_wrong(self._why_unchanged(launch, answer, ms))
        self._tell_stale_rows(launch)
        for name, array in zip("KQV", _kqv(self._around.given), strict=True):
            _, earlier = self._run(launch)
            redraw((array,), self._rng)
            if _same_rows(self._run(launch)[1], earlier) == 1:
                raise found_wrong(
                    f"Its answer did not change when {name} was changed in place: it keeps what it made."
                )
        raise found_wrong(f"With inputs changed in place, though the first run was right: {told}")

    def _tell_stale_rows(self, launch: PassLaunch) -> None:
        """Whether some of the rows are those of the run before, though all inputs changed."""
        _, earlier = self._run(launch)
        given_out = launch.answer().output
        redraw(self._around.given.inputs.qkv, self._rng)
        _, answer = self._run(launch)
        share = _same_rows(answer, earlier)
        if share:
            again = overlap(given_out, launch.answer().output)
            memory = ", in memory that it had given out before" if again else ""
            raise found_wrong(
                f"{share:.0%} of the rows of O were those of an earlier run, though Q, K and V had "
                f"changed{memory}."
            )

    def _why_unchanged(self, launch: PassLaunch, stale: PassOutputs, ms: float) -> str:
        """It gave an earlier answer to inputs of which one row, or all, had changed."""
        threading.Event().wait(min(LONGEST_PAUSE_S, PAUSE * ms / 1e3))
        if _same_rows(self._run(launch)[1], stale) < 1:
            return (
                "Called again at once it gave its last answer, though K and V had changed; called after a "
                "pause it computed."
            )
        if _same_rows(self._from_a_bare_stack(launch), stale) < 1:
            return (
                "It gave its last answer, though K and V had changed, and computed when a bare stack called "
                "it: it looks at its callers."
            )
        redraw(self._around.given.inputs.qkv, self._rng)
        if _same_rows(self._run(launch)[1], stale) < 1:
            return (
                "Its answer did not change when one row of K and V was changed in place: it remembers by "
                "samples of its inputs."
            )
        return (
            "Its answer did not change when Q, K and V were changed in place: it remembers by address, or "
            "takes an answer from elsewhere."
        )

    def _from_a_bare_stack(self, launch: PassLaunch) -> PassOutputs:
        thread = threading.Thread(target=launch.run)
        thread.start()
        thread.join()
        return taken(launch.answer())


def _figures(suspicions: list[str]) -> dict[str, Figure]:
    """Clauses on what was seen, those that are empty left out, as a figure; none where none is left."""
    found = [one for one in suspicions if one]
    return {SUSPECTED: Figure(value=len(found), source="; ".join(found))} if found else {}


def _kqv(given: Given) -> tuple[object, object, object]:
    q, k, v = given.inputs.qkv
    return k, q, v


def _falls(new: list[float], known: list[float]) -> bool:
    return median(known) < SUSPICIOUS * min(new)


def _same_rows(one: PassOutputs, other: PassOutputs) -> float:
    """The share of the rows of O that are the same bit for bit."""
    return float((one.output.view(np.uint8) == other.output.view(np.uint8)).all(axis=-1).mean())
