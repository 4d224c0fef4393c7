"""What differs around two sessions' points, and which changes it may explain: above every verdict."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from statistics import mean
from typing import NamedTuple, TypeAlias

from flashscope.kernels.catalogue.sources import DIGITS, digest_keys
from flashscope.profiles.results.compare.facts import FACTS, OURS, Fact, uses
from flashscope.profiles.results.compare.model import Difference, Pair, Reach
from flashscope.profiles.results.model.parts import parts, views
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import Session

ORDER: dict[Reach, int] = {"every": 0, "kernels": 1, "none": 2}
CLOCK_DIFFERS = 0.01  # of the mean over all pairs, as a share; a clock steps by 15 MHz
UNKNOWN = "unknown"
COPY = Difference(
    "recording",
    "Same recording",
    "measured once",
    "a copy of it",
    "none",
    (),
    "Same recording: one session is a copy of the other, measured once; no change can be found.",
    ("measured once", "a copy of it"),
)
VERSIONS = "one version", "another version"


PartNumbers: TypeAlias = tuple[int, int]


class Meeting(NamedTuple):
    """Points of one part of the baseline beside points of one part of the other session.

    Attributes:
        numbers: Those of the parts.
        base: The baseline as its part tells it.
        other: The other session as its part tells it.
        kernels: Of the pairs that are in these parts, and the keys of the digests of what each ran.
    """

    numbers: PartNumbers
    base: Session
    other: Session
    kernels: Mapping[str, tuple[str, ...]]


def differences(base: Session, other: Session, pairs: Sequence[Pair]) -> tuple[Difference, ...]:
    """Everything that differs, what may explain every change first; each point in the part that measured it.

    Before all else that one is a copy of the other.
    Of sessions on two backends only that is told which says so: their drivers and packages compare nothing.
    """
    meetings = _meetings(base, other, pairs)
    told = FACTS[:2] if base.backend != other.backend else FACTS
    found = [one for fact in told if (one := _difference(fact, meetings))]
    if base.backend == other.backend:
        found += filter(None, (_clocks(pairs), _sources(meetings)))
    found += filter(None, [_courses(base, other)])
    return (*_same_recording(base, other, pairs), *sorted(found, key=lambda one: ORDER[one.reach]))


def _same_recording(base: Session, other: Session, pairs: Sequence[Pair]) -> tuple[Difference, ...]:
    """That one is a copy of the other: then no figure was measured twice."""
    same = [pair.base.measurement == pair.other.measurement for pair in pairs]
    return (COPY,) if base.id == other.id and same and all(same) else ()


def _meetings(base: Session, other: Session, pairs: Sequence[Pair]) -> list[Meeting]:
    """Which parts meet in the pairs; without pairs, each does each."""
    ours, theirs = views(base), views(other)
    kernels: dict[PartNumbers, dict[str, tuple[str, ...]]] = {}
    for pair in pairs:
        of_parts = kernels.setdefault((pair.base.part or 1, pair.other.part or 1), {})
        keys = digest_keys(pair.kernel, pair.base.problem.passes)
        of_parts[pair.kernel] = tuple(dict.fromkeys((*of_parts.get(pair.kernel, ()), *keys)))
    met = kernels or {parts: {} for parts in product(ours, theirs)}
    return [Meeting(both, ours[both[0]], theirs[both[1]], named) for both, named in met.items()]


def _difference(fact: Fact, meetings: Sequence[Meeting]) -> Difference | None:
    known = {m.numbers: (fact.of(m.base) or fact.absent, fact.of(m.other) or fact.absent) for m in meetings}
    apart = {both for both, (here, there) in known.items() if here != there and here and there}
    differing = [meeting for meeting in meetings if meeting.numbers in apart]
    if not differing or _of_other_kinds(fact, differing):
        return None
    reach, explained = _reach(fact, meetings[0].other.backend, _kernels(differing))
    partly = len(differing) < len(meetings)
    values = _values(known, 0), _values(known, 1)
    names = _kinds(fact, meetings) if len(set(known.values())) == 1 else None
    return _told((fact.key, fact.title), values, reach, explained, partly=partly, names=names)


def _of_other_kinds(fact: Fact, meetings: Sequence[Meeting]) -> bool:
    """Whether it differs only because the two are of different kinds, which is told for itself."""
    kind = fact.of_kind
    return kind is not None and all(kind(one.base) != kind(one.other) for one in meetings)


def _kinds(fact: Fact, meetings: Sequence[Meeting]) -> tuple[str, str] | None:
    """One of a kind and another one, in the place of marks that say nothing to people."""
    kind = None if fact.of_kind is None else fact.of_kind(meetings[0].base)
    return None if kind is None else (f"one {kind}", f"another {kind}")


def _kernels(meetings: Iterable[Meeting]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(kernel for meeting in meetings for kernel in meeting.kernels))


def _values(known: Mapping[PartNumbers, tuple[str, str]], side: int) -> str:
    """What one side's parts say; the parts are named where they say different things."""
    of_value: dict[str, set[int]] = {}
    for numbers, values in known.items():
        of_value.setdefault(values[side] or UNKNOWN, set()).add(numbers[side])
    if len(of_value) == 1:
        return next(iter(of_value))
    return ", ".join(f"{value} in {_numbered(parts)}" for value, parts in of_value.items())


