"""A window that repeats sweeps on each of several devices, to compare them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.profiles.results.model.remaining import remaining_of
from flashscope.profiles.store import load
from flashscope.profiles.wire.events import Event, LogLine, PlanFinished
from tests.app.control.far.shared import Shared, connect
from tests.app.fakes import PLAN, SECOND, plan_started, sweep
from tests.end_to_end.hosts import RunningHost
from tests.profiles.heard import QUICK


def tells_of(text: str) -> Callable[[list[Event]], bool]:
    """Whether events have a line with this text."""
    return lambda events: any(isinstance(one, LogLine) and text in one.text for one in events)


def is_whole(path: Path) -> bool:
    """Whether all of a sweep is in its file."""
    return load(path).outcome == "finished"


def repeat(controller: Controller, qtbot: QtBot) -> None:
    """Repeat sweeps on the first two GPUs of this machine, which differ."""
    _, everything = controller.devices.groups
    with qtbot.waitSignal(controller.machine_found):
        controller.devices.use(everything._replace(devices=everything.devices[:2]), repeat=True)


def run_on(shared: Shared, gpu: str, qtbot: QtBot) -> None:
    """Have a device measure all of the sweep that it is asked for."""
    engine = shared.engines[gpu]
    qtbot.waitUntil(lambda: bool(engine.plans))
    engine.say(sweep())


def test_unlike_devices_measure_all_of_a_sweep_each_into_a_session_that_names_its_device(
    controller: Controller, shared: Shared, qtbot: QtBot
) -> None:
    repeat(controller, qtbot)
    place = controller.devices.place
    assert place is not None
    assert place.device == "2 devices"
    assert place.options == ("--devices", "GPU 0,GPU 1", "--spread", "repeat")
    assert controller.devices.count == 1
    controller.run(PLAN)
    run_on(shared, "GPU-0a", qtbot)
    qtbot.waitUntil(lambda: controller.sweep is not None and not controller.sweep.in_flight)
    assert controller.measuring, "one of the devices has not ended"
    run_on(shared, "GPU-1a", qtbot)
    qtbot.waitUntil(lambda: not controller.measuring)
    qtbot.waitUntil(lambda: controller.sweep_path is not None and len(place.files) == 1)
    (beside,) = place.files
    assert beside.stem.endswith("-GPU-1")
    assert controller.sweep_path != beside
    for path in (controller.sweep_path, beside):
        assert path is not None
        qtbot.waitUntil(partial(is_whole, path))
        assert {point.status for point in load(path).points} == {"done"}


def test_what_becomes_of_one_device_is_no_matter_of_the_others_session(
    controller: Controller, shared: Shared, qtbot: QtBot
) -> None:
    repeat(controller, qtbot)
    controller.run(PLAN)
    qtbot.waitUntil(lambda: all(engine.plans for engine in shared.engines.values()))
    with qtbot.waitSignal(controller.sweep_told, check_params_cb=tells_of("It is lost.")):
        shared.engines["GPU-1a"].say([PlanFinished(t_ns=0, outcome="failed", reason="It is lost.")])
    assert controller.measuring
    run_on(shared, "GPU-0a", qtbot)
    qtbot.waitUntil(lambda: not controller.measuring)
    assert controller.sweep is not None
    assert controller.sweep.outcome == "finished"


def test_cancelling_stops_a_repeated_sweep_on_every_device_and_the_rest_is_the_first_ones(
    controller: Controller, shared: Shared, qtbot: QtBot
) -> None:
    repeat(controller, qtbot)
    controller.run(PLAN)
    both = list(shared.engines.values())
    qtbot.waitUntil(lambda: all(engine.plans for engine in both))
    controller.cancel()
    qtbot.waitUntil(lambda: all(engine.cancelled for engine in both))
    for engine in both:
        engine.say([plan_started(), PlanFinished(t_ns=SECOND, outcome="cancelled")])
    qtbot.waitUntil(lambda: not controller.measuring)
    qtbot.waitUntil(lambda: controller.path is not None)
    assert controller.session is not None
    controller.resume(remaining_of(controller.session))
    qtbot.waitUntil(lambda: len(both[0].plans) == 2)
    assert len(both[1].plans) == 1


def test_a_repeated_sweep_is_measured_once_a_device(
    controller: Controller, shared: Shared, qtbot: QtBot
) -> None:
    repeat(controller, qtbot)
    with qtbot.waitSignal(controller.error_raised) as raised:
        controller.run(PLAN, runs=3)
    assert raised.args[0].startswith("Sweeps are repeated on each of 2 devices, once a device")
    assert not any(engine.plans for engine in shared.engines.values())


@pytest.mark.matrix
@pytest.mark.cluster
def test_devices_of_a_host_measure_a_sweep_each_at_the_same_time(
    controller: Controller, both: RunningHost, qtbot: QtBot
) -> None:
    connect(controller, both, qtbot)
    (group,) = [one for one in controller.devices.groups if one.host]
    with qtbot.waitSignal(controller.machine_found):
        controller.devices.use(group, repeat=True)
    controller.run(replace(PLAN, protocol=QUICK))
    qtbot.waitUntil(lambda: controller.sweep is not None and not controller.measuring)
    place = controller.devices.place
    assert place is not None
    qtbot.waitUntil(lambda: controller.sweep_path is not None and len(place.files) == 1)
    for path in (controller.sweep_path, *place.files):
        assert path is not None
        qtbot.waitUntil(partial(is_whole, path))
        session = load(path)
        assert {point.status for point in session.points} == {"done"}
        assert session.machine is not None
        assert session.machine.host == place.host
        assert session.readings
