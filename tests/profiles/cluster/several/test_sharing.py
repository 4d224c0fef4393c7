"""How a sweep is shared among devices: whatever comes in whichever order, and whoever is lost."""

from collections import Counter, deque
from collections.abc import Callable
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.profiles.cluster.calls import RunPlan, WatchBackend
from flashscope.profiles.cluster.client.unanswered import Unanswered
from flashscope.profiles.cluster.several.equal import obstacle_to_sharing
from flashscope.profiles.cluster.several.shared_run import SharedDevice, SharedRun
from flashscope.profiles.cluster.several.sharing import Sharing
from flashscope.profiles.engine.contract import Engine
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.remaining import Remaining, remaining_of
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.clock import shifted
from flashscope.profiles.wire.events import (
    CeilingsMeasured,
    Event,
    PlanFinished,
    PlanResumed,
    PlanStarted,
    PointFailed,
    PointMeasured,
    PointStarted,
    Reading,
    Readings,
    SamplingStarted,
)
from tests.profiles.sessions import GPU, MACHINE, ends_well, make_plan, measured
from tests.profiles.store.builders import CEILINGS

LENGTHS = (512, 1024, 2048, 4096)
KERNELS = ("standard", "flash2")
LOST = "GPU 1 at tls://lab:8786 is lost: its process there has ended."


class FakeEngine:
    """What measures on one device: it says the next event when it is told to."""

    def __init__(self) -> None:
        self.waiting: deque[Event] = deque()
        self.asked: list[Remaining] = []
        self.cancelled = False
        self._unanswered = Unanswered()

    def run(self, plan: Plan, remaining: Remaining) -> None:
        assert not self.waiting, "one share at a time"
        self.asked.append(remaining)
        self._unanswered = Unanswered()
        self._unanswered.asked(WatchBackend(backend=plan.backend))
        self._unanswered.asked(RunPlan(plan=plan, remaining=remaining))
        self.waiting.append(remaining.begin(MACHINE, None))
        if remaining.ceilings:
            self.waiting.append(CeilingsMeasured(ceilings=CEILINGS))
        for group in remaining.groups(plan):
            indices = tuple(point.index for point in group)
            for point in group:
                self.waiting.append(PointStarted(index=point.index, t_ns=remaining.t_ns))
                self.waiting.append(Readings(readings=(Reading(t_ns=remaining.t_ns, power_w=300.0),)))
            ends = [ends_well(point.index, remaining.t_ns, measured(plan, point)) for point in group]
            self.waiting += [checked for checked, _ in ends]
            self.waiting.append(SamplingStarted(indices=indices, t_ns=remaining.t_ns))
            self.waiting += [ended for _, ended in ends]
        self.waiting.append(PlanFinished(t_ns=remaining.t_ns, outcome="finished"))

    def cancel(self) -> None:
        self.cancelled = True
        self.waiting.clear()
        self.waiting.extend(
            replace(one, status="cancelled")
            if isinstance(one, PointFailed)
            else replace(one, outcome="cancelled")
            if isinstance(one, PlanFinished)
            else one
            for one in self._unanswered.answers("It was cancelled.")
        )

    def next_event(self) -> Event:
        event = self.waiting.popleft()
        self._unanswered.heard(event)
        return event

    def loss(self) -> list[Event]:
        self.waiting.clear()
        return self._unanswered.answers(LOST)


class Bench:
    """A sweep on devices that are fakes.

    Attributes:
        session: What came of it.
        said: Everything that was said of it.
    """

    def __init__(self, plan: Plan, devices: int, session: Session | None = None) -> None:
        self.plan = plan
        self.engines = [FakeEngine() for _ in range(devices)]
        members = [
            SharedDevice(f"GPU {number}", cast("Engine", engine), MACHINE)
            for number, engine in enumerate(self.engines)
        ]
        self.session, self.said = session, list[Event]()
        remaining = remaining_of(session) if session else None
        self.run = SharedRun(plan, remaining, members, self._take)
        self.run.begin()

    def _take(self, event: Event) -> None:
        self.said.append(event)
        if isinstance(event, PlanStarted):
            self.session = Session.begin(event)
        assert self.session is not None
        self.session.apply(event)

    @property
    def busy(self) -> list[int]:
        return [number for number, one in enumerate(self.engines) if one.waiting]

    def step(self, device: int) -> None:
        self.run.heard(device, self.engines[device].next_event())

    def lose(self, device: int) -> None:
        for event in self.engines[device].loss():
            self.run.heard(device, event)

    def go_on(self, choose: Callable[[list[int]], int] = lambda busy: busy[0]) -> None:
        while self.busy:
            self.step(choose(self.busy))

    @property
    def whole(self) -> Session:
        assert self.session is not None
        return self.session

    @property
    def measured(self) -> Counter[int]:
        return Counter(event.index for event in self.said if isinstance(event, PointMeasured))


