"""What the Timeline page writes: every bar as a line, a picture with what the clocks cost, a trace."""

import csv
import json
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from flashscope.app.pages.timeline import TimelinePage
from flashscope.app.pages.timeline.exporting import perfetto_of
from flashscope.app.plots.export.contents import csv_text
from flashscope.profiles.wire.events import TimelineReady
from tests.app.rig import Rig
from tests.app.timelines import made_timeline


def two(rig: Rig, qtbot: QtBot) -> TimelinePage:
    """The page with flash1 above flash2."""
    window = rig.window()
    window.show_page("timeline")
    page = window.pages["timeline"]
    assert isinstance(page, TimelinePage)
    assert page.make_export() is None
    rig.engine.say([TimelineReady(timeline=made_timeline(kernel)) for kernel in ("flash1", "flash2")])
    qtbot.waitUntil(lambda: [card.kernel for card in page.shown] == ["flash1", "flash2"])
    return page


def test_the_numbers_are_a_line_for_each_bar_under_what_recorded_them(rig: Rig, qtbot: QtBot) -> None:
    export = two(rig, qtbot).make_export()
    assert export is not None
    lines = csv_text(export).splitlines()
    head = [line for line in lines if line.startswith("#")]
    assert "# device: A made-up device" in head
    assert any("timeline 2: flash2: quickest of 3 runs · build with clocks" in line for line in head)
    told = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert len(told) == 2 * len(made_timeline().stage.numpy())
    assert told[1] == {
        "kernel": "flash1",
        "row": "thread 0",
        "lane": "Python",
        "stage": "QKᵀ",
        "head": "0",
        "i": "0",
        "j": "0",
        "begin_ns": "250",
        "end_ns": "500",
    }


@pytest.mark.matrix
def test_a_picture_has_both_timelines_under_their_sentence(rig: Rig, qtbot: QtBot, tmp_path: Path) -> None:
    page = two(rig, qtbot)
    with qtbot.waitSignal(page.export_button.exporter.done):
        page.export_button.exporter.save("png", tmp_path / "both.png")
    assert not QImage(str(tmp_path / "both.png")).isNull()
    export = page.make_export()
    assert export is not None
    assert export.headline == page.headline.text()
    assert len(export.plots) == len(export.heads) == 2


def test_a_trace_for_perfetto_is_written_and_the_user_told(rig: Rig, qtbot: QtBot, tmp_path: Path) -> None:
    page = two(rig, qtbot)
    told: list[str] = []
    page.noticed.connect(told.append)
    page.writer.write(tmp_path / "a", lambda: perfetto_of(page.lineup.drawn))
    qtbot.waitUntil(lambda: bool(told))
    assert told == ["Wrote a.trace.json: open it at ui.perfetto.dev."]
    document = json.loads((tmp_path / "a.trace.json").read_text(encoding="utf-8"))
    assert {event["pid"] for event in document["traceEvents"]} == {1, 2}


@pytest.mark.matrix
def test_a_trace_that_cannot_be_written_says_why(rig: Rig, qtbot: QtBot, tmp_path: Path) -> None:
    page = two(rig, qtbot)
    errors: list[str] = []
    rig.controller.error_raised.connect(lambda text, _details: errors.append(text))
    page.writer.write(tmp_path / "no such folder" / "a", lambda: b"")
    qtbot.waitUntil(lambda: bool(errors))
    assert "No such file or directory; check the name." in errors[0]
