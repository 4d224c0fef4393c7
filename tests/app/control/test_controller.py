import sqlite3
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.engine.contract import Sink
from flashscope.profiles.store import Recorder, load, opening, sessions_dir
from flashscope.profiles.wire.events import (
    Event,
    LogLine,
    PlanFinished,
    PlanStarted,
    PointMeasured,
    RequestFailed,
)
from tests.app.fakes import GPU_MACHINE, PLAN, FakeEngine, reading, sweep
from tests.app.rig import Rig, Save


def run_whole(rig: Rig, events: list[Event] | None = None) -> None:
    rig.controller.run(PLAN)
    rig.say(events or sweep())


def test_a_sweep_is_shown_and_recorded_as_it_runs(rig: Rig) -> None:
    run_whole(rig)
    rig.controller.close()
    shown = rig.controller.session
    assert shown is not None
    assert rig.controller.path is not None
    saved = load(rig.controller.path)
    assert [p.measurement for p in saved.points] == [p.measurement for p in shown.points]
    assert saved.outcome == shown.outcome == "finished"
    assert len(saved.readings) == len(shown.readings) > 0


def test_the_telemetry_that_a_sweep_starts_with_belongs_to_its_session_and_its_file(
    rig: Rig, qtbot: QtBot
) -> None:
    rig.controller.start()
    qtbot.waitUntil(lambda: rig.controller.telemetry is not None)
    opening, *events = sweep()
    assert isinstance(opening, PlanStarted)
    rig.controller.run(PLAN)
    rig.say([replace(opening, telemetry=rig.controller.telemetry), *events])
    rig.controller.close()
    assert rig.controller.session is not None
    assert rig.controller.session.telemetry == rig.controller.telemetry
    assert rig.controller.path is not None
    assert load(rig.controller.path).telemetry == rig.controller.telemetry


def test_readings_outside_a_sweep_are_kept_and_change_no_session(rig: Rig) -> None:
    run_whole(rig)
    session = rig.controller.session
    assert session is not None
    before = len(session.readings)
    rig.say([reading(99)])
    assert len(session.readings) == before
    assert rig.controller.live_readings[-1] == reading(99).readings[0]


def test_a_saved_session_on_show_is_not_mixed_with_the_telemetry_of_this_machine(
    rig: Rig, save: Save
) -> None:
    rig.open(save(sweep(), "old"))
    arrived: list[Event] = []
    rig.controller.events_arrived.connect(arrived.extend)
    rig.say([reading(99), LogLine(source="worker", text="hello")])
    assert [type(event) for event in arrived] == [LogLine]
    assert rig.controller.live_readings[-1] == reading(99).readings[0]


def test_the_first_probe_chooses_the_gpu_when_there_is_one(rig: Rig, qtbot: QtBot) -> None:
    rig.engine.machine = GPU_MACHINE
    with qtbot.waitSignal(rig.controller.machine_found):
        rig.controller.start()
    assert rig.controller.backend == "cuda"
    assert rig.engine.watched == ["cuda"]


def test_a_backend_that_was_chosen_survives_a_late_probe(rig: Rig, qtbot: QtBot) -> None:
    rig.engine.machine = GPU_MACHINE
    rig.controller.choose_backend("cpu")
    with qtbot.waitSignal(rig.controller.machine_found):
        rig.controller.start()
    assert rig.controller.backend == "cpu"


def test_a_sweep_that_cannot_wait_is_refused_in_words_while_another_runs(rig: Rig, qtbot: QtBot) -> None:
    rig.controller.run(PLAN)
    with qtbot.waitSignal(rig.controller.error_raised) as refused:
        rig.controller.run_now(PLAN)
    assert "running already" in refused.args[0]
    assert len(rig.engine.plans) == 1


def test_a_busy_engine_leaves_nothing_running(rig: Rig, qtbot: QtBot) -> None:
    rig.engine.busy = True
    with qtbot.waitSignal(rig.controller.error_raised) as refused:
        rig.controller.run(PLAN)
    assert "did not start" in refused.args[0]
    assert not rig.controller.running


def test_cancelling_asks_the_engine_and_keeps_the_points(rig: Rig, qtbot: QtBot) -> None:
    rig.controller.run(PLAN)
    rig.say(sweep(points=2))
    rig.controller.cancel()
    assert rig.engine.cancelled == 1
    with qtbot.waitSignal(rig.controller.running_changed):
        rig.engine.say([PlanFinished(t_ns=9, outcome="cancelled")])
    assert rig.controller.session is not None
    assert rig.controller.session.ended_points == 2


def test_a_file_that_is_not_a_session_leaves_the_one_on_show(rig: Rig, save: Save, qtbot: QtBot) -> None:
    rig.open(save(sweep(), "good"))
    shown = rig.controller.session
    bad = sessions_dir() / "bad.flashscope"
    bad.write_bytes(b"not a database")
    with qtbot.waitSignal(rig.controller.error_raised) as refused:
        rig.controller.open_session(bad)
    assert "bad.flashscope" in refused.args[0]
    assert "Traceback" not in refused.args[0]
    assert rig.controller.session is shown