@settings(max_examples=40)  # each is a whole sweep
@given(data=st.data(), devices=st.integers(1, 4), interleave=st.booleans(), shuffle=st.booleans())
def test_every_point_is_told_once_whatever_order_and_whatever_losses(
    data: st.DataObject, devices: int, interleave: bool, shuffle: bool
) -> None:
    plan = make_plan(KERNELS, LENGTHS)
    plan = replace(plan, protocol=replace(plan.protocol, interleave=interleave, shuffle=shuffle))
    bench = Bench(plan, devices)
    while bench.busy:
        device = data.draw(st.sampled_from(bench.busy))
        if data.draw(st.integers(0, 30)) == 0:
            bench.lose(device)
        else:
            bench.step(device)
    assert set(bench.measured.values()) <= {1}
    ends = Counter(one.index for one in bench.said if isinstance(one, PointMeasured | PointFailed))
    assert set(ends.values()) <= {1}
    assert [isinstance(one, PlanFinished) for one in bench.said].index(True) == len(bench.said) - 1
    session = bench.whole
    if session.outcome == "finished":
        assert {one.status for one in session.points} == {"done"}
    else:
        assert session.outcome == "failed"
        assert not session.in_flight
        assert {one.reason for one in session.points if one.status == "failed"} <= {LOST}


@settings(max_examples=40)  # each is a whole sweep
@given(data=st.data(), devices=st.integers(1, 4))
def test_without_losses_all_kernels_of_a_problem_are_on_one_device_and_so_is_the_drift_check(
    data: st.DataObject, devices: int
) -> None:
    bench = Bench(make_plan(KERNELS, LENGTHS), devices)
    bench.go_on(lambda busy: data.draw(st.sampled_from(busy)))
    for group in bench.plan.groups():
        assert len({bench.whole.points[point.index].device for point in group}) == 1
    assert bench.whole.points[0].device == bench.whole.points[-1].device


@settings(max_examples=40)  # each is a whole sweep
@given(data=st.data(), devices=st.integers(1, 3))
def test_a_sweep_whose_devices_were_all_lost_goes_on_with_any_number_of_devices(
    data: st.DataObject, devices: int
) -> None:
    plan = make_plan(KERNELS, LENGTHS)
    first = Bench(plan, 2)
    for _ in range(data.draw(st.integers(1, 30))):
        if first.busy:
            first.step(data.draw(st.sampled_from(first.busy)))
    for device in (0, 1):
        first.lose(device)
    kept = first.measured
    second = Bench(plan, devices, first.whole)
    second.go_on(lambda busy: data.draw(st.sampled_from(busy)))
    assert {one.status for one in second.whole.planned} == {"done"}
    assert not {index for index in kept if index < first.plan.cells} & second.measured.keys()
    assert second.whole.outcome == "finished"


def test_the_next_problem_goes_to_the_device_that_is_free() -> None:
    bench = Bench(make_plan(KERNELS, LENGTHS), 2)
    while len(bench.engines[1].asked) < 3:
        bench.step(1)
    assert [len(engine.asked) for engine in bench.engines] == [1, 3]


def begun(plan: Plan, devices: int, remaining: Remaining | None = None) -> list[int]:
    """The N of each share, in the order in which devices that are free at once get them."""
    sharing = Sharing(plan, remaining, range(devices))
    shares = [sharing.take(device) for device in (*range(devices), *[0] * len(plan.groups()))]
    known = {point.index: point.problem.seqlen_k for point in plan.points()}
    return [known[min(share.points)] for share in shares if share is not None]


def test_several_devices_measure_the_longest_first_between_the_first_problem_and_its_drift_check() -> None:
    assert begun(make_plan(KERNELS, LENGTHS), 2) == [512, 4096, 2048, 1024, 512]


def test_without_a_drift_check_the_first_problem_waits_for_longer_ones_too() -> None:
    plan = make_plan(KERNELS, LENGTHS)
    plan = replace(plan, protocol=replace(plan.protocol, drift_check=False))
    assert begun(plan, 2) == [4096, 2048, 1024, 512]


def test_one_device_measures_in_the_order_that_was_asked_for() -> None:
    assert begun(make_plan(KERNELS, LENGTHS), 1) == [*LENGTHS, 512]


def test_a_drawn_order_is_kept_on_several_devices() -> None:
    plan = make_plan(KERNELS, LENGTHS)
    plan = replace(plan, protocol=replace(plan.protocol, shuffle=True, drift_check=False), seed=3)
    drawn = [group[0].problem.seqlen_k for group in plan.groups()]
    assert drawn != sorted(drawn, reverse=True)
    assert begun(plan, 2) == drawn


def test_a_problem_of_which_little_is_left_comes_after_one_that_is_whole() -> None:
    plan = make_plan(KERNELS, (1024, 1152))
    plan = replace(plan, protocol=replace(plan.protocol, drift_check=False))
    left = Remaining(
        session_id="", part=2, left=frozenset({0, 1, 3}), again=(), repeats=(), first=0, t_ns=0, outcome=None
    )
    assert begun(plan, 2, left) == [1024, 1152]


