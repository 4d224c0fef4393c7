"""One group of a plan on its way through the worker: each point checked alone, then all sampled in turns."""

import time
from collections import deque
from collections.abc import Sequence

from kernels.device import Device
from profiles.events import (
    Event,
    FailedStatus,
    LogLine,
    PointFailed,
    PointMeasured,
    PointStarted,
    SamplingStarted,
)
from profiles.failures import Refusal
from profiles.fitting import alone, apart
from profiles.messages import CheckedPoint, CheckPoint, Message, PointChecked, SamplePoints, SamplingEnded
from profiles.plan import Point, Protocol
from profiles.tasks import Task

Batch = tuple[CheckedPoint, ...]


class GroupRun:
    """What is to be done next, from what was heard so far; knows of no process.

    Points that memory cannot hold together are sampled apart. So are those of a batch that ended without any
    result, because the worker died or memory ran out: alone, each shows whether it was to blame.
    """

    def __init__(self, points: Sequence[Point], device: Device, protocol: Protocol) -> None:
        self._device, self._protocol = device, protocol
        self._unchecked = deque(points)
        self._checked: list[CheckedPoint] = []
        self._batches: deque[Batch] = deque()
        self._sampling: Batch = ()  # as it was sent
        self._open: dict[int, Point] = {}  # started, and not ended
        self._free_bytes = 0

    def next_task(self) -> Task | None:
        """The next check, then the next batch of samples; None when the group is through."""
        if self._unchecked:
            return self._check(self._unchecked.popleft())
        if self._checked:
            self._batches.extend(apart(self._checked, self._protocol.fit_margin, self._free_bytes))
            self._checked = []
        return self._sample(self._batches.popleft()) if self._batches else None

    def heard(self, message: Message) -> None:
        """Take in what the worker said."""
        match message:
            case PointChecked(checked=checked, free_bytes=free_bytes):
                self._checked.append(checked)
                self._free_bytes = free_bytes
            case PointMeasured(index=index) | PointFailed(index=index):
                self._open.pop(index, None)
            case SamplingEnded(left_open=reason):
                self._try_again(reason)
            case _:
                pass

    def close(self, status: FailedStatus, reason: str) -> list[Event]:
        """End every point that was started and has not ended."""
        return self._end([*self._open.values()], status, reason, "")

    def _end(self, points: Sequence[Point], status: FailedStatus, reason: str, detail: str) -> list[Event]:
        """End those of these points that have not ended."""
        left = [point for point in points if self._open.pop(point.index, None)]
        return [Refusal(status, reason, detail).failed(point) for point in left]

    def _check(self, point: Point) -> Task:
        def start() -> Event:
            self._open[point.index] = point
            return PointStarted(index=point.index, t_ns=time.monotonic_ns())

        def fail(status: FailedStatus, reason: str, detail: str) -> list[Event]:
            return self._end([point], status, reason, detail)

        return Task(
            command=CheckPoint(point=point, device=self._device, protocol=self._protocol),
            closed_by=(PointChecked, PointFailed),
            deadline_s=self._protocol.deadline_s,
            what=f"ran {point.kernel} at N = {point.problem.seqlen_q}",
            start=start,
            fail=fail,
        )

    def _sample(self, batch: Batch) -> Task:
        self._sampling = batch
        points = [checked.point for checked in batch]
        names = ", ".join(point.kernel for point in points)

        def start() -> Event:
            return SamplingStarted(indices=tuple(point.index for point in points), t_ns=time.monotonic_ns())

        def fail(status: FailedStatus, reason: str, detail: str) -> list[Event]:
            if status == "cancelled" or len(batch) == 1:
                return self._end(points, status, reason, detail)
            self._try_again(reason)
            text = f"{reason} What has not ended of it is sampled again."
            return [LogLine(source="engine", text=text, level="warning")]

        return Task(
            command=SamplePoints(checked=batch, device=self._device, protocol=self._protocol),
            closed_by=(SamplingEnded,),
            deadline_s=self._protocol.deadline_s * len(batch),
            what=f"ran {names}{' in turns' if len(batch) > 1 else ''} at N = {points[0].problem.seqlen_q}",
            start=start,
            fail=fail,
        )

    def _try_again(self, reason: str) -> None:
        """Sample again what is left of a batch: together if some of it ended, else each alone."""
        left = tuple(checked for checked in self._sampling if checked.point.index in self._open)
        if 0 < len(left) < len(self._sampling):
            self._batches.appendleft(left)
        elif len(left) > 1:
            self._batches.extendleft((alone(c, reason),) for c in reversed(left))
