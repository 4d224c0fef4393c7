"""A session with several problems at the same N: one group is on show, and the table names each."""

import msgspec
import pytest
from PySide6.QtWidgets import QApplication

from flashscope.app.pages.profile.results_model import PROBLEM, RAW
from flashscope.app.words.results.provenance_header import session_header
from flashscope.kernels.workload.block_pattern import BlockPattern
from flashscope.profiles.plan.choice import LARGEST
from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.plan.presets import HEAD_DIMS, preset_plan
from flashscope.profiles.plan.request import Request
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.quantity import value_of
from flashscope.profiles.results.quantities.registry import THROUGHPUT
from tests.app.bench import Bench, column_of, marked, selected
from tests.profiles.sessions import make_plan, script, session_of

KERNELS = ("standard", "flash2", "torch-flash")
PLAN = preset_plan("peers", "cuda", Protocol(drift_check=False), kernels=KERNELS)
LABELS = [f"d {head_dim}, {mask}" for head_dim in HEAD_DIMS for mask in ("no mask", "causal")]
POINTS = len(PLAN.points())


@pytest.fixture
def session(bench: Bench) -> Session:
    session = session_of(script(PLAN))
    bench.controller._shown.session = session
    bench.page.show_session(session)
    bench.drawn()
    return session


def offered(bench: Bench) -> list[str]:
    box = bench.page.plots.context.curves
    return [box.itemText(i) for i in range(box.count())]


@pytest.mark.usefixtures("session")
def test_one_group_is_on_show_and_the_others_can_be_chosen(bench: Bench) -> None:
    plots = bench.page.plots
    assert offered(bench) == LABELS
    assert plots.context.curves.isEnabled()
    first = plots.cards["throughput"].make_export()
    plots.context.curves.setCurrentIndex(3)
    plots.context.curves.activated.emit(3)
    last = plots.cards["throughput"].make_export()
    assert first is not None
    assert last is not None
    rows = [list(one.rows) for one in (first, last)]
    assert [len(some) for some in rows] == [3 * 5, 3 * 5]
    assert "head dim 64, bfloat16, no mask" in first.provenance["problem"]
    assert "batch 16 to 1, heads 16, head dim 128, bfloat16, causal" in last.provenance["problem"]
    assert rows[0] != rows[1]


@pytest.mark.matrix
@pytest.mark.usefixtures("session")
def test_the_table_holds_every_group_with_its_name_and_its_own_speed_up(bench: Bench) -> None:
    bench.drawn()
    table = bench.page.bottom.table
    assert table.results.rowCount() == POINTS
    assert not table.isColumnHidden(column_of(bench, PROBLEM))
    names = {table.results.index(row, column_of(bench, PROBLEM)).data() for row in range(POINTS)}
    assert names == set(LABELS)
    standard = [row for row in range(POINTS) if table.results.row_at(row).kernel == "standard"]
    assert {table.results.index(row, column_of(bench, "speed-up")).data(RAW) for row in standard} == {1.0}


@pytest.mark.matrix
def test_a_session_of_one_group_offers_no_choice(bench: Bench) -> None:
    bench.sweep(script(make_plan(("standard", "flash2"))))
    assert not bench.page.plots.context.curves.isEnabled()
    assert bench.page.bottom.table.isColumnHidden(column_of(bench, PROBLEM))


@pytest.mark.matrix
def test_the_group_of_the_point_in_flight_is_on_show_until_the_user_chooses(bench: Bench) -> None:
    plots = bench.page.plots
    third_group = 2 * POINTS // len(LABELS)
    bench.sweep(script(PLAN, stop_before=third_group, in_flight=True))
    assert plots.context.curves.currentText() == LABELS[2]
    plots.context.curves.activated.emit(0)
    bench.page.refresh()
    bench.drawn()
    assert plots.context.curves.currentText() == LABELS[0]


