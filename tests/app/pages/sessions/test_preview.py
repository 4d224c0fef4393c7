"""The curves and words of a session that is chosen, before it is opened."""

import sqlite3
from contextlib import closing

from pytestqt.qtbot import QtBot

from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.profiles.store import Recorder, sessions_dir
from flashscope.profiles.wire.events import PointStarted
from tests.app.fakes import SECOND, sweep
from tests.app.pages.sessions.conftest import choose, fill, listed
from tests.app.rig import Save


def test_the_preview_shows_curves_and_words_without_opening_the_session(
    page: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    assert page.preview.name.text() == "one"
    assert page.preview.facts["Points"].text() == "6 done"
    qtbot.waitUntil(lambda: set(page.preview.thumbnail._curves) == {"standard", "flash2"})
    assert [n for n, _ms in page.preview.thumbnail._curves["flash2"]] == [256, 512, 1024]
    assert page.controller.session is None


def test_the_preview_counts_altered_points_and_does_not_draw_them(
    page: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    with closing(sqlite3.connect(save(sweep(), "one"), isolation_level=None)) as connection:
        connection.execute("UPDATE samples SET ms = ms / 2 WHERE point < 2")
    listed(page, qtbot, 1)
    choose(page, "one")
    qtbot.waitUntil(lambda: page.preview.facts["Altered"].text().endswith("not as measured: 2"))
    assert page.preview.thumbnail.accessibleName().endswith("; 2 altered")
    assert sum(map(len, page.preview.thumbnail._curves.values())) == 4


def test_a_preview_calls_nothing_running_that_nobody_records(page: SessionsPage, qtbot: QtBot) -> None:
    recorder = Recorder(sessions_dir() / "one.flashscope")
    for event in [*sweep(points=1), PointStarted(index=1, t_ns=9 * SECOND)]:
        recorder.record(event)
    points = page.preview.facts["Points"]
    listed(page, qtbot, 1)
    choose(page, "one")
    qtbot.waitUntil(lambda: bool(page.preview.facts["Problem"].text()))
    assert "1 running" in points.text()
    recorder.close()
    page.preview.show_rows(page.chosen_rows())
    qtbot.waitUntil(lambda: "1 interrupted" in points.text())
    assert "running" not in points.text()
