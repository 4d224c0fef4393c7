"""A window that has several hosts at once: a sweep on the devices of all of them, and the loss of one."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from getpass import getuser
from pathlib import Path
from socket import gethostname

import psutil
import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.app.control.far.places import DeviceGroup
from flashscope.profiles.store import load
from tests.app.fakes import PLAN
from tests.end_to_end.hosts import DEVICE, RunningHost, host_of
from tests.end_to_end.sshd import WITHOUT
from tests.end_to_end.sshd import lab as lab_by_ssh
from tests.profiles.heard import QUICK

pytestmark = [pytest.mark.cluster, pytest.mark.matrix]  # two hosts take many seconds of processor
LONG = replace(PLAN, protocol=replace(QUICK, repeats=50))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with host_of(tmp_path_factory.mktemp("lab"), "CPU 0", name="lab") as running:
        yield running


@pytest.fixture(scope="module")
def den(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with host_of(tmp_path_factory.mktemp("den"), "CPU 0", name="den") as running:
        yield running


def connect(controller: Controller, qtbot: QtBot, *hosts: RunningHost) -> None:
    """Connect to one after the other."""
    for host in hosts:
        with qtbot.waitSignal(controller.machine_found):
            controller.devices.connect_to(str(host.file))


def over_all(controller: Controller) -> DeviceGroup:
    """The devices of all hosts."""
    return controller.devices.groups[-1]


def use_all(controller: Controller, qtbot: QtBot, *hosts: RunningHost, repeat: bool = False) -> None:
    """Connect to hosts, and measure on the devices of all of them."""
    connect(controller, qtbot, *hosts)
    with qtbot.waitSignal(controller.machine_found):
        controller.devices.use(over_all(controller), repeat=repeat)


def measured(controller: Controller, qtbot: QtBot) -> Path:
    """The file of the sweep, once it is whole."""
    qtbot.waitUntil(lambda: controller.sweep_path is not None and not controller.measuring)
    path = controller.sweep_path
    assert path is not None
    qtbot.waitUntil(lambda: load(path).outcome == "finished")
    return path


def holders(controller: Controller, host: RunningHost) -> list[str]:
    """Who has the devices of a host, as far as this window knows."""
    return [one.told.holder for one in controller.devices.seen[str(host.file)]]


def test_a_sweep_is_split_over_the_devices_of_several_hosts(
    controller: Controller, lab: RunningHost, den: RunningHost, qtbot: QtBot
) -> None:
    connect(controller, qtbot, lab, den)
    group = over_all(controller)
    assert group.alike
    assert group.names == ("CPU 0 on lab", "CPU 0 on den")
    with qtbot.waitSignal(controller.machine_found):
        controller.devices.use(group)
    place = controller.devices.place
    assert place is not None
    assert (place.device, place.host, controller.devices.count) == ("2 × CPU", "lab and den", 2)
    assert place.options == ("--connect", str(lab.file), "--connect", str(den.file))
    assert controller.devices.uses(group)
    assert controller.provenance.badge.endswith(" · lab and den")
    controller.run(replace(PLAN, protocol=QUICK))
    session = load(measured(controller, qtbot))
    assert {point.status for point in session.points} == {"done"}
    assert {point.device for point in session.points} == {0, 1}


def test_a_sweep_is_repeated_on_the_devices_of_several_hosts_in_files_named_by_host(
    controller: Controller, lab: RunningHost, den: RunningHost, qtbot: QtBot
) -> None:
    use_all(controller, qtbot, lab, den, repeat=True)
    controller.run(replace(PLAN, protocol=QUICK))
    measured(controller, qtbot)
    place = controller.devices.place
    assert place is not None
    (beside,) = place.files
    assert beside.stem.endswith("-CPU-0-on-den")
    qtbot.waitUntil(partial(lambda path: load(path).outcome == "finished", beside))
    assert place.options[-2:] == ("--spread", "repeat")


def test_a_lost_host_is_out_of_the_sweep_and_comes_back_while_the_way_to_the_other_stays(
    controller: Controller, lab: RunningHost, tmp_path: Path, qtbot: QtBot
) -> None:
    devices = controller.devices
    with host_of(tmp_path, "CPU 0", name="den") as dying:
        use_all(controller, qtbot, lab, dying)
        controller.run(LONG)
        qtbot.waitUntil(lambda: controller.sweep is not None and len(controller.sweep.in_flight) > 1)
        everything = dying.everything()
        with qtbot.waitSignal(devices.went) as went:
            for one in everything:
                one.kill()
    assert devices.lost == went.args[0]
    assert devices.lost_words == "CPU 0 · den"
    qtbot.waitUntil(lambda: not controller.measuring)
    assert controller.sweep is not None
    assert {point.status for point in controller.sweep.points} == {"done"}
    before = devices.place
    assert before is not None
    with host_of(tmp_path, "CPU 0", name="den") as fresh:
        with qtbot.waitSignal(controller.machine_found):
            devices.reconnect()
        after = devices.place
        assert after is not None
        assert devices.lost == ""
        assert after.ties[str(lab.file)] is before.ties[str(lab.file)]
        assert after.ties[str(fresh.file)] is not before.ties[str(fresh.file)]
        controller.run(replace(PLAN, protocol=QUICK))
        qtbot.waitUntil(lambda: not controller.measuring)
        assert {point.device for point in controller.sweep.points} == {0, 1}
        devices.leave(str(fresh.file))  # before it ends


def test_two_hosts_that_are_lost_are_told_one_by_one(
    controller: Controller, tmp_path: Path, qtbot: QtBot
) -> None:
    told: list[str] = []
    controller.devices.went.connect(told.append)
    with host_of(tmp_path, "CPU 0", name="lab") as one, host_of(tmp_path, "CPU 0", name="den") as other:
        use_all(controller, qtbot, one, other)
        for host in (one, other):
            host.members(DEVICE)[0].kill()
        qtbot.waitUntil(lambda: len(told) > 1)
        assert controller.devices.lost == " ".join(told)
        assert controller.devices.lost_words == "2 × CPU · lab and den"


def ssh_of(controller: Controller, named: str) -> list[psutil.Process]:
    """The ssh that leads to a host in use."""
    assert controller.devices.place is not None
    assert named in controller.devices.place.ties
    return [one for one in psutil.Process().children() if one.name() == "ssh"]


@pytest.mark.skipif(WITHOUT is not None, reason=str(WITHOUT))
def test_the_ssh_to_a_host_stays_while_others_come_and_go_beside_it_and_ends_when_that_is_left(
    controller: Controller, den: RunningHost, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    devices = controller.devices
    with lab_by_ssh(tmp_path) as far:
        monkeypatch.setenv("PATH", far.path)
        named = f"ssh://lab/{far.checkout}"
        connect(controller, qtbot, den)
        with qtbot.waitSignal(controller.machine_found):
            devices.connect_to(named)
        (alone,) = ssh_of(controller, named)
        both = over_all(controller)
        assert len(both.wanted().hosts) == 2
        with qtbot.waitSignal(devices.ended):
            devices.use(both, repeat=True)
        assert ssh_of(controller, named) == [alone]
        with qtbot.waitSignal(devices.ended):
            devices.leave(str(den.file))
        controller.run(replace(PLAN, protocol=QUICK))
        measured(controller, qtbot)
        assert ssh_of(controller, named) == [alone]
        with qtbot.waitSignal(devices.ended):
            devices.leave(named)
        assert not alone.is_running()


def test_a_host_is_left_by_itself_and_the_other_measures_on(
    controller: Controller, lab: RunningHost, den: RunningHost, qtbot: QtBot
) -> None:
    use_all(controller, qtbot, lab, den)
    devices = controller.devices
    with qtbot.waitSignal(controller.machine_found):
        devices.leave(str(lab.file))
    assert devices.seen.keys() == {str(den.file)}
    assert devices.place is not None
    assert [one.named for one in devices.place.wanted.hosts] == [str(den.file)]
    assert devices.place.device == "CPU 0"
    assert devices.lost == ""
    devices.leave(str(den.file))
    assert controller.devices.place is None
    assert not any(group.host for group in devices.groups)


def test_a_host_that_is_not_in_use_is_left_without_touching_the_one_that_is(
    controller: Controller, lab: RunningHost, den: RunningHost, qtbot: QtBot
) -> None:
    connect(controller, qtbot, lab, den)
    place = controller.devices.place
    controller.devices.leave(str(lab.file))
    assert controller.devices.place is place
    assert controller.devices.seen.keys() == {str(den.file)}


def test_who_has_the_devices_of_a_host_is_asked_anew_once_another_is_connected(
    controller: Controller, lab: RunningHost, den: RunningHost, qtbot: QtBot
) -> None:
    from flashscope.profiles.cluster.client.remote import RemoteEngine  # noqa: PLC0415 - imports Dask

    connect(controller, qtbot, lab)
    with qtbot.waitSignal(controller.devices.ended):  # the device is given back by then
        controller.devices.come_back()
    with closing(RemoteEngine(print, lab.connection, device="CPU 0")):
        connect(controller, qtbot, den)
        qtbot.waitUntil(lambda: holders(controller, lab) == [f"{getuser()}@{gethostname()}"])
        assert holders(controller, den) == [""]
    controller.devices.look_again()
    qtbot.waitUntil(lambda: holders(controller, lab) == [""])
