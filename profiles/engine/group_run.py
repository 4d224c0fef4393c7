"""One group of a plan on its way through the worker: each point tried alone, then all sampled in turns."""

import time
from collections import deque
from collections.abc import Mapping, Sequence

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.workload.device import Device
from flashscope.profiles.engine.batches import Batch, PointMemory, apart, broken_off, fitting_batches
from flashscope.profiles.engine.tasks import Task
from flashscope.profiles.plan.plan import Point, Protocol
from flashscope.profiles.plan.problem_words import place_words
from flashscope.profiles.wire.events import (
    Event,
    FailedStatus,
    LogLine,
    PointChecked,
    PointFailed,
    PointMeasured,
    PointStarted,
    SamplingStarted,
)
from flashscope.profiles.wire.messages import Message, SamplePoints, SamplingEnded, TryPoint
from flashscope.profiles.worker.failures import Refusal


class GroupRun:
    """What is to be done next, from what was heard so far; knows of no process.

    Points that memory cannot hold together are sampled apart. A batch in which the worker died takes its
    turns once more in a new one. Where that dies, too, or memory ran out or the deadline passed, what has no
    result is sampled alone: each shows whether it was to blame.

    Args:
        points: What is to be measured, of one problem.
        device: Where.
        protocol: How.
        ahead: The folder of a library's own in which its worker finds modules first; empty: none.
        compile_s: What kernels may take, by name, on top of the deadline when they are tried.
        own: What kernels of the user's own declare.
    """

    def __init__(
        self,
        points: Sequence[Point],
        device: Device,
        protocol: Protocol,
        ahead: str = "",
        compile_s: Mapping[str, float] | None = None,
        *,
        own: Sequence[OwnKernel] = (),
    ) -> None:
        self._device, self._protocol, self._own = device, protocol, tuple(own)
        self._ahead, self._compile_s = ahead, compile_s or {}
        self._untried = deque(points)
        self._points = {point.index: point for point in points}
        self._right: list[PointMemory] = []
        self._batches: deque[Batch] = deque()
        self._sampling = Batch(())  # as it was sent
        self._measured: set[int] = set()
        self._open: set[int] = set()  # started, and not ended
        self._free_bytes = 0

    def next_task(self) -> Task | None:
        """The next point to try, then the next batch to sample; None when the group is through."""
        if self._untried:
            return self._try(self._untried.popleft())
        if self._right:
            self._batches.extend(fitting_batches(self._right, self._protocol.fit_margin, self._free_bytes))
            self._right = []
        return self._sample(self._batches.popleft()) if self._batches else None

    def heard(self, message: Message) -> None:
        """Take in what the worker said."""
        match message:
            case PointChecked(index=index, measurement=measurement, free_bytes=free_bytes):
                self._right.append(PointMemory.by(self._points[index], measurement))
                self._free_bytes = free_bytes
            case PointMeasured(index=index):
                self._open.discard(index)
                self._measured.add(index)
            case PointFailed(index=index):
                self._open.discard(index)
            case SamplingEnded(left_open=reason):
                self._try_again(reason)
            case _:
                pass

    def close(self, status: FailedStatus, reason: str) -> list[Event]:
        """End every point that was started and has not ended."""
        return self._end([*self._points.values()], status, reason, "")

    def _end(self, points: Sequence[Point], status: FailedStatus, reason: str, detail: str) -> list[Event]:
        """End those of these points that were started and have not ended."""
        left = [point for point in points if point.index in self._open]
        self._open.difference_update(point.index for point in left)
        return [Refusal(status, reason, detail).failed(point) for point in left]

    def _try(self, point: Point) -> Task:
        def start() -> Event:
            self._open.add(point.index)
            return PointStarted(index=point.index, t_ns=time.monotonic_ns())

        def fail(status: FailedStatus, reason: str, detail: str) -> list[Event]:
            return self._end([point], status, reason, detail)

        return Task(
            command=TryPoint(point=point, device=self._device, protocol=self._protocol, own=self._own),
            closed_by=(PointChecked, PointFailed),
            deadline_s=self._protocol.deadline_s + self._compile_s.get(point.kernel, 0.0),
            what=f"ran {point.kernel} at {place_words(point.problem)}",
            start=start,
            fail=fail,
            ahead=self._ahead,
        )

    def _sample(self, batch: Batch) -> Task:
        self._sampling, points = batch, batch.points
        names = ", ".join(point.kernel for point in points)

        def start() -> Event:
            indices = tuple(point.index for point in points)
            remark = " ".join(filter(None, (apart(self._ahead), batch.remark)))
            return SamplingStarted(indices=indices, t_ns=time.monotonic_ns(), remark=remark)

        def fail(status: FailedStatus, reason: str, detail: str) -> list[Event]:
            if status == "cancelled" or len(points) == 1:
                return self._end(points, status, reason, detail)
            self._try_again(reason, died=status == "failed")
            text = f"{reason} What has not ended of it is sampled again."
            return [LogLine(source="engine", text=text, level="warning")]

        return Task(
            command=SamplePoints(points=points, device=self._device, protocol=self._protocol, own=self._own),
            closed_by=(SamplingEnded,),
            deadline_s=(self._protocol.deadline_s + self._protocol.sustain_s) * len(points),
            what=f"ran {names}{' in turns' if len(points) > 1 else ''} at {place_words(points[0].problem)}",
            start=start,
            fail=fail,
            ahead=self._ahead,
        )

    def _try_again(self, reason: str, *, died: bool = False) -> None:
        """Sample again what is left of a batch: in turns if some ended or a worker died, else each alone.

        What lies apart in time from what was measured before says so.
        """
        points, remark, again = self._sampling
        left = tuple(point for point in points if point.index in self._open)
        if any(point.index in self._measured for point in points):
            remark = broken_off(reason)
        if 0 < len(left) < len(points):
            self._batches.appendleft(Batch(left, remark))
        elif len(left) > 1 and died and not again:
            self._batches.appendleft(Batch(left, remark, again=True))
        elif len(left) > 1:
            self._batches.extendleft(Batch((point,), broken_off(reason)) for point in reversed(left))
