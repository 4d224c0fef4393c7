"""What differs around two sessions' points, and which changes it may explain: above every verdict."""

from collections.abc import Iterable, Sequence
from statistics import mean

from profiles.results.compare.facts import FACTS, OURS, Fact, uses
from profiles.results.compare.model import Difference, Pair, Reach
from profiles.results.rows import PointRow
from profiles.results.session import Session

ORDER: dict[Reach, int] = {"every": 0, "kernels": 1, "none": 2}
CLOCK_DIFFERS = 0.01  # of the mean over all pairs, as a share; a clock steps by 15 MHz
UNKNOWN = "unknown"


def differences(base: Session, other: Session, pairs: Sequence[Pair]) -> tuple[Difference, ...]:
    """Everything that differs, what may explain every change first.

    Of sessions on two backends only that is told which says so: their drivers and packages compare nothing.
    """
    kernels = tuple(dict.fromkeys(pair.kernel for pair in pairs))
    told = FACTS[:2] if base.backend != other.backend else FACTS
    found = [one for fact in told if (one := _difference(fact, base, other, kernels))]
    if base.backend == other.backend:
        found += filter(None, (_clocks(pairs), _sources(base, other, kernels)))
    return tuple(sorted(found, key=lambda one: ORDER[one.reach]))


def _difference(fact: Fact, base: Session, other: Session, kernels: tuple[str, ...]) -> Difference | None:
    here, there = (fact.of(session) or fact.absent for session in (base, other))
    if here == there or not (here and there):
        return None
    reach, explained = _reach(fact, other.backend, kernels)
    return _told((fact.key, fact.title), (here, there), reach, explained)


def _reach(fact: Fact, backend: str, kernels: tuple[str, ...]) -> tuple[Reach, tuple[str, ...]]:
    """Which changes a fact may explain on a backend."""
    match fact.explains:
        case tuple() as needed:
            explained = tuple(kernel for kernel in kernels if uses(kernel, backend) & {*needed})
            return ("kernels", explained) if explained else ("none", ())
        case "gpu" | "cpu" as needed:
            return ("every" if (backend == "cuda") == (needed == "gpu") else "none"), ()
        case reach:
            return reach, ()


def _clocks(pairs: Sequence[Pair]) -> Difference | None:
    """The clocks of the multiprocessors while both sampled the same points."""
    done = [(pair.base, pair.other) for pair in pairs if pair.base.done and pair.other.done]
    base, other = (
        (_mean_clock(row for row in side) for side in zip(*done, strict=True)) if done else (None, None)
    )
    if base == other or (base and other and abs(other / base - 1) < CLOCK_DIFFERS):
        return None
    return _told(("sm-clock", "SM clock while sampling"), (_clock_text(base), _clock_text(other)), "every")


def _mean_clock(rows: Iterable[PointRow]) -> float | None:
    """The mean over points in MHz, None where it was not read of each."""
    clocks = [row.clocks.median if row.clocks else None for row in rows]
    known = [clock for clock in clocks if clock is not None]
    return mean(known) if known and len(known) == len(clocks) else None


def _clock_text(clock: float | None) -> str:
    return UNKNOWN if clock is None else f"{clock / 1e3:.2f} GHz"


def _sources(base: Session, other: Session, kernels: tuple[str, ...]) -> Difference | None:
    """The kernels of ours whose source is another one; where one session does not tell, those that may be."""
    here, there = (session.machine.sources.get(base.backend, {}) for session in (base, other))
    ours = [kernel for kernel in kernels if uses(kernel, base.backend) & {*OURS}]
    changed = tuple(kernel for kernel in ours if here.get(kernel) != there.get(kernel))
    if not changed:
        return None
    values = _digests(here, changed), _digests(there, changed)
    return _told(("sources", "Kernel source"), values, "kernels", changed)


def _digests(known: dict[str, str], kernels: tuple[str, ...]) -> str:
    """The digests of these kernels, those there are, each once."""
    return ", ".join(dict.fromkeys(known[one] for one in kernels if one in known)) or UNKNOWN


def _told(
    named: tuple[str, str], values: tuple[str, str], reach: Reach, kernels: tuple[str, ...] = ()
) -> Difference:
    """A difference by its key and title, its value in the baseline and in the other session."""
    explained = {
        "every": "may explain a change of any point",
        "kernels": f"may explain a change of {', '.join(kernels)}",
        "none": "explains no change",
    }[reach]
    sentence = f"{named[1]}: {values[0]} in the baseline, {values[1]} here; it {explained}."
    return Difference(*named, *values, reach, kernels, sentence)
