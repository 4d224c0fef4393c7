"""A run that is to have a process of its own gets one."""

from flashscope.profiles.wire.events import PlanFinished
from tests.profiles.heard import Heard, quick_plan, running_children


def workers() -> set[int]:
    return {child.pid for child in running_children()}


def test_two_sweeps_share_a_worker_unless_a_fresh_one_is_asked_for_between_them(heard: Heard) -> None:
    plan = quick_plan("flash2", seqlens=(64,))
    heard.sweep(plan)
    first = workers()
    heard.sweep(plan)
    assert workers() == first
    heard.engine.renew()
    heard.sweep(plan)
    assert not workers() & first
    assert heard.all(PlanFinished)[-1].outcome == "finished"
