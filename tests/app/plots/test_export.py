"""Plots as files."""

import csv
import io
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QFileDialog

from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.pages.profile.four_plots import CELLS
from flashscope.app.plots.export import exporter
from flashscope.app.plots.export import picture as export_picture
from flashscope.app.plots.export.contents import GUTTER, LINE, MOST_GUTTER, PAD, csv_text
from flashscope.profiles.results.formats.export import to_csv
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.quantities.quantity import value_of
from flashscope.profiles.results.quantities.registry import RUNTIME
from flashscope.profiles.store import write_atomically
from flashscope.profiles.wire.events import Reading
from tests.app.bench import Bench, copy, end_saving, save
from tests.app.pixels import pixels
from tests.matrix import chosen
from tests.profiles.sessions import make_plan, script, session_of

EVENTS = script(
    make_plan(("standard", "flash2"), (512, 1024)),
    {("standard", 1024): ("oom", "Memory is full,\nchoose a shorter sequence.")},
)
SVG = "{http://www.w3.org/2000/svg}"


def _show(bench: Bench) -> None:
    bench.controller._shown._show(session_of(EVENTS), "saved", None)


@pytest.mark.matrix
@chosen("key", [quantity.key for quantity in CELLS], {"speed-up"})
def test_every_plot_writes_png_svg_and_csv_that_name_their_source(
    bench: Bench, key: str, tmp_path: Path
) -> None:
    _show(bench)
    button = bench.page.plots.cards[key].export_button
    for kind in ("png", "svg", "csv"):
        save(button, kind, tmp_path / f"plot.{kind}")
    picture = QImage(str(tmp_path / "plot.png"))
    assert picture.width() > 300
    assert "NVIDIA H200" in picture.text("device")
    drawing = ET.parse(tmp_path / "plot.svg").getroot()  # noqa: S314 - written two lines above
    assert drawing.find(f".//{SVG}path") is not None
    assert not drawing.findall(f".//{SVG}image"), "a bitmap in a vector file"
    assert "NVIDIA H200" in "".join(drawing.itertext())
    assert "# device: NVIDIA H200" in (tmp_path / "plot.csv").read_text(encoding="utf-8")


@pytest.mark.matrix
@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_picture_shows_the_curves_where_the_plot_is(bench: Bench, kind: str, tmp_path: Path) -> None:
    _show(bench)
    card = bench.page.plots.cards["footprint"]
    path = tmp_path / f"plot.{kind}"
    save(card.export_button, kind, path)
    export = card.make_export()
    assert export is not None
    picture = QImage(export.size * 2, QImage.Format.Format_ARGB32)
    painter = QPainter(picture)
    if kind == "svg":
        QSvgRenderer(str(path)).render(painter)
    else:
        painter.drawImage(picture.rect(), QImage(str(path)))
    painter.end()
    for kernel, least in (
        ("standard", 8),
        ("flash2", picture.width() // 4),
    ):  # standard has one point, no line
        assert _columns_with(picture, kernel_mark(kernel).colour) > least


def _columns_with(picture: QImage, colour: str) -> int:
    """How many columns below title and legend hold a colour."""
    wanted, top = QColor(colour).rgb(), 2 * (PAD + 2 * LINE)
    return int((pixels(picture)[top:] == wanted).any(axis=0).sum())


def test_the_csv_holds_the_rows_values_and_leaves_absent_cells_empty(bench: Bench) -> None:
    _show(bench)
    export = bench.page.plots.cards["runtime"].make_export()
    assert export is not None
    text = csv_text(export)
    body = [line for line in text.splitlines() if not line.startswith("#")]
    table = list(csv.DictReader(io.StringIO("\n".join(body))))
    session = bench.controller.session
    assert session is not None
    for cells, row in zip(table, rows(session), strict=False):
        shown = cells["runtime_ms"]
        assert (float(shown) if shown else None) == value_of(RUNTIME, row)
        assert cells["status"] == row.status


@pytest.mark.matrix
def test_the_telemetry_exports_every_reading(bench: Bench, tmp_path: Path) -> None:
    _show(bench)
    button = bench.page.bottom.export_button
    for kind in ("png", "svg", "csv"):
        save(button, kind, tmp_path / f"telemetry.{kind}")
        assert (tmp_path / f"telemetry.{kind}").stat().st_size > 0
    lines = (tmp_path / "telemetry.csv").read_text(encoding="utf-8").splitlines()
    session = bench.controller.session
    assert session is not None
    assert len([line for line in lines if not line.startswith("#")]) == 1 + len(session.readings)


@pytest.mark.matrix
@chosen("kind", ["png", "svg"], {"png"})
def test_between_two_plots_of_a_picture_the_event_loop_has_its_turn(
    bench: Bench, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _show(bench)
    painted, paint = [0], export_picture._paint_plot

    def counting(*arguments: Any) -> None:
        painted[-1] += 1
        paint(*arguments)

    monkeypatch.setattr(export_picture, "_paint_plot", counting)
    button = bench.page.bottom.export_button
    beat = QTimer(button, interval=0)
    beat.timeout.connect(lambda: painted.append(0))
    beat.start()
    with bench.qtbot.waitSignal(button.exporter.done):
        button.exporter.save(kind, tmp_path / f"telemetry.{kind}")
    assert max(painted) == 1
    assert sum(painted) == len(bench.page.bottom.make_export().plots)


def test_a_picture_goes_to_the_clipboard(bench: Bench) -> None:
    _show(bench)
    copy(bench.page.plots.cards["footprint"].export_button)
    assert not QGuiApplication.clipboard().image().isNull()


@pytest.mark.matrix
@pytest.mark.qt_log_ignore("could not open output device", r"QPainter::begin\(\): Returned false")
@pytest.mark.parametrize("kind", ["png", "svg", "csv"])
def test_a_folder_that_cannot_be_written_is_told_and_not_traced(
    bench: Bench, kind: str, tmp_path: Path
) -> None:
    _show(bench)
    button = bench.page.plots.cards["footprint"].export_button
    with bench.qtbot.waitSignal(bench.controller.error_raised) as raised:
        button.exporter.save(kind, tmp_path / "missing" / f"plot.{kind}")
    assert raised.args[0].endswith("cannot be used: No such file or directory; check the name.")


@pytest.mark.matrix
@chosen("kind", ["png", "svg", "csv"], {"csv"})
def test_a_name_keeps_its_dots_and_a_file_that_nobody_chose_is_not_written_over(
    bench: Bench, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _show(bench)
    button = bench.page.plots.cards["footprint"].export_button
    mine, beside = tmp_path / f"run-0.{kind}", tmp_path / f"run-0.5.{kind}"
    mine.write_text("mine")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "run-0.5"), ""))
    button.exporter._ask(kind)
    end_saving(button)
    assert mine.read_text() == "mine"
    written = beside.read_bytes()
    assert written
    with bench.qtbot.waitSignal(bench.controller.error_raised) as raised:
        button.exporter._ask(kind)
    assert "exists already" in raised.args[0]
    assert beside.read_bytes() == written