Place = tuple[str, int, int, bool]  # kernel, N, head dim, whether it is causal


def place_of(row: PointRow) -> Place:
    return row.kernel, row.seqlen, row.problem.head_dim, row.problem.causal


def select(bench: Bench, place: Place) -> None:
    """Choose the row of a point in the unsorted table."""
    table = bench.page.bottom.table
    places = [place_of(table.results.row_at(row)) for row in range(table.results.rowCount())]
    table.selectRow(places.index(place))


def marked_places(bench: Bench) -> list[Place]:
    return [place_of(row) for row in marked(bench.page)]


def selected_places(bench: Bench) -> list[Place]:
    return [place_of(row) for row in selected(bench.page)]


@pytest.mark.matrix
@pytest.mark.usefixtures("session")
def test_the_rows_of_the_group_on_show_at_the_crosshair_are_marked(bench: Bench) -> None:
    plots, table = bench.page.plots, bench.page.bottom.table
    bench.page.show_view("results")
    QApplication.processEvents()
    bench.drawn()
    for chosen, (head_dim, causal) in ((3, (128, True)), (1, (64, True))):
        plots.context.curves.activated.emit(chosen)
        plots.move_cursor(8192)
        assert marked_places(bench) == [(kernel, 8192, head_dim, causal) for kernel in KERNELS]
        first = table.visualRect(table.proxy.index(min(table._places(set(table.marked))), 0))
        assert table.viewport().rect().contains(first.center())
    plots.context.curves.activated.emit(2)
    assert marked_places(bench) == [(kernel, 8192, 128, False) for kernel in KERNELS]


@pytest.mark.matrix
@pytest.mark.usefixtures("session")
def test_a_row_that_is_chosen_brings_its_group_on_show_and_stays_the_only_one_selected(bench: Bench) -> None:
    plots = bench.page.plots
    plots.context.curves.activated.emit(3)
    plots.move_cursor(8192)
    for seqlen in (8192, 2048):  # of which one is where the crosshair is
        chosen = "flash2", seqlen, 64, True
        select(bench, chosen)
        bench.drawn()
        assert plots.curve is not None
        assert (plots.curve.label, plots.seqlen) == ("d 64, causal", seqlen)
        assert plots.context.curves.currentText() == "d 64, causal"
        assert selected_places(bench) == [chosen]
        plots.context.curves.activated.emit(3)
        assert {head_dim for _, _, head_dim, _ in marked_places(bench)} == {128}
        assert selected_places(bench) == [chosen]


