"""A comparison in one sentence, by stated rules.

1. For each way there is to change, the kernel with most such points is named with the geometric mean of its
   changes and where they are, if it has at least two such points and half of all of them. The others are
   counted: "3 of 60 points slower".
   Where no kernel is named, several have the range of their changes behind them.
2. Where: nothing if all its points changed; else head dim and mask if all points of these changed, and from,
   to or at which length if that is the same on all curves concerned; else how many of its points.
3. Then points changed by the clock alone, broken and mended; if there is nothing at all to tell so far, that
   nothing changed. Then how many points one of the two has alone.
4. Last, what differs around the points and may explain a change, three at most by name.

"Of 60 points": of all that both sessions have, as many as the table of pairs has lines.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.seqlens import short_seqlen
from flashscope.profiles.results.compare.evidence import TIMED
from flashscope.profiles.results.compare.model import Difference, Lone, Pair, PairVerdict
from flashscope.profiles.results.compare.wording import change_text
from flashscope.profiles.results.model.curves import Curve, curve_by_problem
from flashscope.profiles.results.quantities.quantity import Quantity

CHANGES: tuple[PairVerdict, ...] = ("faster", "slower", "more", "less")
LEAST_NAMED = 2
MOST_TITLES = 3
INSIDE = {
    "turns": "whether kernels took turns",
    "nvrtc": "NVRTC",
    "flashscope": "Flashscope",
    "python": "Python",
}
"""What a sentence says of a circumstance where that is not its title with a small letter, by key."""
PLURAL = frozenset({"multiprocessors", "warm-up", "blas-threads"})


def pairs_summary(
    quantity: Quantity,
    pairs: Sequence[Pair],
    lone: tuple[Sequence[Lone], Sequence[Lone]],
    differing: Sequence[Difference],
) -> str:
    """One sentence on all the pairs of two sessions; `lone`: what either has alone, the baseline first."""
    parts = [*_changes(pairs), *_states(pairs)] or [_unchanged(pairs)]
    parts += _alone(*map(len, lone))
    parts += [] if pairs else [_nearest(lone[0])]
    sentence = "; ".join([*parts, *_differ([one for one in differing if one.reach != "none"])])
    return sentence if quantity.kind in TIMED else f"{quantity.title}: {sentence}"


def _changes(pairs: Sequence[Pair]) -> Iterator[str]:
    for word in CHANGES:
        changed = [pair for pair in pairs if pair.verdict == word]
        named = _named(changed)
        if named:
            mean = _mean(named, word)
            label = " (geometric mean)" if mean else ""
            yield f"{named[0].kernel} {mean}{word}{label}{_where(named, pairs)}"
        left = len(changed) - len(named)
        if left:
            range_ = "" if named or left < LEAST_NAMED else _range(changed, word)
            yield f"{left} {'more ' if named else ''}of {len(pairs)} points {word}{range_}"


def _named(changed: Sequence[Pair]) -> list[Pair]:
    """The changes of the kernel that has most of them, if it is worth a name."""
    of_kernel: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in changed:
        of_kernel[pair.kernel].append(pair)
    most = max(of_kernel.values(), key=len, default=[])
    return most if len(most) >= LEAST_NAMED and 2 * len(most) >= len(changed) else []


def _mean(pairs: Sequence[Pair], word: PairVerdict) -> str:
    """The geometric mean of their changes and a space; nothing where one of them is from or to 0."""
    known = [1 + pair.change for pair in pairs if pair.change is not None]
    if len(known) < len(pairs):
        return ""
    return f"{change_text(prod(one ** (1 / len(known)) for one in known) - 1, word)} "


def _range(pairs: Sequence[Pair], word: PairVerdict) -> str:
    """From the least to the largest of their changes, after a comma; nothing where one is from or to 0."""
    known = [pair.change for pair in pairs if pair.change is not None]
    if len(known) < len(pairs):
        return ""
    least, largest = (change_text(find(known), word) for find in (min, max))
    if largest.endswith("×"):
        least = f"{1 + min(known):.3g}×"
    return ", " + " to ".join(dict.fromkeys((least, largest)))


def _where(named: Sequence[Pair], pairs: Sequence[Pair]) -> str:
    """At which of a kernel's points its change is, as the end of a clause."""
    alike = [pair for pair in pairs if pair.kernel == named[0].kernel and pair.verdict is not None]
    if len(named) == len(alike):
        return ""
    of_problem = curve_by_problem([pair.base for pair in alike])
    curves = _lengths(alike, of_problem)
    hit = _lengths(named, of_problem)
    spans = {_span(hit[curve], curves[curve]) for curve in hit}
    place = _place(set(hit), set(curves))
    if len(spans) > 1 or None in spans or place is None:
        return f" at {len(named)} of its {len(alike)} points"
    return f"{place}{spans.pop()}"


