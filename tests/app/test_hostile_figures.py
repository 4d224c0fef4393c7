"""A session file whose values are possible but absurd is shown all the same, by the window and as text."""

import shutil
import sqlite3
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.commands import show
from app.control.bundled import bundled_sessions
from app.report.documents import WRITERS, document
from app.words.provenance import of_session
from profiles.store import CorruptFileError, list_sessions, load
from tests.app.profile.conftest import Bench, bench
from tests.app.shell.conftest import Rig, rig
from tests.matrix import chosen

__all__ = ["bench", "rig"]

ABSURD = {
    "a figure that is NaN": "UPDATE figures SET value = 'NaN' WHERE key = 'input_bytes'",
    "an infinite figure": "UPDATE figures SET value = 9e999 WHERE key = 'input_bytes'",
    "a sum beyond all numbers": "UPDATE figures SET value = 1e308",
    "negative bytes": "UPDATE figures SET value = -5",
    "samples of no time": "UPDATE samples SET ms = 0",
    "samples that last for ever": "UPDATE samples SET ms = 9e999",
    "samples that are NaN": "UPDATE samples SET ms = 'NaN'",
    "a clock without end": "UPDATE samples SET sm_clock_mhz = 9e999",
    "infinite errors": "UPDATE errors SET error = 9e999",
    "bounds of 0": "UPDATE errors SET bound = 0",
    "endless utilisation": "UPDATE readings SET utilisation = 9e999",
    "endless power": "UPDATE readings SET power_w = 9e999",
    "power next to the largest number": "UPDATE readings SET power_w = 1.797e308",
    "a start before all clocks": "UPDATE session SET started_at = '0001-01-01T00:00:00'",
}
DEEP = "[" * 60_000 + "]" * 60_000


def tampered(folder: Path, statement: str, *values: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = Path(shutil.copy(bundled_sessions()[0], folder / "absurd.flashscope"))
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(statement, values)
    connection.close()
    return path


@pytest.fixture(params=list(ABSURD))
def absurd(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tampered(tmp_path, ABSURD[request.param])


def test_it_is_printed_in_every_form(absurd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = load(absurd).plan.kernels[0]
    for as_json, as_csv, against in ((False, False, None), (True, False, None), (False, True, None)):
        assert show.run(absurd, as_json=as_json, as_csv=as_csv, against=against) == 0
    assert show.run(absurd, as_json=False, as_csv=False, against=(kernel,)) == 0
    assert capsys.readouterr().out


@chosen("kind", WRITERS, [*WRITERS][:1])
def test_it_is_exported_in_every_format(absurd: Path, kind: str) -> None:
    session = load(absurd)
    assert document(kind, session, None, of_session(session, "saved"))


@chosen(
    "what",
    ABSURD,
    {
        "a figure that is NaN",
        "power next to the largest number",
        "a start before all clocks",
    },
)
def test_it_is_drawn_and_listed(what: str, tmp_path: Path, bench: Bench) -> None:
    absurd = tampered(tmp_path / "absurd", ABSURD[what])
    bench.controller._shown.session = load(absurd)
    bench.page.show_session(bench.controller.session)
    bench.drawn()
    bench.page.grab()
    assert bench.page._staged.idle
    assert len(list_sessions(absurd.parent)) == 1


def test_values_nested_without_end_are_refused_with_a_sentence_also_by_the_window(
    tmp_path: Path, rig: Rig, qtbot: QtBot
) -> None:
    nested = "substr(machine, 1, length(machine) - 1) || ',\"zz\":' || ? || '}'"
    path = tampered(tmp_path, f"UPDATE session SET machine = {nested}", DEEP)  # noqa: S608 - constants
    with pytest.raises(CorruptFileError, match="no session holds"):
        load(path)
    with qtbot.waitSignal(rig.controller.error_raised, timeout=60_000) as raised:
        rig.controller.open_session(path)
    assert "no session holds" in raised.args[0]
