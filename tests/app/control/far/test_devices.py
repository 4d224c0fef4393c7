"""A window that measures on a host: a real one that lends its CPU, in processes of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.app.control.far import dial
from flashscope.app.control.far.devices import SWEEPS
from flashscope.app.figures.landscapes import maker_in_numpy
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.cluster.connection import ConnectError, connections_dir, write_connection
from flashscope.profiles.cluster.settings import Served
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.remaining import remaining_of
from flashscope.profiles.store import sessions_dir
from flashscope.profiles.wire.events import TelemetryStarted
from tests.app.fakes import PLAN, FakeEngine
from tests.end_to_end.hosts import RunningHost, running_host

pytestmark = pytest.mark.cluster
PATIENCE_MS = 60_000
QUICK = replace(PLAN, kernels=("flash2",), problems=PLAN.problems[:1])
LONG: Plan = replace(PLAN, protocol=replace(PLAN.protocol, repeats=100_000, time_cap_s=600))


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with running_host(tmp_path_factory.mktemp("host")) as running:
        yield running


@pytest.fixture
def controller(qapp: QApplication, qtbot: QtBot) -> Iterator[Controller]:
    made = Controller(FakeEngine, sessions_dir())
    with qtbot.waitSignal(made.machine_found, timeout=PATIENCE_MS):
        made.start()
    yield made
    made.close()


def connect(controller: Controller, named: object, qtbot: QtBot) -> None:
    """Connect, and wait until the machine there has been looked at."""
    with qtbot.waitSignal(controller.machine_found, timeout=PATIENCE_MS):
        controller.devices.connect_to(str(named))


def run_until_a_point_runs(controller: Controller, qtbot: QtBot) -> None:
    controller.run(LONG)
    wait_for_a_running_point(controller, qtbot)


def wait_for_a_running_point(controller: Controller, qtbot: QtBot) -> None:
    def runs() -> bool:
        return controller.sweep is not None and "running" in {one.status for one in controller.sweep.points}

    qtbot.waitUntil(runs, timeout=PATIENCE_MS)


def test_everything_runs_there_once_a_device_is_taken(
    controller: Controller, host: RunningHost, qtbot: QtBot
) -> None:
    told: list[object] = []
    controller.sweep_told.connect(told.extend)
    connect(controller, host.file, qtbot)
    place = controller.devices.place
    assert place is not None
    assert controller.machine is not None
    assert controller.machine.host == place.host
    *connected, devices, named = place.options
    assert connected == ["--connect", str(host.file)]
    assert devices == "--devices"
    assert Served(name=place.device).is_called(named)
    qtbot.waitUntil(lambda: controller.telemetry is not None, timeout=PATIENCE_MS)
    controller.run(QUICK)
    qtbot.waitUntil(lambda: controller.sweep is not None and not controller.measuring, timeout=PATIENCE_MS)
    assert controller.sweep is not None
    assert controller.sweep.outcome == "finished"
    assert controller.provenance.badge.endswith(f"· {place.host}")
    assert any(isinstance(one, TelemetryStarted) for one in told)


@pytest.mark.matrix
def test_cuts_are_timed_there_and_given_up_where_another_device_is_taken(
    controller: Controller, host: RunningHost, qtbot: QtBot
) -> None:
    asked = maker_in_numpy(Problem(seqlen_q=64, seqlen_k=64, head_dim=16)).asked
    connect(controller, host.file, qtbot)
    with qtbot.waitSignal(controller.cuts.done, timeout=PATIENCE_MS) as done:
        controller.cuts.ask(asked)
    request, ended = done.args
    assert request is asked
    assert ended.device.name
    controller.cuts.ask(asked)
    with qtbot.waitSignal(controller.machine_found, timeout=PATIENCE_MS):
        controller.devices.come_back()
    assert controller.cuts.asked is None


def test_the_engine_before_says_nothing_any_more_and_is_ended(host: RunningHost, qtbot: QtBot) -> None:
    engines: list[FakeEngine] = []

    def make(sink: object) -> FakeEngine:
        engines.append(FakeEngine(sink))  # type: ignore[arg-type]
        return engines[-1]

    controller = Controller(make, sessions_dir())
    try:
        controller.start()
        qtbot.waitUntil(lambda: controller.machine is not None, timeout=PATIENCE_MS)
        connect(controller, host.file, qtbot)
        there = controller.machine
        engines[0].probe()
        qtbot.waitUntil(lambda: engines[0].closed == 1, timeout=PATIENCE_MS)
        controller.devices.come_back()
        qtbot.waitUntil(lambda: controller.machine not in (None, there), timeout=PATIENCE_MS)
        assert controller.machine == engines[1].machine
        assert controller.devices.seen[str(host.file)][0].told.holder == ""
    finally:
        controller.close()
    assert engines[1].closed == 1


def test_a_device_that_others_have_is_told_with_who_has_it(
    controller: Controller, host: RunningHost, qtbot: QtBot
) -> None:
    connect(controller, host.file, qtbot)
    other = Controller(FakeEngine, sessions_dir())
    try:
        with qtbot.waitSignal(other.devices.failed, timeout=PATIENCE_MS) as failed:
            other.devices.connect_to(str(host.file))
        assert "the CPU is held by " in failed.args[0]
        assert other.devices.place is None
    finally:
        other.close()


def test_a_host_that_is_named_by_its_address_after_its_file_is_listed_once_and_left_when_it_is_not_in_use(
    controller: Controller, host: RunningHost, qtbot: QtBot
) -> None:
    devices, address = controller.devices, host.connection.address
    connect(controller, host.file, qtbot)
    with qtbot.waitSignal(devices.ended, timeout=PATIENCE_MS):  # the device is given back by then
        devices.come_back()
    write_connection(host.connection, connections_dir() / "lab.connection")
    connect(controller, address, qtbot)
    assert devices.seen.keys() == {address}
    with qtbot.waitSignal(controller.machine_found, timeout=PATIENCE_MS):
        devices.come_back()
    here = controller.machine
    devices.leave(address)
    assert not devices.seen
    assert (devices.place, controller.machine) == (None, here)


def test_what_is_named_wrongly_is_told_and_what_is_in_use_stays(
    controller: Controller, tmp_path: Path, qtbot: QtBot
) -> None:
    machine = controller.machine
    with qtbot.waitSignal(controller.devices.failed, timeout=PATIENCE_MS) as failed:
        controller.devices.connect_to(str(tmp_path / "nothing.connection"))
    assert "cannot be read" in failed.args[0]
    assert controller.devices.dialling == ""
    assert controller.machine is machine


def test_a_missing_package_is_told_with_the_command_that_installs_it(
    controller: Controller, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise ConnectError('Connecting needs distributed: pip install ".[cluster]"')

    monkeypatch.setattr(dial, "remote_engine", missing)
    with qtbot.waitSignal(controller.devices.failed, timeout=PATIENCE_MS) as failed:
        controller.devices.connect_to("tls://nowhere:1")
    assert "[cluster]" in failed.args[0]


def test_cancelling_ends_an_ssh_that_never_answers(
    controller: Controller, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh, begun, gone = (tmp_path / name for name in ("ssh", "begun", "gone"))
    ssh.write_text(f"#!/bin/sh\ntrap 'touch {gone}; exit' TERM\ntouch {begun}\nwhile :; do sleep 0.1; done\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    failures: list[str] = []
    controller.devices.failed.connect(failures.append)
    controller.devices.connect_to("ssh://lab/x")
    qtbot.waitUntil(begun.exists, timeout=PATIENCE_MS)
    controller.devices.cancel()
    assert controller.devices.dialling == ""
    qtbot.waitUntil(gone.exists, timeout=PATIENCE_MS)
    controller.devices.close()
    assert failures == []


@pytest.mark.matrix  # it takes a second or more
def test_the_device_stays_while_a_sweep_runs(controller: Controller, host: RunningHost, qtbot: QtBot) -> None:
    controller.run(LONG)
    with qtbot.waitSignal(controller.devices.failed, timeout=PATIENCE_MS) as failed:
        controller.devices.connect_to(str(host.file))
    assert failed.args == [SWEEPS]


@pytest.mark.matrix
def test_a_dead_host_fails_the_point_in_flight_and_a_fresh_one_goes_on_with_the_sweep(
    controller: Controller, tmp_path: Path, qtbot: QtBot
) -> None:
    devices = controller.devices
    with running_host(tmp_path) as dying:
        connect(controller, dying.file, qtbot)
        run_until_a_point_runs(controller, qtbot)
        everything = dying.everything()
        with qtbot.waitSignal(devices.went, timeout=PATIENCE_MS) as went:
            for one in everything:
                one.kill()
        assert not controller.measuring
        assert controller.sweep is not None
        assert {one.reason for one in controller.sweep.points if one.status == "failed"} == {went.args[0]}
        assert devices.lost == went.args[0]
    with running_host(tmp_path) as fresh:
        write_connection(fresh.connection, dying.file)
        with qtbot.waitSignal(controller.machine_found, timeout=PATIENCE_MS):
            devices.reconnect()
        assert devices.lost == ""
        session = controller.session
        assert session is not None
        controller.resume(remaining_of(session))
        wait_for_a_running_point(controller, qtbot)
        assert controller.session is session