def test_a_replay_plays_the_session_and_shows_it_whole_again(rig: Rig, save: Save) -> None:
    rig.open(save(sweep(), "good"))
    seen: list[Event] = []
    rig.controller.events_arrived.connect(seen.extend)
    badges: list[str] = []
    rig.controller.session_changed.connect(lambda _s: badges.append(rig.controller.provenance.badge))
    rig.controller.replay(10.0)
    assert rig.controller.replaying
    rig.pass_time(0.3)
    rig.pass_time(60)
    assert not rig.controller.running
    assert sum(isinstance(event, PointMeasured) for event in seen) == len(PLAN.points())
    assert [badge.split()[0] for badge in badges] == ["REPLAY", "SAVED"]
    assert rig.controller.session is not None
    assert rig.controller.session.outcome == "finished"


def test_a_cancelled_replay_shows_its_session_whole_again(rig: Rig, save: Save) -> None:
    rig.open(save(sweep(), "good"))
    whole = rig.controller.session
    rig.controller.replay(0.5)
    assert rig.controller.session is not whole
    rig.controller.cancel()
    assert rig.controller.session is whole
    assert not rig.controller.running


def test_a_trace_is_asked_of_the_engine(rig: Rig) -> None:
    request = TraceRequest(problem=Problem(seqlen_q=4, seqlen_k=4, head_dim=16))
    rig.controller.request_trace(request)
    assert rig.engine.traces == [request]


def test_a_failed_request_is_told(rig: Rig, qtbot: QtBot) -> None:
    with qtbot.waitSignal(rig.controller.error_raised) as told:
        rig.engine.say([RequestFailed(request="trace", reason="No tile fits.", detail="log")])
    assert told.args == ["No tile fits.", "log"]


def unsaved(rig: Rig) -> bool:
    return rig.controller.path is None


class Disk:
    """The disk under the recorder, full until it is freed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = True
        self._connect = opening.connect
        monkeypatch.setattr("flashscope.profiles.store.writer.connect", self._connected)

    def _connected(self, path: Path, mode: str) -> sqlite3.Connection:
        if self.full:
            raise sqlite3.OperationalError("database or disk is full")
        return self._connect(path, mode)


def test_a_full_disk_is_reported_once_and_the_file_made_when_there_is_room(
    rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    told: list[str] = []
    rig.controller.error_raised.connect(lambda text, _details: told.append(text))
    rig.controller.run(PLAN)
    events = sweep()
    rig.say(events[:6])
    qtbot.waitUntil(lambda: bool(told), timeout=60_000)
    assert unsaved(rig)
    disk.full = False
    with qtbot.waitSignal(rig.controller.path_found, timeout=60_000):
        rig.say(events[6:])
    rig.controller.close()
    assert len(told) == 1
    assert "the disk is full" in told[0]
    assert rig.controller.path is not None
    assert {point.status for point in load(rig.controller.path).points} == {"done"}


def test_what_cannot_be_saved_at_all_is_told_before_the_window_has_gone(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    Disk(monkeypatch)
    told: list[str] = []
    rig.controller.error_raised.connect(lambda text, _details: told.append(text))
    rig.controller.run(PLAN)
    rig.engine.say(sweep())
    rig.controller.close()
    assert unsaved(rig)
    assert len(told) == 1
    assert "the disk is full" in told[0]


def test_two_windows_that_start_within_a_second_record_in_two_files(qtbot: QtBot, qapp: object) -> None:
    rigs = [Rig(qtbot), Rig(qtbot)]
    for rig in rigs:
        rig.controller.run(PLAN)
        rig.engine.say(sweep())
    for rig in rigs:
        rig.controller.close()
    paths = {rig.controller.path for rig in rigs}
    assert len(paths) == 2
    assert [load(path).outcome for path in paths if path] == ["finished"] * 2


def test_a_file_that_cannot_be_created_is_told_at_once_with_a_remedy(
    qtbot: QtBot, qapp: object, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    made: list[FakeEngine] = []

    def make(sink: Sink) -> FakeEngine:
        made.append(FakeEngine(sink))
        return made[0]

    controller = Controller(make, tmp_path / "file" / "sessions")
    told: list[str] = []
    controller.error_raised.connect(lambda text, _details: told.append(text))
    controller.run(PLAN)
    made[0].say(sweep()[:2])
    qtbot.waitUntil(lambda: bool(told), timeout=60_000)
    controller.close()
    assert str(tmp_path / "file" / "sessions") in told[0]
    assert "choose another place" in told[0]
    assert "The sweep goes on" in told[0]


def test_a_slow_disk_does_not_hold_the_window_up(qtbot: QtBot, qapp: object) -> None:
    release = threading.Event()

    class SlowDisk(Recorder):
        def record(self, event: Event) -> None:
            release.wait(10)
            super().record(event)

    made: list[FakeEngine] = []

    def make(sink: Sink) -> FakeEngine:
        made.append(FakeEngine(sink))
        return made[0]

    controller = Controller(make, sessions_dir(), SlowDisk)
    controller.run(PLAN)
    made[0].say(sweep())
    qtbot.waitUntil(lambda: not controller.running, timeout=60_000)
    assert not release.is_set()
    release.set()
    controller.close()


def test_closing_twice_closes_the_engine_once(rig: Rig) -> None:
    rig.controller.close()
    rig.controller.close()
    assert rig.engine.closed == 1


def test_closing_in_the_middle_of_a_sweep_keeps_what_was_measured(rig: Rig) -> None:
    rig.controller.run(PLAN)
    rig.engine.say(sweep(points=3))
    rig.controller.close()
    assert rig.controller.path is not None
    statuses = [point.status for point in load(rig.controller.path).points]
    assert statuses.count("done") == 3