def _numbered(parts: set[int]) -> str:
    return f"part{'s' * (len(parts) > 1)} {' and '.join(map(str, sorted(parts)))}"


def _courses(base: Session, other: Session) -> Difference | None:
    """Whether they were measured in one go, and what differs between the parts of one that was not."""
    here, there = map(_course, (base, other))
    changed = any(part.warnings for session in (base, other) for part in parts(session))
    if here == there and not changed:
        return None
    return _told(("parts", "Course of the sweep"), (here, there), "every" if changed else "none")


def _course(session: Session) -> str:
    _first, *later = parts(session)
    changed = [f"part {one.number}: {'; '.join(one.changes)}" for one in later if one.changes]
    return ", ".join([f"in {1 + len(later)} parts", *changed]) if later else "in one go"


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


def _sources(meetings: Sequence[Meeting]) -> Difference | None:
    """The kernels of ours whose source is another one; where one session does not tell, those that may be."""
    apart = [(one, kernel) for one in meetings for kernel in _ours(one) if _other_source(one, kernel)]
    if not apart:
        return None
    changed = tuple(dict.fromkeys(kernel for _meeting, kernel in apart))
    known = {
        one.numbers: (_digests(one, one.base, changed), _digests(one, one.other, changed)) for one in meetings
    }
    values = _values(known, 0), _values(known, 1)
    partly = len({meeting.numbers for meeting, _kernel in apart}) < len(meetings)
    names = VERSIONS if len(set(known.values())) == 1 and UNKNOWN not in values else None
    return _told(("sources", "Kernel source"), values, "kernels", changed, partly=partly, names=names)


def _other_source(meeting: Meeting, kernel: str) -> bool:
    """Whether the source of a pass that the kernel ran is another one."""
    base, other = _known(meeting.base), _known(meeting.other)
    return any(base.get(key) != other.get(key) for key in meeting.kernels[kernel])


def _known(session: Session) -> dict[str, str]:
    """The digests of sources, those of the user's own kernels among them."""
    files = {key: one.sha256[:DIGITS] for one in session.plan.own for key in digest_keys(one.name, "both")}
    return session.machine.sources.get(session.backend, {}) | files


def _ours(meeting: Meeting) -> list[str]:
    """The kernels whose sources are known: ours, and the user's own."""
    own = {one.name for one in (*meeting.base.plan.own, *meeting.other.plan.own)}
    return [
        kernel for kernel in meeting.kernels if kernel in own or uses(kernel, meeting.base.backend) & {*OURS}
    ]


def _digests(meeting: Meeting, session: Session, kernels: tuple[str, ...]) -> str:
    """The digests of what these kernels ran, those there are, each once."""
    known, keys = _known(session), (key for one in kernels for key in meeting.kernels.get(one, ()))
    return ", ".join(dict.fromkeys(known[key] for key in keys if key in known)) or UNKNOWN


def _told(
    named: tuple[str, str],
    values: tuple[str, str],
    reach: Reach,
    kernels: tuple[str, ...] = (),
    *,
    partly: bool = False,
    names: tuple[str, str] | None = None,
) -> Difference:
    """A difference by its key and title, its value in the baseline and in the other session.

    `partly` is whether there are parts in which it does not differ; `names` is what people read in the place
    of the values.
    """
    here, there = names or values
    explained = {
        "every": "may explain a change of any point",
        "kernels": f"may explain a change of {', '.join(kernels)}",
        "none": "explains no change",
    }[reach]
    where = " in the parts where it differs" if partly and reach != "none" else ""
    sentence = f"{named[1]}: {here} in the baseline, {there} here; it {explained}{where}."
    return Difference(*named, *values, reach, kernels, sentence, (here, there))