@pytest.mark.matrix
@chosen("kind", ["png", "svg", "csv"], {"png"})
def test_the_page_goes_on_while_a_plot_is_written(
    bench: Bench, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _show(bench)
    button, let = bench.page.plots.cards["footprint"].export_button, threading.Event()
    told: list[str] = []
    button.exporter.done.connect(told.append)

    def late(target: Path, content: bytes, *, replace: bool) -> None:
        let.wait(5)
        write_atomically(target, content, replace=replace)

    monkeypatch.setattr(exporter, "write_atomically", late)
    path = tmp_path / f"plot.{kind}"
    button.exporter.save(kind, path)
    QCoreApplication.processEvents()
    assert not path.exists()
    assert not told
    let.set()
    end_saving(button)
    assert path.stat().st_size
    assert len(told) == 1


@pytest.mark.matrix
def test_telemetry_is_written_as_it_was_when_asked_for(bench: Bench) -> None:
    _show(bench)
    made = bench.page.bottom.make_export()
    session = bench.controller.session
    assert session is not None
    bench.page.bottom.strip.take([Reading(t_ns=session.t0_ns + 10**12, power_w=1.0)])
    assert len(list(made.rows)) == len(session.readings)


@pytest.mark.matrix
def test_without_a_session_there_is_nothing_to_export(bench: Bench) -> None:
    assert bench.page.plots.cards["footprint"].make_export() is None


@pytest.mark.matrix
def test_a_plots_csv_has_the_header_of_the_sessions_csv_and_whole_bytes(bench: Bench) -> None:
    _show(bench)
    export = bench.page.plots.cards["footprint"].make_export()
    session = bench.controller.session
    assert export is not None
    assert session is not None
    lines = csv_text(export).splitlines()
    header = [line for line in to_csv(session).splitlines() if line.startswith("#")]
    assert set(header) <= set(lines)
    table = csv.DictReader(io.StringIO("\n".join(line for line in lines if not line.startswith("#"))))
    written = [cells["footprint_bytes"] for cells in table]
    assert any(written)
    assert all(text.isdecimal() for text in written if text)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("chosen", "written"), [("run-0.5", "run-0.5.png"), ("a.png", "a.png"), ("a.PNG", "a.PNG")]
)
def test_what_is_told_is_the_file_that_was_written(
    bench: Bench, tmp_path: Path, chosen: str, written: str
) -> None:
    _show(bench)
    button = bench.page.plots.cards["footprint"].export_button
    with bench.qtbot.waitSignal(button.exporter.done) as done:
        button.exporter.save("png", tmp_path / chosen)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [written]
    assert done.args is not None
    assert str(done.args[0]).endswith(f" to {written}.")


def test_labels_have_the_room_that_they_need_within_reason(bench: Bench) -> None:
    _show(bench)
    made = bench.page.bottom.make_export()
    usual, long, endless = (
        replace(made, labels=[text] * len(made.plots)).gutter for text in ("power, W", 44 * "m", 400 * "m")
    )
    assert usual == GUTTER < long < endless + 1
    assert endless == MOST_GUTTER
    assert replace(made, labels=()).gutter == 0
