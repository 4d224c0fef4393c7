"""How the points of a plan are shared among devices: a problem at a time, to whichever is free."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.remaining import Remaining


@dataclass(frozen=True)
class DeviceShare:
    """Points that one device measures in one go.

    Attributes:
        points: Indices of points of the plan, all of one problem.
        again: What is measured once more at the begin of a part: the index to be given, and the point's.
        checks: Whether this is the drift check, which is for the device that measured what it repeats.
    """

    points: frozenset[int] = frozenset()
    again: tuple[tuple[int, int], ...] = ()
    checks: bool = False

    @property
    def indices(self) -> frozenset[int]:
        """Of all of its points in the session."""
        return self.points | {index for index, _ in self.again}

    def remaining(self, session_id: str, t_ns: int, *, ceilings: bool) -> Remaining:
        """What an engine is told to measure, from this moment of the session's clock on."""
        return Remaining(
            session_id=session_id,
            part=2,
            left=self.points,
            again=(),
            repeats=tuple(index for _, index in self.again),
            first=self.again[0][0] if self.again else 0,
            t_ns=t_ns,
            outcome=None,
            ceilings=ceilings,
        )


@dataclass
class Sharing:
    """Which points wait, and who is to measure them; knows of no engine.

    Every point is in one share, and a share is with one device or waits. Several devices begin with what
    takes longest, so that none is left with that at the end; an order that was drawn is kept. What a lost
    device has not ended waits again, before all else.

    Args:
        plan: What is measured.
        remaining: What is left of it, None: all.
        devices: The numbers of the devices that measure.
    """

    plan: Plan
    remaining: Remaining | None
    devices: Collection[int]
    _first: int | None = field(default=None, init=False)  # the device that measured the first problem

    def __post_init__(self) -> None:
        self._alive = set(self.devices)
        self._first_cells = frozenset(point.index for point in self.plan.groups()[0])
        self._waiting = list(_shares(self.plan, self.remaining))
        if len(self._alive) > 1 and not self.plan.protocol.shuffle:
            self._longest_first()

    @property
    def waits(self) -> bool:
        """Whether any share waits for a device."""
        return bool(self._waiting)

    def take(self, device: int) -> DeviceShare | None:
        """The next share for a device that is free, its from now on; None: there is none for it."""
        found = next((share for share in self._waiting if self._may(device, share)), None)
        if found is not None:
            self._waiting.remove(found)
            if found.points & self._first_cells:
                self._first = device
        return found

    def lost(self, device: int, share: DeviceShare | None, ended: Collection[int]) -> None:
        """A device measures no more; what has not ended of its share waits for another."""
        self._alive.discard(device)
        if share is None:
            return
        points = share.points.difference(ended)
        back = [DeviceShare(points, checks=share.checks)] if points else []
        back += [DeviceShare(again=(one,)) for one in share.again if one[0] not in ended]
        self._waiting[:0] = back

    def _longest_first(self) -> None:
        """Sort: what is repeated, what the drift check repeats, the longest problem and so on, the check."""
        problems = {point.index: point.problem for point in self.plan.points()}
        begins = self._first_cells if self.plan.protocol.drift_check else frozenset[int]()

        def rank(share: DeviceShare) -> tuple[bool, bool, int]:
            first = bool(share.again) or bool(share.points & begins)
            work = sum(problems[index].flops for index in share.points)
            return share.checks, not first, -work

        self._waiting.sort(key=rank)

    def _may(self, device: int, share: DeviceShare) -> bool:
        return not share.checks or self._first not in self._alive or self._first == device


def _shares(plan: Plan, remaining: Remaining | None) -> Iterator[DeviceShare]:
    """Everything to be measured: what is repeated, each problem's points, the drift check."""
    if remaining is not None and remaining.repeats:
        yield DeviceShare(again=tuple(enumerate(remaining.repeats, remaining.first)))
    left = [one for one in plan.points() if remaining is None or one.index in remaining.left]
    together: dict[tuple[bool, Problem], list[int]] = {}
    for point in left:
        together.setdefault((point.index >= plan.cells, point.problem), []).append(point.index)
    for (checks, _problem), indices in together.items():
        yield DeviceShare(frozenset(indices), checks=checks)