def test_the_session_keeps_the_order_that_was_asked_for() -> None:
    bench = Bench(make_plan(KERNELS, LENGTHS), 2)
    bench.go_on()
    longest = frozenset({6, 7})
    assert bench.engines[1].asked[0].left == longest
    assert [point.point.problem.seqlen_k for point in bench.whole.points[::2]] == [*LENGTHS, 512]


def test_what_a_lost_device_had_in_flight_is_measured_by_another_and_never_told_as_failed() -> None:
    bench = Bench(make_plan(KERNELS, LENGTHS), 2)
    for _ in range(4):
        bench.step(1)
    bench.lose(1)
    bench.go_on()
    assert not [one for one in bench.said if isinstance(one, PointFailed)]
    assert {one.device for one in bench.whole.points} == {0}
    assert bench.whole.outcome == "finished"


def test_a_kernel_that_failed_on_a_device_that_goes_on_has_failed() -> None:
    bench = Bench(make_plan(KERNELS, LENGTHS), 2)
    for _ in range(3):
        bench.step(0)
    bench.engines[0].waiting.clear()
    bench.run.heard(0, PointFailed(index=0, t_ns=1, status="failed", reason="An illegal address."))
    bench.run.heard(0, PlanFinished(t_ns=2, outcome="finished"))
    assert bench.whole.points[0].status == "failed"
    assert bench.whole.points[0].reason == "An illegal address."


def test_cancelling_stops_every_device_and_begins_nothing_more() -> None:
    bench = Bench(make_plan(KERNELS, LENGTHS), 2)
    for device in (0, 1, 0, 1, 0, 1):
        bench.step(device)
    bench.run.cancel()
    assert all(engine.cancelled for engine in bench.engines)
    bench.go_on()
    assert bench.whole.outcome == "cancelled"
    assert {one.status for one in bench.whole.points} == {"cancelled", "pending"}
    assert [len(engine.asked) for engine in bench.engines] == [1, 1]


def test_readings_are_kept_apart_by_device() -> None:
    bench = Bench(make_plan(KERNELS, LENGTHS), 2)
    bench.run.heard(1, Readings(readings=(Reading(t_ns=7),)))  # by a clock that is not the session's yet
    bench.go_on(lambda busy: busy[-1])
    assert {reading.t_ns for reading in bench.whole.beside[1]} != {7}
    assert 7 not in {reading.t_ns for reading in bench.whole.beside[1]}
    assert bench.whole.readings


def test_ceilings_are_told_once_and_measured_by_none_that_comes_later() -> None:
    bench = Bench(make_plan(KERNELS, LENGTHS), 2)
    bench.go_on()
    assert sum(isinstance(one, CeilingsMeasured) for one in bench.said) == 1
    asked = [one.ceilings for engine in bench.engines for one in engine.asked]
    assert sum(asked) == 2  # both began at the same time


def test_the_first_event_names_the_machine_of_every_device() -> None:
    bench = Bench(make_plan(KERNELS, LENGTHS), 3)
    assert bench.whole.machines(1) == (MACHINE,) * 3
    assert not [one for one in bench.said[1:] if isinstance(one, PlanStarted | PlanResumed)]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (replace(GPU, name="NVIDIA H100", uuid="GPU-1"), "NVIDIA H100"),
        (replace(GPU, memory_bytes=80 << 30, uuid="GPU-1"), "80.00 GiB"),
    ],
)
def test_unlike_devices_are_refused_with_both_named_and_the_remedy(changed: object, told: str) -> None:
    other = replace(MACHINE, devices=(changed,))
    refused = obstacle_to_sharing([("GPU 0 at a", MACHINE), ("GPU 1 at b", other)], "cuda")
    assert "GPU 0 at a is NVIDIA H200 with 141.00 GiB and driver 580.95" in refused
    assert "GPU 1 at b is" in refused
    assert told in refused
    assert "--spread repeat" in refused


def test_another_driver_is_refused_and_an_equal_card_is_not() -> None:
    second = replace(MACHINE, devices=(replace(GPU, uuid="GPU-1"),))
    assert obstacle_to_sharing([("a", MACHINE), ("b", second)], "cuda") == ""
    older = replace(second, driver="550.54")
    assert "driver 550.54" in obstacle_to_sharing([("a", MACHINE), ("b", older)], "cuda")


def test_one_card_that_is_named_twice_is_refused() -> None:
    assert "are one device, GPU-0" in obstacle_to_sharing([("a", MACHINE), ("b", MACHINE)], "cuda")


def test_events_of_a_later_share_go_by_the_clock_that_the_engine_was_told() -> None:
    bench = Bench(make_plan(KERNELS, LENGTHS), 1)
    bench.go_on()
    moments = [one.t_ns for one in bench.engines[0].asked]
    assert moments == sorted(moments)
    assert moments[0] >= bench.whole.t0_ns
    assert shifted(PointStarted(index=0, t_ns=5, device=2), 1) == PointStarted(index=0, t_ns=6, device=2)