@pytest.mark.matrix
def test_a_row_that_is_chosen_stays_selected_and_in_place_as_the_sweep_goes_on(bench: Bench) -> None:
    plots, table = bench.page.plots, bench.page.bottom.table
    bench.page.show_view("results")
    begun, later = (script(PLAN, stop_before=point) for point in (POINTS // 2, POINTS - 1))
    bench.sweep(begun)
    assert bench.controller.session is not None
    chosen = place_of(rows(bench.controller.session)[POINTS // 2 - 1])  # it was measured last
    select(bench, chosen)
    curve = plots.curve
    table.scrollToTop()
    bench.tell(later[len(begun) :])
    assert plots.curve == curve
    assert selected_places(bench) == [chosen]
    assert table.verticalScrollBar().value() == 0


def test_an_export_of_everything_names_every_problem() -> None:
    problem = session_header(session_of(script(PLAN)))["problem"]
    assert problem.count("batch 16 to 1") == len(LABELS)


@pytest.mark.matrix
@pytest.mark.usefixtures("session")
def test_the_form_takes_the_group_on_show_and_says_which_and_what_it_leaves_out(bench: Bench) -> None:
    bench.page.plots.context.curves.activated.emit(3)
    with bench.qtbot.waitSignal(bench.page.noticed) as noticed:
        bench.page.use_session()
    sweep = bench.page.form.request()
    assert (sweep.head_dim, sweep.causal, sweep.heads, sweep.batch) == (128, True, 16, 1)
    assert noticed.args[0].startswith(f"The form has the parameters of {LABELS[3]}.")
    assert "batch goes from 16 to 1 along N; the form takes 1" in noticed.args[0]


def test_numbers_beyond_the_form_are_said_and_the_form_stays_alive(bench: Bench) -> None:
    wide = Request.of("cpu", kernels=("flash2",), seqlens=(1,), heads=2**40, repeats=1)
    session = session_of(script(wide.plan(), stop_before=0))
    bench.controller._shown.session = session
    bench.page.show_session(session)
    with bench.qtbot.waitSignal(bench.page.noticed) as noticed:
        bench.page.use_session()
    assert f"heads of {2**40} is beyond the form's range; it takes {LARGEST}" in noticed.args[0]
    assert "repeats" not in noticed.args[0]
    assert bench.page.form.request().protocol.repeats == 1
    bench.page.form.heads.setValue(1)
    bench.page.form.masking.kind.setCurrentText("blocks")
    bench.page.form.masking.pattern.setCurrentText("banded:3")
    assert "'banded:3'" in bench.page.form.message.text()


@pytest.mark.matrix
def test_block_masks_are_groups_of_their_own_with_their_dense_equivalent_apart(bench: Bench) -> None:
    dense = Request.of("cuda", kernels=("flash2",), seqlens=(1024, 2048))
    sparse = msgspec.structs.replace(dense, blocks=BlockPattern(local=1, global_=1), block_size=64)
    plan = msgspec.structs.replace(dense.plan(), problems=(*dense.plan().problems, *sparse.plan().problems))
    session = session_of(script(plan))
    bench.controller._shown.session = session
    bench.page.show_session(session)
    bench.drawn()
    assert offered(bench) == ["d 64, no mask", "d 64, local:1,global:1 in blocks of 64"]
    bench.page.plots.context.curves.activated.emit(1)
    bench.page.use_session()
    assert bench.page.form.request() == sparse
    table = bench.page.bottom.table
    assert not table.isColumnHidden(column_of(bench, "kept"))
    assert not table.isColumnHidden(column_of(bench, "dense equivalent"))
    for place, row in enumerate(rows(session)):
        told = table.results.index(place, column_of(bench, "dense equivalent")).data(RAW)
        if row.block_mask:
            tflops = value_of(THROUGHPUT, row)
            assert tflops is not None
            assert told == pytest.approx(tflops / row.problem.kept_share)
        else:
            assert told is None


@pytest.mark.matrix
def test_problems_that_differ_in_heads_or_batch_alone_are_told_apart(bench: Bench) -> None:
    plan = preset_plan("thin", "cuda", Protocol(drift_check=False), kernels=("torch-flash",))
    session = session_of(script(plan))
    bench.controller._shown.session = session
    bench.page.show_session(session)
    bench.drawn()
    assert len(set(offered(bench))) == len(bench.page.plots._curves)
    table, column = bench.page.bottom.table.results, column_of(bench, PROBLEM)
    named = {table.index(place, column).data(RAW) for place in range(table.rowCount())}
    assert "d 64, no mask, 8 heads, batch 1" in named
    assert len(named) == len(bench.page.plots._curves)
    shown, metrics = bench.page.bottom.table, bench.page.bottom.table.fontMetrics()
    assert shown.columnWidth(column) > max(metrics.horizontalAdvance(str(name)) for name in named)
    assert bench.page.headline.sentence.text().startswith("d 64, no mask, 8 heads, batch 1: torch-flash ")


@pytest.mark.matrix
@pytest.mark.usefixtures("session")
def test_a_picture_of_one_plot_says_of_which_problem_it_is(bench: Bench) -> None:
    export = bench.page.plots.cells[0].make_export()
    assert export is not None
    assert export.headline.startswith("d 64, no mask: ")
