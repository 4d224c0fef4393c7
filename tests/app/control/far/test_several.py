"""A window that splits sweeps over several GPUs of this machine."""

from contextlib import closing
from getpass import getuser
from pathlib import Path
from socket import gethostname
from unittest.mock import Mock

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.app.control.far.devices import LATER, SWEEPS, Devices
from flashscope.app.control.far.places import DeviceGroup
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.remaining import remaining_of
from flashscope.profiles.store import load
from flashscope.profiles.wire.events import PlanFinished
from tests.app.control.far.shared import GPUS, Shared, connect
from tests.app.fakes import GPU_MACHINE, PLAN, SECOND
from tests.end_to_end.hosts import DEVICE, RunningHost, host_of
from tests.profiles.heard import QUICK, running_children


def split(controller: Controller, qtbot: QtBot, *numbers: int) -> None:
    """Split sweeps over these of the equal GPUs; none: all of them."""
    group, _ = controller.devices.groups
    wanted = group._replace(devices=tuple(group.devices[n] for n in numbers)) if numbers else group
    with qtbot.waitSignal(controller.machine_found):
        controller.devices.use(wanted)


def split_there(controller: Controller, host: RunningHost, qtbot: QtBot) -> None:
    """Split sweeps over all devices that a host lends."""
    connect(controller, host, qtbot)
    (group,) = [one for one in controller.devices.groups if one.host]
    with qtbot.waitSignal(controller.machine_found):
        controller.devices.use(group)


def visible_gpus() -> set[str]:
    """Which of the GPUs the children of this process see."""
    seen = {one.environ().get("CUDA_VISIBLE_DEVICES", "") for one in running_children()}
    return seen & {one.uuid for one in GPUS}


def test_gpus_of_one_kind_can_share_a_sweep_and_one_of_another_kind_is_not_among_them(
    controller: Controller,
) -> None:
    group, everything = controller.devices.groups
    assert (group.alike, everything.alike) == (True, False)
    assert [one.gpu for one in everything.devices] == [one.uuid for one in GPUS]
    assert group.names == ("GPU 0, NVIDIA H100", "GPU 2, NVIDIA H100", "GPU 3, NVIDIA H100")
    assert [one.gpu for one in group.devices] == ["GPU-0a", "GPU-2a", "GPU-3a"]
    assert group.host == ""


def test_a_split_sweep_is_one_session_whose_file_knows_the_device_of_each_point(
    controller: Controller, shared: Shared, qtbot: QtBot
) -> None:
    split(controller, qtbot, 0, 2)
    assert shared.engines.keys() == {"GPU-0a", "GPU-3a"}
    assert controller.provenance.badge == "CPU 2 × Test CPU"
    assert controller.devices.place is not None
    assert controller.devices.place.options == ("--devices", "GPU 0,GPU 3")
    controller.run(PLAN)
    shared.measure(controller)
    qtbot.waitUntil(lambda: controller.path is not None)  # the file is made on another thread
    path = controller.path
    assert path is not None
    qtbot.waitUntil(lambda: load(path).outcome == "finished")
    session = load(path)
    assert {point.status for point in session.points} == {"done"}
    assert {point.device for point in session.points} == {0, 1}
    assert all(len({session.points[one.index].device for one in group}) == 1 for group in PLAN.groups())
    assert session.readings
    assert session.beside[1]
    assert session.telemetry is not None
    assert len(session.telemetry.others) == 1


def test_cancelling_stops_every_device_and_what_is_left_goes_on_with_all_of_them(
    controller: Controller, shared: Shared, qtbot: QtBot
) -> None:
    split(controller, qtbot, 0, 1)
    controller.run(PLAN)
    both = list(shared.engines.values())
    qtbot.waitUntil(lambda: all(engine.rests for engine in both))
    controller.cancel()
    qtbot.waitUntil(lambda: all(engine.cancelled for engine in both))
    for engine in both:
        engine.say([PlanFinished(t_ns=SECOND, outcome="cancelled")])
    qtbot.waitUntil(lambda: not controller.measuring)
    qtbot.waitUntil(lambda: controller.path is not None)  # the file is made on another thread
    session = controller.session
    assert session is not None
    left = remaining_of(session)
    assert left.outcome == "cancelled"
    controller.resume(left)
    shared.measure(controller, told=1)
    assert session.outcome == "finished"
    assert {point.device for point in session.points} == {0, 1}