def _lengths(pairs: Iterable[Pair], curves: Mapping[Problem, Curve]) -> dict[Curve, list[int]]:
    found: defaultdict[Curve, list[int]] = defaultdict(list)
    for pair in pairs:
        found[curves[pair.base.problem]].append(pair.base.seqlen)
    return found


def _span(hit: list[int], lengths: list[int]) -> str | None:
    """Which of a curve's lengths are hit, in words; None: neither all, nor an end, nor a single one."""
    ordered, told = sorted(lengths), sorted(hit)
    if told == ordered:
        return ""
    if len(told) == 1:
        return f" at {short_seqlen(told[0])}"
    if told == ordered[-len(told) :]:
        return f" from {short_seqlen(told[0])} on"
    return f" up to {short_seqlen(told[-1])}" if told == ordered[: len(told)] else None


def _place(hit: set[Curve], curves: set[Curve]) -> str | None:
    """What the curves hit share and no other curve has, in words; None: nothing."""
    if hit == curves:
        return ""
    first = next(iter(hit))
    for fields in (("head_dim",), ("mask",), ("head_dim", "mask")):
        shared = {one for one in curves if all(getattr(one, f) == getattr(first, f) for f in fields)}
        if shared == hit:
            words = {"head_dim": f"d = {first.head_dim}", "mask": first.mask}
            return " at " + ", ".join(words[field] for field in fields)
    return None


def _states(pairs: Sequence[Pair]) -> Iterator[str]:
    counts = (
        (sum(pair.by_clock for pair in pairs), "changed by the clock alone"),
        (sum(pair.broke for pair in pairs), "no longer done"),
        (sum(pair.better is True and not pair.base.done for pair in pairs), "mended"),
    )
    yield from (f"{_points(count)} {words}" for count, words in counts if count)


def _alone(base_only: int, other_only: int) -> list[str]:
    """How many points have no partner, by who has them."""
    told = ((base_only, "in the baseline only"), (other_only, "here only"))
    counted = [(count, where) for count, where in told if count]
    if not counted:
        return []
    (count, where), *others = counted
    return [", ".join([f"{_points(count)} {where}", *(f"{one} {there}" for one, there in others)])]


def _points(count: int) -> str:
    return f"{count} point{'s' * (count > 1)}"


def _nearest(base_only: Sequence[Lone]) -> str:
    """What comes nearest to a partner where no point has one."""
    known = [lone for lone in base_only if lone.nearest is not None]
    if not known:
        return "no kernel in common"
    best = min(known, key=lambda lone: lone.reason.count(","))
    return f"the nearest here, {best.row.kernel}, has {best.reason}"


def _unchanged(pairs: Sequence[Pair]) -> str:
    judged = [pair.verdict for pair in pairs if pair.verdict is not None]
    if not judged:
        return "no point to compare"
    alike = sum(verdict in {"same", "equal"} for verdict in judged)
    if not alike:
        return f"nothing sure of {_points(len(pairs))}"
    others = (len(judged) - alike, "inconclusive"), (len(pairs) - len(judged), "not compared")
    told = [f"no change found: {alike} of {len(pairs)} points the same"]
    return ", ".join([*told, *(f"{count} {words}" for count, words in others if count)])


def _differ(differing: Sequence[Difference]) -> list[str]:
    """That these differ, in the middle of a sentence."""
    if not differing:
        return []
    named = differing if len(differing) <= MOST_TITLES else differing[: MOST_TITLES - 1]
    told, left = [*map(_inside, named)], len(differing) - len(named)
    told += [f"{left} more circumstances that may explain it"] if left else []
    *first, last = told
    if first:
        return [f"{', '.join(first)} and {last} differ"]
    return [f"{last} differ{'s' * (differing[0].key not in PLURAL)}"]


def _inside(one: Difference) -> str:
    """Its title as it stands inside a sentence; what has capitals beyond its first letter keeps them."""
    first, *others = one.title.split()
    small = " ".join([first.lower() if first[1:].islower() else first, *others])
    return INSIDE.get(one.key, small)
