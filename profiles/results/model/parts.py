"""The parts of a session that was broken off and went on: who measured each, and how far they differ."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.problem_words import place_words
from flashscope.profiles.results.model.drift import Drift, drift_between
from flashscope.profiles.results.model.session import PointState, Session
from flashscope.profiles.wire.events import Attempt, Outcome, PointStatus

FAULTS: frozenset[PointStatus] = frozenset(("failed", "timeout"))


class SessionPart(NamedTuple):
    """One part.

    Attributes:
        number: From 1.
        started_at: Wall clock of its start, ISO 8601 with offset.
        machine: Who measured.
        outcome: How it ended; None: it runs, or whoever measured was killed.
        points: How many points of the plan it measured, also without success; drift checks are none.
        differences: What is otherwise than in the first part, each as a clause.
        drifts: What it measured once more at its begin, beside the first time.
        again: What had been started before it and was measured anew in it, as it stood.
    """

    number: int
    started_at: str
    machine: Machine
    outcome: Outcome | None
    points: int
    differences: tuple[str, ...] = ()
    drifts: tuple[Drift, ...] = ()
    again: tuple[Attempt, ...] = ()

    @property
    def version(self) -> str:
        """Which Flashscope measured; empty where that is not known."""
        return self.machine.packages.get("flashscope", "")

    @property
    def changes(self) -> tuple[str, ...]:
        """What is otherwise than in the parts before it, each as a clause."""
        beyond = any(one.beyond_noise for one in self.drifts)
        return (*self.differences, *(("repeats differ by more than the noise",) if beyond else ()))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why its figures may not compare with those of the first part, each as a sentence."""
        told = []
        if self.differences:
            differs = "; ".join(self.differences)
            told.append(f"Part {self.number} was measured otherwise than part 1: {differs}.")
        if beyond := [one for one in self.drifts if one.beyond_noise]:
            told.append(
                f"Part {self.number} differs from the parts before it by more than the noise: "
                f"{_ratios(beyond)}. Do not compare its times with theirs."
            )
        return tuple(told)


def parts(session: Session) -> list[SessionPart]:
    """Every part, in order; of a session that ran in one go, that one."""
    outcomes = [*(one.outcome for one in session.resumed), session.outcome]
    first = SessionPart(1, session.started_at, session.machine, outcomes[0], _measured(session, 1))
    later = [
        SessionPart(
            number=one.part,
            started_at=one.started_at,
            machine=one.machine,
            outcome=outcome,
            points=_measured(session, one.part),
            differences=tuple(machine_differences(session.machine, one.machine, session.backend)),
            drifts=drifts,
            again=tuple(session.measured_anew(one)),
        )
        for one, outcome, drifts in zip(session.resumed, outcomes[1:], _repeated(session), strict=True)
    ]
    return [first, *later]


def warnings(session: Session) -> list[str]:
    """What stands above the figures of a session of several parts, each as a sentence."""
    return [text for part in parts(session)[1:] for text in part.warnings]


def views(session: Session) -> dict[int, Session]:
    """The session as each of its parts tells it, by number: who measured, what watched, which points.

    What watched an earlier part is known only where that part began with it.
    """
    if not session.resumed:
        return {1: session}
    machines = [session.machine, *(part.machine for part in session.resumed)]
    watched = [None, *(part.telemetry for part in session.resumed[:-1]), session.telemetry]
    return {
        number: replace(session, machine=machine, telemetry=telemetry, points=_points(session, number))
        for number, (machine, telemetry) in enumerate(zip(machines, watched, strict=True), 1)
    }


def _points(session: Session, number: int) -> list[PointState]:
    return [state for state in session.points if state.part == number]


def part_text(part: SessionPart) -> str:
    """A part in one sentence."""
    where = ", ".join(filter(None, (part.machine.system, part.version and f"Flashscope {part.version}")))
    points = f"{part.points} point{'s' * (part.points != 1)}"
    told = f"Part {part.number}: {points} from {part.started_at} on {where}; {part.outcome or 'interrupted'}"
    return f"{told}; at its begin {_ratios(part.drifts)}" if part.drifts else told


def failed_before(session: Session, part: SessionPart) -> list[str]:
    """How points had failed that the part measured anew, each as a sentence."""
    failed = [(one, session.points[one.index].point) for one in part.again if one.status in FAULTS]
    return [
        f"{point.kernel} at {place_words(point.problem)}, measured anew; {one.status} before: {one.reason}"
        for one, point in failed
    ]


def _ratios(drifts: Sequence[Drift]) -> str:
    each = ", ".join(f"{drift.kernel} {drift.ratio:.3f}×" for drift in drifts)
    return f"N = {drifts[0].seqlen} took, of its first time: {each}"


def machine_differences(first: Machine, other: Machine, backend: Backend) -> Iterator[str]:
    """What differs between the machines of two parts, as clauses; what one of them does not tell does not."""
    then, now = dict(_identity(first, backend)), dict(_identity(other, backend))
    for title in (title for title in then if title in now):
        before, after = then[title], now[title]
        if before != after and before is not None and after is not None:
            yield f"{title} {after}, not {before}"
    known = first.sources.get(backend, {}), other.sources.get(backend, {})
    if changed := sorted(name for name in known[0].keys() & known[1] if known[0][name] != known[1][name]):
        yield f"other sources of {', '.join(changed)}"


def _identity(machine: Machine, backend: Backend) -> Iterator[tuple[str, str | None]]:
    device = machine.device(backend)
    if device is not None:
        yield "device", device.name
        yield "card", device.uuid
        yield "multiprocessors", str(device.multiprocessors)
    yield "system", machine.system
    if backend == "cuda":
        yield "driver", machine.driver
        yield "CUDA", machine.cuda
    yield "BLAS threads", None if machine.blas_threads is None else str(machine.blas_threads)
    yield "Python", machine.python
    yield from machine.packages.items()


def _measured(session: Session, number: int) -> int:
    return sum(state.part == number and state.ended for state in session.cells)


def _repeated(session: Session) -> Iterator[tuple[Drift, ...]]:
    """What each later part repeated, beside the first time."""
    at = len(session.planned)
    for part in session.resumed:
        pairs = zip(part.repeats, session.points[at : at + len(part.repeats)], strict=True)
        found = (drift_between(session.points[index], repeat) for index, repeat in pairs)
        yield tuple(drift for drift in found if drift is not None)
        at += len(part.repeats)
