"""A group on its way: whatever its kernels do, each point ends exactly once, and turns go to all that can."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.engine.batches import broken_off
from flashscope.profiles.engine.group_run import GroupRun
from flashscope.profiles.engine.tasks import Task
from flashscope.profiles.plan.plan import Plan, Point, Protocol
from flashscope.profiles.wire.events import (
    LogLine,
    PointChecked,
    PointFailed,
    PointMeasured,
    PointStarted,
    SamplingStarted,
)
from flashscope.profiles.wire.measurement import Figure
from flashscope.profiles.wire.messages import Message, SamplePoints, SamplingEnded, TryPoint
from flashscope.profiles.worker.failures import Refusal
from tests.profiles.store.builders import MEASUREMENT

DEVICE = Device(backend="cpu", name="A CPU", memory_bytes=1 << 34)
PROBLEM = Problem(seqlen_q=64, seqlen_k=64)
INPUTS = 100
ORDERLY = ("fine", "refused", "dies-in-check", "fails-in-turns", "breaks-the-device")
FATES = (*ORDERLY, "dies-in-turns", "killed-once")


def points_of(count: int) -> tuple[Point, ...]:
    kernels = tuple(f"k{i}" for i in range(count))
    (group,) = Plan(backend="cpu", kernels=kernels, problems=(PROBLEM,)).groups()
    return group


def checked(point: Point, workspace: int, free_bytes: int = 1 << 30) -> PointChecked:
    ledger = {"input_bytes": INPUTS, "output_bytes": 10, "workspace_bytes": workspace}
    figures = {key: Figure(value=nbytes) for key, nbytes in ledger.items()}
    measurement = replace(MEASUREMENT, samples=(), figures=figures)
    return PointChecked(index=point.index, t_ns=0, measurement=measurement, free_bytes=free_bytes)


class Worker:
    """Does what its kernels' fates say, and keeps account.

    Attributes:
        ends: How each point ended.
        notes: Why measured points took no turns.
        batches: Which points were asked to take turns.
    """

    def __init__(self, run: GroupRun, fates: Sequence[str], free_bytes: int) -> None:
        self.run, self.fates, self.free_bytes = run, fates, free_bytes
        self.ends: dict[int, str] = {}
        self.notes: dict[int, str] = {}
        self.batches: list[list[int]] = []
        self.killed: set[int] = set()

    def work(self) -> None:
        while (task := self.run.next_task()) is not None:
            assert task.start is not None
            started = task.start()
            if isinstance(task.command, TryPoint):
                assert isinstance(started, PointStarted)
                self._check(task, task.command.point)
            else:
                assert isinstance(task.command, SamplePoints)
                assert isinstance(started, SamplingStarted)
                self._sample(task, task.command.points, started.remark)

    def _check(self, task: Task, point: Point) -> None:
        fate = self.fates[point.index]
        if fate == "dies-in-check":
            self._lose(task)
        elif fate == "refused":
            self._say(Refusal("wrong", "No.").failed(point))
        else:
            self._say(checked(point, 10 * (point.index + 1), self.free_bytes))

    def _sample(self, task: Task, batch: tuple[Point, ...], remark: str) -> None:
        self.batches.append([point.index for point in batch])
        for point in batch:
            fate = self.fates[point.index]
            if fate == "dies-in-turns" or (fate == "killed-once" and point.index not in self.killed):
                self.killed.add(point.index)
                self._lose(task)
                return
            if fate in {"fails-in-turns", "breaks-the-device"}:
                self._say(Refusal("failed", "It raised.").failed(point))
                if fate == "breaks-the-device":
                    self._say(SamplingEnded(left_open="k broke the device's context."))
                    return
            else:
                self.notes[point.index] = remark
                self._say(PointMeasured(index=point.index, t_ns=0, samples=()))
        self._say(SamplingEnded())

    def _lose(self, task: Task) -> None:
        for event in task.fail("failed", "The worker was killed.", ""):
            self._say(event)

    def _say(self, message: Message) -> None:
        self.run.heard(message)
        if isinstance(message, PointMeasured | PointFailed):
            assert message.index not in self.ends
            self.ends[message.index] = "done" if isinstance(message, PointMeasured) else message.status


def worked(fates: Sequence[str], free_bytes: int = 1 << 30) -> Worker:
    worker = Worker(GroupRun(points_of(len(fates)), DEVICE, Protocol()), fates, free_bytes)
    worker.work()
    return worker


@given(st.lists(st.sampled_from(FATES), min_size=1, max_size=7), st.integers(0, 400))
def test_every_point_ends_once_and_only_a_fault_of_its_own_ends_it_badly(
    fates: list[str], free_bytes: int
) -> None:
    worker = worked(fates, free_bytes)
    assert worker.ends.keys() == set(range(len(fates)))
    for index, fate in enumerate(fates):
        if fate != "killed-once":  # which ends well where it was not alone when it was killed
            assert (worker.ends[index] == "done") == (fate == "fine"), fate
    assert worker.run.close("cancelled", "Nothing is left open.") == []


@given(st.lists(st.sampled_from(ORDERLY), min_size=1, max_size=7))
def test_whoever_can_takes_turns_with_all_others_that_can(fates: list[str]) -> None:
    worker = worked(fates)
    assert all("Sampled alone" not in note for note in worker.notes.values())


def test_a_worker_that_was_killed_once_has_all_that_it_left_sampled_in_turns_again() -> None:
    worker = worked(["killed-once", "fine", "fine"])
    assert worker.batches == [[0, 1, 2], [0, 1, 2]]
    assert worker.notes == {0: "", 1: "", 2: ""}


def test_what_takes_its_turns_after_another_was_measured_says_that_it_is_apart() -> None:
    worker = worked(["fine", "killed-once", "fine"])
    assert worker.batches == [[0, 1, 2], [1, 2]]
    apart = broken_off("The worker was killed.")
    assert worker.notes == {0: "", 1: apart, 2: apart}


def test_kernels_left_together_by_one_that_failed_are_not_apart() -> None:
    worker = worked(["breaks-the-device", "fine", "fine"])
    assert worker.batches == [[0, 1, 2], [1, 2]]
    assert worker.notes == {1: "", 2: ""}


def test_a_worker_that_dies_in_turns_again_has_each_kernel_sampled_alone_with_the_reason() -> None:
    worker = worked(["fine", "dies-in-turns", "fine"])
    # The first had enough before the death: the others are tried together twice more, then alone.
    assert worker.batches == [[0, 1, 2], [1, 2], [1, 2], [1], [2]]
    assert worker.notes == {0: "", 2: broken_off("The worker was killed.")}


def test_what_memory_cannot_hold_together_leaves_the_largest_out_and_says_so() -> None:
    worker = worked(["fine", "fine", "fine"], free_bytes=170)  # 100 + (20 + 30 + 40) * 1.05 does not fit
    assert worker.batches == [[0, 1], [2]]
    assert "to spare" in worker.notes[2]
    assert worker.notes[0] == worker.notes[1] == ""


def test_cancelling_closes_what_is_open_and_nothing_else() -> None:
    run = GroupRun(points_of(3), DEVICE, Protocol())
    for _ in range(2):
        task = run.next_task()
        assert task is not None
        assert isinstance(task.command, TryPoint)
        assert task.start is not None
        task.start()
        run.heard(checked(task.command.point, 1))
    closed = run.close("cancelled", "It was cancelled.")
    assert [(e.index, e.status) for e in closed if isinstance(e, PointFailed)] == [
        (0, "cancelled"),
        (1, "cancelled"),
    ]


def test_turns_may_last_as_long_as_all_their_deadlines_together() -> None:
    run = GroupRun(points_of(2), DEVICE, Protocol(deadline_s=7.0))
    deadlines = []
    while (task := run.next_task()) is not None:
        deadlines.append(task.deadline_s)
        if isinstance(task.command, TryPoint):
            run.heard(checked(task.command.point, 1))
    assert deadlines == [7.0, 7.0, 14.0]


def test_a_library_that_compiles_may_take_longer_to_be_tried_and_no_longer_to_be_sampled() -> None:
    points = points_of(2)
    run = GroupRun(points, DEVICE, Protocol(deadline_s=7.0), compile_s={points[1].kernel: 100.0})
    deadlines = []
    while (task := run.next_task()) is not None:
        deadlines.append(task.deadline_s)
        if isinstance(task.command, TryPoint):
            run.heard(checked(task.command.point, 1))
    assert deadlines == [107.0 if point.kernel == points[1].kernel else 7.0 for point in points] + [14.0]


def test_a_breakdown_is_told_in_the_log() -> None:
    run = GroupRun(points_of(2), DEVICE, Protocol())
    while True:
        task = run.next_task()
        assert task is not None
        assert task.start is not None
        task.start()
        if isinstance(task.command, SamplePoints):
            break
        assert isinstance(task.command, TryPoint)
        run.heard(checked(task.command.point, 1))
    (line,) = task.fail("failed", "The worker was killed.", "")
    assert isinstance(line, LogLine)
    assert "sampled again" in line.text
