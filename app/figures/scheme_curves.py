"""Curves over N of schemes of attention on several ranks, from results; no Qt."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from flashscope.kernels.context_parallel.schemes import SCHEMES, Scheme
from flashscope.profiles.results.model.ranks import ModelledPass, RanksPass, efficiency_of, held_of

CurvePoints = tuple[tuple[int, float], ...]


class SchemeCurve(NamedTuple):
    """A scheme's values at each N, rising.

    Attributes:
        scheme: Which.
        points: What was measured.
        bound: What a formula says there.
        model: What a model says of it from the rates on fewer GPUs, where these were measured.
    """

    scheme: Scheme
    points: CurvePoints
    bound: CurvePoints
    model: CurvePoints = ()


def efficiency_curves(passes: Sequence[RanksPass], beside: Sequence[ModelledPass] = ()) -> list[SchemeCurve]:
    """Efficiency, the limit that the mask sets, and the model of it of the passes that have one."""
    found = _curves(passes, lambda one: efficiency_of(one.measured), lambda one: one.measured.limit)
    said: dict[Scheme, dict[int, float]] = {}
    for one in beside:
        asked = one.told.asked
        said.setdefault(asked.scheme, {})[asked.problem.seqlen] = one.found.efficiency
    return [one._replace(model=tuple(sorted(said.get(one.scheme, {}).items()))) for one in found]


def memory_curves(passes: Sequence[RanksPass]) -> list[SchemeCurve]:
    """Memory of the rank that takes most, and its share of what the pass reads and writes."""
    return _curves(passes, lambda one: float(held_of(one.measured)), share_bytes)


def share_bytes(one: RanksPass) -> float:
    """An nth of the tensors that a pass reads and writes: what a rank takes at least."""
    problem = replace(one.asked.problem, passes=one.measured.passes, deterministic=False)
    return (problem.input_bytes + problem.output_bytes) / len(one.measured.ranks)


def _curves(
    passes: Sequence[RanksPass],
    value: Callable[[RanksPass], float | None],
    bound: Callable[[RanksPass], float],
) -> list[SchemeCurve]:
    """Of each scheme; a formula where some scheme has a value, or everywhere where none has one anywhere."""
    measured = {one.asked.problem.seqlen for one in passes if value(one) is not None}
    found = []
    for scheme in SCHEMES:
        of_it = {one.asked.problem.seqlen: one for one in passes if one.asked.scheme == scheme}  # the newest
        known = ((n, value(of_it[n])) for n in sorted(of_it))
        points = tuple((n, one) for n, one in known if one is not None)
        said = tuple((n, bound(of_it[n])) for n in sorted(of_it) if n in measured or not measured)
        if said:
            found.append(SchemeCurve(scheme, points, said))
    return found
