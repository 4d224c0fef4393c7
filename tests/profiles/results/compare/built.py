"""Sessions to compare: each point by its rounds, or by what became of it."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from msgspec.structs import replace

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.results.compare import Contrast, Pair, compare
from flashscope.profiles.results.model.session import PointState, Session
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import RUNTIME
from flashscope.profiles.wire.measurement import Figure, Sample
from tests.profiles.sessions import MACHINE, TELEMETRY
from tests.profiles.store import builders

Cell = tuple[str, int]
CLOCK = 1980.0


def problem(seqlen: int, **others: Any) -> Problem:
    return Problem(seqlen_q=seqlen, seqlen_k=seqlen, dtype="float16", **others)


def session(
    points: Mapping[Cell, Sequence[float] | str],
    *,
    clock: float | None = CLOCK,
    again: Mapping[Cell, Sequence[float]] | None = None,
    protocol: Protocol | None = None,
    machine: Mapping[str, Any] | None = None,
    power_limit: float = 700.0,
    **shape: Any,
) -> Session:
    """A session on a GPU of every kernel at every length named.

    Args:
        points: Rounds in ms by kernel and N, or the status of a point that is not done.
        clock: Of every round, MHz.
        again: Rounds of the drift check, of the first length.
        protocol: How it was measured.
        machine: Fields of the machine that are other than usual.
        power_limit: Of the card, W.
        shape: Fields of every problem.
    """
    kernels = tuple(dict.fromkeys(kernel for kernel, _ in points))
    lengths = tuple(dict.fromkeys(seqlen for _, seqlen in points))
    plan = Plan(
        backend="cuda",
        kernels=kernels,
        problems=tuple(problem(seqlen, **shape) for seqlen in lengths),
        protocol=replace(protocol or Protocol(), drift_check=again is not None),
    )
    states = [PointState(point, 1) for point in plan.points()]
    for place, state in enumerate(states):
        cell = state.point.kernel, state.point.problem.seqlen_q
        told = (again or {}).get(cell, "pending") if place >= plan.cells else points.get(cell, "pending")
        _fill(state, told, clock)
    made = replace(MACHINE, **(machine or {}))
    telemetry = replace(TELEMETRY, power_limit_w=power_limit)
    return Session(uuid4().hex, plan, made, "2026-01-02T03:04:05+00:00", 0, states, telemetry)


def _fill(state: PointState, told: Sequence[float] | str, clock: float | None) -> None:
    if isinstance(told, str):
        state.status = told  # type: ignore[assignment] # a test names one there is
        return
    state.status = "done"
    samples = tuple(Sample(ms, None, number, None, clock) for number, ms in enumerate(told))
    state.measurement = replace(builders.measurement(samples), timer="CUDA events")


def contrast(base: Session, other: Session, quantity: Quantity = RUNTIME) -> Contrast:
    (found,) = compare(base, [other], quantity).contrasts
    return found


def pair(base: Session, other: Session, quantity: Quantity = RUNTIME) -> Pair:
    """The only pair of two sessions."""
    (found,) = contrast(base, other, quantity).pairs
    return found


def rounds(ms: float, spread: float = 0.001, count: int = 10) -> list[float]:
    """Rounds around a time, none like another."""
    return [ms * (1 + spread * (2 * number / (count - 1) - 1)) for number in range(count)]


def shuffled() -> Session:
    """Three kernels, each measured alone in an order that is not the plan's."""
    cells = ((kernel, n) for kernel in ("flash1", "flash2", "flash3") for n in (512, 1024))
    return session({cell: rounds(1.0) for cell in cells}, protocol=Protocol(interleave=False, shuffle=True))


def joined(*parts: Session) -> Session:
    """Sessions of one plan's kernels as one session of all their problems."""
    first = parts[0]
    problems = tuple(problem for part in parts for problem in part.plan.problems)
    plan = replace(first.plan, problems=problems)
    states = [state for part in parts for state in part.points]
    for state, point in zip(states, plan.points(), strict=True):
        state.point = point
    return Session(first.id, plan, first.machine, first.started_at, 0, states, first.telemetry)


def with_workspace(made: Session, held: float) -> Session:
    """The session with points whose kernels hold so many bytes of workspace."""
    for state in made.points:
        assert state.measurement is not None
        figures = {**state.measurement.figures, "workspace_bytes": Figure(value=held, source="counted")}
        state.measurement = replace(state.measurement, figures=figures)
    return made