def test_a_device_cannot_be_changed_under_a_sweep_and_this_machine_is_used_again_after_it(
    controller: Controller, shared: Shared, qtbot: QtBot
) -> None:
    split(controller, qtbot)
    assert controller.devices.count == 3
    controller.run(PLAN)
    with qtbot.waitSignal(controller.devices.failed) as failed:
        controller.devices.come_back()
    assert failed.args == [SWEEPS]
    shared.measure(controller)
    controller.devices.come_back()
    assert controller.devices.place is None
    assert controller.devices.count == 1
    qtbot.waitUntil(lambda: all(engine.closed for engine in shared.engines.values()))


def test_the_cpu_that_several_gpus_have_in_common_is_not_taken_for_several(
    controller: Controller, shared: Shared, qtbot: QtBot
) -> None:
    shared.machine = GPU_MACHINE
    split(controller, qtbot)
    with qtbot.waitSignal(controller.error_raised) as raised:
        controller.run(PLAN)
    assert "which would share one; choose the CPU in the form's box first" in raised.args[0]
    assert not controller.measuring


def test_devices_that_are_in_use_already_are_not_taken_anew(
    controller: Controller, shared: Shared, qtbot: QtBot
) -> None:
    split(controller, qtbot)
    before = controller.devices.place
    group: DeviceGroup = controller.devices.groups[0]
    controller.devices.use(group)
    assert controller.devices.place is before
    assert controller.devices.uses(group)


@pytest.mark.matrix  # it starts real processes
def test_each_gpu_is_measured_on_by_processes_that_see_it_alone(controller: Controller, qtbot: QtBot) -> None:
    seen = set[str]()
    lengths = (64, 128, 192, 256, 320, 384)
    problems = tuple(Problem(heads=1, seqlen_q=n, seqlen_k=n, head_dim=16) for n in lengths)
    split(controller, qtbot, 0, 2)
    controller.sweep_told.connect(lambda _events: seen.update(visible_gpus()))
    controller.run(Plan(backend="cpu", kernels=("standard", "flash2"), problems=problems, protocol=QUICK))
    qtbot.waitUntil(lambda: controller.sweep is not None and not controller.measuring)
    assert controller.sweep is not None
    assert {point.status for point in controller.sweep.points} == {"done"}
    assert {point.device for point in controller.sweep.points} == {0, 1}
    assert seen == {"GPU-0a", "GPU-3a"}


@pytest.mark.matrix
@pytest.mark.cluster
def test_of_a_host_the_device_in_use_and_its_equals_are_taken_together_and_one_of_them_again_alone(
    controller: Controller, both: RunningHost, qtbot: QtBot
) -> None:
    went: list[str] = []
    controller.devices.went.connect(went.append)
    connect(controller, both, qtbot, "CPU 0")
    (group,) = [one for one in controller.devices.groups if one.host]
    with qtbot.waitSignal(controller.machine_found):
        controller.devices.use(group)
    place = controller.devices.place
    assert place is not None
    assert place.device == "2 × CPU"
    assert controller.provenance.badge.endswith(f" · {place.host}")
    controller.run(replace(PLAN, protocol=QUICK))
    qtbot.waitUntil(lambda: controller.sweep is not None and not controller.measuring)
    assert controller.sweep is not None
    assert {point.device for point in controller.sweep.points} == {0, 1}
    connect(controller, both, qtbot, "CPU 1")
    assert controller.devices.place is not None
    assert controller.devices.place.names == ("CPU 1",)
    assert went == []


