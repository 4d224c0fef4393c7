"""Opening a session with many readings: shown at once, and whole in the end."""

import sqlite3
from pathlib import Path

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from flashscope.app.figures.ring import ReadingRing
from flashscope.app.pages.profile import ProfilePage
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import Recorder, load, sessions_dir
from flashscope.profiles.wire.events import PlanFinished, Reading, Readings
from tests.app.fakes import MS, sweep
from tests.app.rig import Rig, Save

MANY = 120_000


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    readings = tuple(Reading(t_ns=k * MS, power_w=float(k)) for k in range(MANY))
    *_, ending = sweep()
    assert isinstance(ending, PlanFinished)
    recorder = Recorder(tmp_path_factory.mktemp("opening") / "long.flashscope")
    for event in (*sweep(points=1), Readings(readings=readings), replace(ending, t_ns=MANY * MS)):
        recorder.record(event)
    recorder.close()
    return recorder.path


@pytest.fixture
def long_recording(recorded: Path) -> Path:
    copy = sessions_dir() / recorded.name
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(recorded.read_bytes())
    return copy


@pytest.mark.matrix
def test_a_session_is_on_show_before_its_readings_and_gets_all_of_them(
    rig: Rig, qtbot: QtBot, long_recording: Path
) -> None:
    counts: list[int] = []
    rig.controller.session_changed.connect(lambda session: counts.append(len(session.readings)))
    rig.begin_to_open(long_recording)
    whole = load(long_recording).readings
    qtbot.waitUntil(lambda: len(shown(rig).readings) == len(whole))
    assert counts == [0]
    assert shown(rig).readings == whole


@pytest.mark.matrix  # it takes seconds
def test_the_telemetry_of_a_long_session_is_drawn_whole_in_small_steps(
    rig: Rig, qtbot: QtBot, long_recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    extend = ReadingRing.extend

    def counting(ring: ReadingRing, readings: list[Reading]) -> None:
        sizes.append(len(readings))
        extend(ring, readings)

    monkeypatch.setattr(ReadingRing, "extend", counting)
    window = rig.window()
    window.show_page("telemetry")
    page = window.page
    assert isinstance(page, ProfilePage)
    rig.begin_to_open(long_recording)
    strip = page.bottom.strip
    qtbot.waitUntil(lambda: strip.ring.latest("power_w") == MANY - 1)
    qtbot.waitUntil(lambda: page._turns.idle)
    assert max(sizes) <= 2000
    times, _ = strip.lanes["power_w"].curve.getData()
    assert times[0] < 1 < MANY / 1000 - 1 < times[-1]


@pytest.mark.matrix
def test_a_replay_asked_for_meanwhile_begins_when_all_has_been_read(
    rig: Rig, qtbot: QtBot, long_recording: Path
) -> None:
    rig.begin_to_open(long_recording)
    rig.controller.replay(50.0)
    qtbot.waitUntil(lambda: rig.controller.replaying)
    playing = shown(rig)
    assert len(playing.readings) < MANY
    rig.pass_time(MANY / 1000)
    assert not rig.controller.replaying
    assert playing.readings == shown(rig).readings
    assert len(playing.readings) > MANY


@pytest.mark.matrix
def test_readings_that_end_in_nonsense_are_told_and_leave_the_points_on_show(
    rig: Rig, qtbot: QtBot, long_recording: Path
) -> None:
    with sqlite3.connect(long_recording) as connection:
        connection.execute("UPDATE readings SET power_w = 'much' WHERE n = (SELECT max(n) FROM readings)")
        connection.execute("UPDATE batches SET digest = ''")  # as of a file from before there were digests
    connection.close()
    told: list[str] = []
    rig.controller.error_raised.connect(lambda text, _details: told.append(text))
    rig.begin_to_open(long_recording)
    qtbot.waitUntil(lambda: bool(told))
    assert "its telemetry cannot be read whole" in told[0]
    assert shown(rig).ended_points == 1


@pytest.mark.matrix
def test_altered_readings_are_left_out_of_what_is_shown_and_told(
    rig: Rig, qtbot: QtBot, long_recording: Path
) -> None:
    with sqlite3.connect(long_recording) as connection:
        connection.execute("UPDATE readings SET power_w = 1e6 WHERE n = 2")
    connection.close()
    told: list[str] = []
    rig.controller.error_raised.connect(lambda text, _details: told.append(text))
    rig.begin_to_open(long_recording)
    qtbot.waitUntil(lambda: bool(told))
    assert told[0].endswith("was altered since it was recorded; left out: 1000 readings.")
    assert len(shown(rig).readings) == len(load(long_recording).readings) == MANY + 1 - 1000
    assert shown(rig).altered == "1000 readings"


@pytest.mark.matrix  # it takes a second or more
def test_a_file_asked_for_later_ends_the_reading_of_the_first(
    rig: Rig, qtbot: QtBot, long_recording: Path, save: Save
) -> None:
    later = save(sweep(), "later")
    rig.begin_to_open(long_recording)
    first = shown(rig)
    rig.open(later)
    rig.controller._shown._opener._chores.wait()
    assert len(first.readings) < MANY
    assert rig.controller.path == later


def shown(rig: Rig) -> Session:
    assert rig.controller.session is not None
    return rig.controller.session
