"""The mark of trust in the table: a word, a glyph, and the reasons in the tip."""

from dataclasses import replace as replaced
from typing import get_args

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPointF, Qt

from flashscope.app.figures.statuses import TRUST_MARKS
from flashscope.app.look.contrast import contrast
from flashscope.app.look.kernel_marks import LEGIBLE
from flashscope.app.look.theme import DARK, THEMES, Theme
from flashscope.app.look.zoom import px
from flashscope.app.pages.profile.results_model import TRUST, ResultsModel
from flashscope.app.plots.status_marks import status_path
from flashscope.app.plots.sweep.doubt_marks import ASIDE_PX
from flashscope.app.words.glossary import line_of
from flashscope.app.words.results.trust import trust_line
from flashscope.profiles.results.model.curves import curve_by_problem
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.trust import WORDS
from flashscope.profiles.wire.events import PointStatus
from flashscope.profiles.wire.measurement import Sample
from tests.app.bench import Bench
from tests.app.pixels import ink_in_a_selected_row
from tests.profiles.sessions import make_plan, script, session_of

pytestmark = pytest.mark.usefixtures("qapp")
TIP = Qt.ItemDataRole.ToolTipRole


def a_row() -> PointRow:
    return rows(session_of(script(make_plan(("standard",), (512,)))))[0]


def judged(times: tuple[float, ...]) -> PointRow:
    row = a_row()
    assert row.measurement is not None
    samples = tuple(map(Sample, times))
    return row.with_measurement(replace(row.measurement, samples=samples, correctness=None))


def test_a_cell_has_the_word_a_glyph_and_the_reasons_in_its_tip() -> None:
    model = ResultsModel(DARK)
    shown = [judged((1.0,)), judged((1.0,) * 10)]
    model.set_rows(shown, {}, curve_by_problem(shown))
    place = [column.title for column in model.columns].index(TRUST)
    doubtful, fair = model.index(0, place), model.index(1, place)
    assert (doubtful.data(), fair.data()) == ("doubtful", "fair")
    assert not doubtful.data(Qt.ItemDataRole.DecorationRole).isNull()
    assert doubtful.data(TIP).splitlines() == [
        line_of("doubtful"),
        "Doubtful:",
        "only 1 sample",
        "its output was not compared with float64",
    ]


def test_a_point_that_was_not_measured_has_no_word() -> None:
    model = ResultsModel(DARK)
    shown = [replaced(a_row(), status="pending", measurement=None)]
    model.set_rows(shown, {}, curve_by_problem(shown))
    place = [column.title for column in model.columns].index(TRUST)
    assert model.index(0, place).data() == ""


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_the_glyphs_of_status_and_trust_can_be_read_in_a_selected_row(theme: Theme) -> None:
    model = ResultsModel(theme)
    shown = [replaced(judged((1.0,) * 10), status=status) for status in get_args(PointStatus)]
    model.set_rows(shown, {}, curve_by_problem(shown))
    places = [place for place, column in enumerate(model.columns) if column.title in {"status", TRUST}]
    cells = [model.index(row, place) for row in range(len(shown)) for place in places]
    icons = [(cell.data(), cell.data(Qt.ItemDataRole.DecorationRole)) for cell in cells if cell.data()]
    assert {"done", "out of memory", "fair"} < {word for word, _icon in icons}
    for word, icon in icons:
        assert contrast(ink_in_a_selected_row(icon), theme.accent) >= LEGIBLE, word


def test_every_word_has_a_glyph_of_its_own_and_a_line() -> None:
    assert set(TRUST_MARKS) == set(WORDS)
    assert len({str(status_path(word)) for word in WORDS}) == len(WORDS)
    trust = judged((1.0,)).trust
    assert trust is not None
    assert trust_line(trust) == "doubtful: only 1 sample; its output was not compared with float64"


def test_a_point_that_is_not_trusted_has_its_mark_in_plot_readout_and_legend(bench: Bench) -> None:
    recorded = session_of(script(make_plan(("standard", "flash2"), (512, 1024))))
    doubted = next(state for state in recorded.points if state.point.kernel == "flash2")
    assert doubted.measurement is not None
    doubted.measurement = replace(doubted.measurement, samples=(Sample(1.0), Sample(9.0)))
    bench.controller._shown._show(recorded, "saved", None)
    bench.drawn()
    plots = bench.page.plots
    plots.show_seqlen(512)
    bench.drawn()
    runtime, footprint = plots.cards["runtime"], plots.cards["footprint"]
    assert runtime.has_doubted
    assert not footprint.has_doubted, "what is exact is marked, too"
    (mark,) = runtime.plot.doubts.marked
    assert footprint.plot.doubts.marked == ()
    view, places = runtime.plot.getViewBox(), runtime.plot._curves["flash2"].places()
    apart = mark.at - view.mapFromView(QPointF(*places[places[:, 0] == 9.0][0]))  # 512 = 2 ** 9
    assert [abs(apart.x()), abs(apart.y())] == pytest.approx([*map(px, ASIDE_PX)])
    assert plots.panel.figure("flash2", "runtime").startswith("! ")
    assert not plots.panel.figure("standard", "runtime").startswith("!")
    assert "!: doubtful" in runtime._unit_label.text()
    assert "!" not in footprint._unit_label.text()