def lends_both(host: RunningHost) -> bool:
    """Whether the host has both devices again."""
    from flashscope.profiles.cluster.client.devices import list_devices  # noqa: PLC0415 - imports Dask

    return [one.name for one in list_devices(host.connection)] == ["CPU 0", "CPU 1"]


@pytest.mark.matrix
@pytest.mark.cluster
def test_who_has_a_device_of_the_host_is_told_as_it_is_when_the_box_is_opened(
    controller: Controller, both: RunningHost, qtbot: QtBot
) -> None:
    from flashscope.profiles.cluster.client.remote import RemoteEngine  # noqa: PLC0415 - imports Dask

    connect(controller, both, qtbot, "CPU 0")

    def holders() -> list[str]:
        controller.devices.look_again()
        with qtbot.waitSignal(controller.devices.changed):
            pass
        return [one.told.holder for one in controller.devices.seen[str(both.file)]]

    assert holders() == ["", ""]
    with closing(RemoteEngine(print, both.connection, device="CPU 1")):
        assert holders() == ["", f"{getuser()}@{gethostname()}"]
    assert holders() == ["", ""]


@pytest.mark.matrix
@pytest.mark.cluster
def test_reconnecting_while_the_devices_that_are_left_measure_is_done_once_they_have_ended(
    controller: Controller, tmp_path: Path, qtbot: QtBot
) -> None:
    with host_of(tmp_path, "CPU 0", "CPU 1") as dying:
        split_there(controller, dying, qtbot)
        controller.run(replace(PLAN, protocol=replace(QUICK, repeats=100_000, time_cap_s=600)))
        qtbot.waitUntil(lambda: controller.sweep is not None and len(controller.sweep.in_flight) > 1)
        with qtbot.waitSignal(controller.devices.went):
            dying.members(DEVICE)[1].kill()
        with qtbot.waitSignal(controller.devices.told) as told:
            controller.devices.reconnect()
        assert told.args == [LATER]
        assert controller.measuring
        qtbot.waitUntil(lambda: len(dying.members(DEVICE)) == 2 and lends_both(dying))
        with qtbot.waitSignal(controller.machine_found):
            controller.cancel()
        assert controller.devices.lost == ""
        assert controller.devices.count == 2


def test_nothing_is_taken_again_once_the_window_is_closed(
    controller: Controller, shared: Shared, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    split(controller, qtbot, 0, 2)
    controller.run(PLAN)
    monkeypatch.setattr(Devices, "lost", "GPU 2 is lost.")
    with qtbot.waitSignal(controller.devices.told):
        controller.devices.reconnect()
    begun = Mock()
    monkeypatch.setattr(controller.devices, "_begin", begun)
    controller.devices.close()
    shared.measure(controller)
    assert not controller.measuring
    begun.assert_not_called()


@pytest.mark.matrix
@pytest.mark.cluster
def test_a_sweep_goes_on_where_one_of_its_devices_is_lost_and_reconnecting_takes_all_of_them(
    controller: Controller, tmp_path: Path, qtbot: QtBot
) -> None:
    with host_of(tmp_path, "CPU 0", "CPU 1") as dying:
        split_there(controller, dying, qtbot)
        controller.run(replace(PLAN, protocol=replace(QUICK, repeats=50)))
        qtbot.waitUntil(lambda: controller.sweep is not None and bool(controller.sweep.in_flight))
        assert controller.sweep is not None
        with qtbot.waitSignal(controller.devices.went) as went:
            dying.members(DEVICE)[1].kill()
        assert controller.devices.lost == went.args[0]
        qtbot.waitUntil(lambda: not controller.measuring)
        assert {point.status for point in controller.sweep.points} == {"done"}
        qtbot.waitUntil(lambda: len(dying.members(DEVICE)) == 2 and lends_both(dying))
        with qtbot.waitSignal(controller.machine_found):
            controller.devices.reconnect()
        assert controller.devices.lost == ""
        controller.run(replace(PLAN, protocol=QUICK))
        qtbot.waitUntil(lambda: not controller.measuring)
        assert {point.device for point in controller.sweep.points} == {0, 1}
