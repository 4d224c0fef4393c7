"""From rows to curves."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.appearance import appearance_of
from flashscope.app.figures.series import extract, seqlens_of
from flashscope.app.figures.statuses import STATUS_MARKS
from flashscope.app.figures.ticks import nice_step, to_axis
from flashscope.app.look.theme import DARK
from flashscope.app.plots.axes import ValueAxis
from flashscope.app.plots.status_marks import status_path
from flashscope.app.plots.sweep.sweep_plot import SweepPlot
from flashscope.app.words.kinds import KINDS
from flashscope.app.words.units import bytes_text, ms_text
from flashscope.profiles.results.model.curves import telling_seqlen
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.quantities.quantity import value_of
from flashscope.profiles.results.quantities.registry import (
    FOOTPRINT,
    QUANTITIES,
    RUNTIME,
    SPEEDUP,
    THROUGHPUT,
)
from flashscope.profiles.wire.events import PointStatus
from tests.profiles.results.compare.built import rounds, session
from tests.profiles.sessions import Failure, make_plan, script, session_of

KERNELS = ("standard", "flash2")
LENGTHS = (512, 1024, 2048, 4096)
FAILURES = {
    ("standard", 1024): ("timeout", "It took longer than 120 s."),
    ("standard", 4096): ("oom", "Memory."),
}


def _rows() -> list:  # type: ignore[type-arg]  # rows of the summary
    return rows(session_of(script(make_plan(KERNELS, LENGTHS), FAILURES)))  # type: ignore[arg-type]  # literals


def test_a_failed_point_is_a_gap_in_the_line_and_a_failure_with_its_reason() -> None:
    standard = extract(_rows(), RUNTIME)[0]
    assert np.isnan(standard.value).tolist() == [False, True, False, True]
    assert [(f.seqlen, f.status, f.reason) for f in standard.failures] == [
        (1024, "timeout", "It took longer than 120 s."),
        (4096, "oom", "Memory."),
    ]


def test_the_model_goes_on_where_the_measurement_could_not() -> None:
    standard = extract(_rows(), FOOTPRINT)[0]
    assert np.isfinite(standard.model).all()
    assert np.isnan(standard.value[-1])


def test_speed_up_needs_the_baseline_at_the_same_length() -> None:
    flash2 = extract(_rows(), SPEEDUP, "standard")[1]
    assert flash2.at(512) is not None
    assert flash2.at(1024) is None


def test_a_ratio_over_a_runtime_that_is_not_trusted_is_none_to_trust() -> None:
    lengths = {("standard", 512): rounds(2.0), ("flash2", 512): rounds(1.0)}
    shaky = session(lengths | {("standard", 512): rounds(2.0, spread=0.5)})
    steady = session(lengths)
    for made, doubted in ((shaky, True), (steady, False)):
        of_ratio, of_time = (extract(rows(made), one, "standard")[1] for one in (SPEEDUP, RUNTIME))
        assert (of_ratio.kernel, of_ratio.is_doubted(512), of_time.is_doubted(512)) == (
            "flash2",
            doubted,
            False,
        )


def test_every_value_is_the_row_s_own() -> None:
    for one in extract(_rows(), THROUGHPUT):
        for row in _rows():
            if row.kernel == one.kernel and row.status == "done":
                assert one.at(row.seqlen) == value_of(THROUGHPUT, row)


def test_an_unfinished_length_takes_no_crosshair() -> None:
    session = session_of(script(make_plan(("standard",), LENGTHS), stop_before=2, in_flight=True))
    assert seqlens_of(rows(session)) == (512, 1024)
    assert extract(rows(session), RUNTIME)[0].running == 2048


def test_every_status_has_its_own_glyph() -> None:
    assert set(PointStatus.__args__) == set(STATUS_MARKS)  # type: ignore[attr-defined]  # of a Literal
    strokes = [mark.strokes for mark in STATUS_MARKS.values()]
    assert len(set(strokes)) == len(strokes)
    assert not any(status_path(status).isEmpty() for status in STATUS_MARKS)


def test_every_quantity_has_a_title_a_sentence_and_columns_of_its_own() -> None:
    quantities = QUANTITIES.values()
    names = [name for quantity in quantities for name in quantity.names]
    assert len(set(names)) == len(names)
    assert len({quantity.title for quantity in quantities}) == len(quantities)
    assert all(quantity.about.endswith(".") and quantity.kind in KINDS for quantity in quantities)


def test_what_has_no_place_on_a_logarithmic_axis_is_absent() -> None:
    assert np.isnan(to_axis([0.0, -1.0], "log10")).all()
    assert to_axis(1024, "log2") == 10


def test_ticks_are_round_values_that_fit_the_height(qapp: object) -> None:
    axis = ValueAxis(replace(KINDS["time"], tick=lambda value, _more=0: ms_text(value)))
    ((_, places),) = axis.tickValues(-2.0, 3.0, 100.0)
    assert places == [-2, -1, 0, 1, 2, 3] or len(places) <= 6
    assert axis.tickStrings([0.0], 1, 1) == ["1.00 ms"]
    axis.end_at(1.0)
    assert max(axis.tickValues(-2.0, 3.0, 100.0)[0][1]) <= 1.0
    assert nice_step(0.3) == 0.5


@pytest.mark.parametrize(
    ("width", "seqlens", "texts"),
    [
        (220, (256, 512, 4096, 8192), ["256", "512", "4k", "8k"]),  # a card of the smallest window
        (220, (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536), ["512", "2k", "4k", "16k", "64k"]),
        (640, (512, 1024, 2048, 4096), ["512", "1k", "2k", "4k"]),
        (160, (256, 320, 384, 448, 16384), ["256", "16k"]),
        (220, (256, 512, 1024, 2048, 4096, 8192, 16384), ["256", "1k", "2k", "4k", "8k", "16k"]),
        (110, (65000, 65001), ["65000"]),
        (240, (3000,), ["3000"]),
    ],
)
def test_as_many_lengths_are_labelled_as_fit_the_first_and_the_last_before_others(
    qtbot: QtBot, qapp: QApplication, width: int, seqlens: tuple[int, ...], texts: list[str]
) -> None:
    appearance_of().use(DARK)
    plot = SweepPlot(RUNTIME, DARK)
    qtbot.addWidget(plot)
    plot.setMinimumWidth(0)
    plot.resize(width, 150)
    plot.show()
    told = rows(session_of(script(make_plan(KERNELS, seqlens))))
    list(plot.draw_in_steps(extract(told, RUNTIME), seqlens, seqlens))
    plot.grab()
    canvas = QPixmap(plot.size())
    painter = QPainter(canvas)
    _, _, drawn = plot._x_axis.generateDrawSpecs(painter)
    painter.end()
    assert [text for _, _, text in drawn] == texts
    assert all(left.right() < right.left() for (left, _, _), (right, _, _) in pairwise(drawn))


def test_bytes_and_milliseconds_are_written_with_their_unit() -> None:
    assert bytes_text(1 << 30) == "1.00 GiB"
    assert bytes_text(12) == "12 B"
    assert ms_text(0.05) == "50.0 µs"
    assert ms_text(12_000) == "12.0 s"


def test_the_crosshair_first_stands_at_the_longest_length_that_most_kernels_have_done() -> None:
    assert telling_seqlen(_rows()) == 2048
    assert telling_seqlen([]) is None
    cannot: dict[tuple[str, int], Failure] = {("flash1", n): ("unsupported", "Long.") for n in LENGTHS[1:]}
    limited = rows(session_of(script(make_plan(("standard", "flash1", "flash2"), LENGTHS), cannot)))
    assert telling_seqlen(limited) == LENGTHS[-1]
