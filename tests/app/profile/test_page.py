"""The page as a user meets it."""

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit, QWidget

from app.look.fonts import load_fonts, ui_font
from app.look.theme import DARK, KERNEL_MARKS, LIGHT, kernel_mark
from app.pages.profile.plots_view import CELLS
from app.pages.profile.results_model import RAW
from app.plots.series import failure_text
from app.plots.spans import spans_of
from app.shell.shots import picture
from app.words.command_line import command_line
from app.words.efficiency import efficiency_short
from app.words.kinds import words_of
from app.words.units import ms_text
from kernels.registry import KERNELS as KNOWN
from profiles.results.quantities import RUNTIME
from profiles.results.quantity import value_of
from profiles.results.rows import rows
from profiles.wire.events import MachineFound, PointChecked
from profiles.wire.measurement import Figure
from tests.app.profile.builders import CPU_TELEMETRY, MACHINE, make_plan, script, session_of, turns_of
from tests.app.profile.conftest import Bench, column_of

KERNELS = ("standard", "flash2")
LENGTHS = (512, 1024, 2048)
FAILURES = {
    ("standard", 1024): ("timeout", "It took longer than 120 s."),
    ("standard", 2048): ("oom", "Full."),
}
EVENTS = script(make_plan(KERNELS, LENGTHS), FAILURES)  # type: ignore[arg-type]  # literals


def test_run_sends_the_form_s_plan_to_the_engine(bench: Bench) -> None:
    bench.page.form.chips.field.setText("256, 384, 1000")
    bench.page.run()
    (plan,) = bench.engine.plans
    assert tuple(problem.seqlen_q for problem in plan.problems) == (256, 384, 1000)
    assert plan == bench.page.plan()


def test_a_text_that_is_no_list_of_lengths_blocks_run_and_says_so_in_place(bench: Bench) -> None:
    with bench.qtbot.waitSignal(bench.page.run_blocked) as blocked:
        bench.page.form.chips.field.setText("256:abc")
    assert "256:abc" in blocked.args[0]
    assert bench.page.form.chips.message.isVisible()
    with bench.qtbot.waitSignal(bench.controller.error_raised):
        bench.page.run()
    assert not bench.engine.plans


def test_removing_a_chip_removes_its_length(bench: Bench) -> None:
    chips = bench.page.form.chips
    chips.field.setText("256:1024")
    chips._chips[1].click()
    assert chips.seqlens == (256, 1024)


def test_another_backend_brings_its_own_lengths_and_types(bench: Bench) -> None:
    bench.page.set_backend("cuda")
    assert bench.page.form.request().seqlens[-1] == 16384
    bench.page.set_backend("cpu")
    assert bench.page.form.request().dtype == "float32"
    assert bench.page.form.request().seqlens[-1] == 2048


def test_the_dry_run_judges_by_the_free_memory_that_was_found(bench: Bench) -> None:
    bench.tell([MachineFound(machine=MACHINE)])
    bench.page.form.chips.field.setText("65536")
    assert "free 139 GiB" in bench.page.form.free_label.text()
    assert bench.page.form.dry_table.text_at(1, len(bench.page.form.request().kernels) + 1).startswith("×")


def test_failed_points_stand_on_the_rail_at_their_length_with_the_reason(bench: Bench) -> None:
    bench.sweep(EVENTS)
    for card in bench.page.plots.cards.values():
        spots = card.plot.rail.scatter.points()
        assert [spot.data().seqlen for spot in spots] == [1024, 2048]
        assert [round(2 ** spot.pos().x()) for spot in spots] == [1024, 2048]
        assert "It took longer than 120 s." in failure_text(spots[0].data())
        curve = card.plot._curves["standard"].curve.getData()[1]
        assert np.isnan(curve[1:]).all()


def test_the_word_on_the_rail_stays_inside_the_plot(bench: Bench) -> None:
    bench.page.resize(1200, 900)  # a low plot shows glyphs only
    for seqlen in LENGTHS:
        bench.sweep(script(make_plan(("standard",), LENGTHS), {("standard", seqlen): ("timeout", "Slow.")}))
        plot = bench.page.plots.cards[RUNTIME.key].plot
        word = plot.rail._words[0]
        assert word.isVisible()
        view, text = plot.getViewBox(), word.mapRectToScene(word.boundingRect())
        frame = view.mapRectToScene(view.boundingRect())
        assert frame.left() <= text.left()
        assert text.right() <= frame.right()


def test_readout_table_and_session_say_the_same(bench: Bench) -> None:
    bench.sweep(EVENTS)
    session = bench.controller.session
    assert session is not None
    bench.page.plots.move_cursor(512)
    panel = bench.page.plots.panel
    model = bench.page.bottom.table.results
    column = column_of(bench, "runtime")
    for place, row in enumerate(rows(session)):
        median = value_of(RUNTIME, row)
        assert model.index(place, column).data(RAW) == median
        if row.seqlen == 512 and median is not None:
            assert panel.figure(row.kernel, "runtime") == ms_text(median)
            assert model.index(place, column).data() == ms_text(median)


def test_a_failed_point_reads_its_status_under_the_crosshair(bench: Bench) -> None:
    bench.sweep(EVENTS)
    bench.page.plots.move_cursor(1024)
    assert bench.page.plots.panel.figure("standard", "runtime") == "timeout"


def test_table_and_crosshair_follow_each_other(bench: Bench) -> None:
    bench.sweep(EVENTS)
    table = bench.page.bottom.table
    table.selectRow(0)
    assert bench.page.plots.seqlen == 512
    bench.page.plots.step_cursor(1)
    assert {table.results.row_at(index.row()).seqlen for index in table.selectionModel().selectedRows()} == {
        1024
    }


def test_the_table_sorts_by_value_with_absent_cells_last(bench: Bench) -> None:
    bench.sweep(EVENTS)
    table = bench.page.bottom.table
    median = column_of(bench, "runtime")
    table.sortByColumn(median, Qt.SortOrder.AscendingOrder)
    raw = [table.proxy.index(row, median).data(RAW) for row in range(table.proxy.rowCount())]
    known = [value for value in raw if value is not None]
    assert known == sorted(known)
    assert raw[len(known) :] == [None] * (len(raw) - len(known))


def test_the_results_model_passes_qt_s_own_model_tester(bench: Bench, qtmodeltester: object) -> None:
    bench.sweep(EVENTS)
    qtmodeltester.check(bench.page.bottom.table.results)  # type: ignore[attr-defined]  # the fixture is untyped


def test_the_point_in_flight_is_marked_until_it_ends(bench: Bench) -> None:
    plan = make_plan(KERNELS, LENGTHS)
    bench.sweep(script(plan, stop_before=2, in_flight=True))
    plot = bench.page.plots.cards["runtime"].plot
    assert plot._band.isVisible()
    assert plot._flight.isVisible()
    assert bench.page.plots.panel.flight.text().startswith("standard · N = 1")


def test_kernels_that_take_turns_are_all_marked_in_flight(bench: Bench) -> None:
    plan = make_plan(KERNELS, LENGTHS)
    bench.sweep([*script(plan, stop_before=0), *turns_of(plan)])
    plot = bench.page.plots.cards["runtime"].plot
    assert plot._band.isVisible()
    assert len(plot._flight.points()) == 2
    assert bench.page.plots.panel.flight.text().startswith(f"{KERNELS[0]} and {KERNELS[1]} · N = ")
    assert bench.controller.session is not None
    lane = bench.page.bottom.strip.lanes["memory_used"]
    lane._shades.draw(spans_of(bench.controller.session), (0.0, 2.0), (0.0, 1.0), DARK)
    bars = lane._shades.bars.opts
    assert [*bars["y0"]] == [0.0, 0.0, 0.0, 0.5]  # two checks, then a band for each
    assert [*bars["height"]] == [1.0, 1.0, 0.5, 0.5]


def test_curves_are_made_once_and_fed_again(bench: Bench) -> None:
    bench.sweep(EVENTS)
    plot = bench.page.plots.cards["runtime"].plot
    before = len(plot.plotItem.items)
    for _ in range(5):
        bench.page.refresh()
    assert len(plot.plotItem.items) == before


def test_another_baseline_divides_by_it(bench: Bench) -> None:
    bench.sweep(EVENTS)
    panel = bench.page.plots.panel
    panel.baseline_chosen.emit("flash2")
    bench.page.plots.move_cursor(512)
    bench.drawn()
    assert panel.figure("flash2", "speed-up") == "1.00×"
    assert bench.page.plots.cards["speed-up"].title == "Speed-up over flash2"


def test_a_name_in_the_legend_hides_its_curves_and_keeps_its_figures(bench: Bench) -> None:
    bench.sweep(EVENTS)
    plots = bench.page.plots
    plots.move_cursor(512)
    before = plots.panel.figure("standard", "runtime")
    plots.panel.button("standard").click()
    bench.drawn()
    for card in plots.cards.values():
        assert not card.plot._curves["standard"].curve.isVisible()
        assert card.plot._curves["flash2"].curve.isVisible()
        export = card.make_export()
        assert export is not None
        assert list(export.kernels) == ["flash2"]
    assert plots.panel.figure("standard", "runtime") == before
    assert plots.panel.figure("flash2", "speed-up") != "–"  # the baseline is hidden, not gone
    plots.panel.button("standard").click()
    bench.drawn()
    assert all(card.plot._curves["standard"].curve.isVisible() for card in plots.cards.values())


def test_without_room_beside_the_plots_the_panel_goes_under_them_and_the_form_can_make_room(
    bench: Bench,
) -> None:
    bench.sweep(EVENTS)
    plots = bench.page.plots
    lowest = max(card.geometry().bottom() for card in plots.cards.values())
    assert plots.panel.y() < lowest
    bench.page.resize(900, 900)
    bench.qtbot.waitUntil(lambda: plots.panel.y() > max(c.geometry().bottom() for c in plots.cards.values()))
    assert plots.panel.width() == plots.width()
    next(action for action in bench.page.actions_offered() if action.key == "profile.form").trigger()
    assert not bench.page.form.isVisible()
    bench.qtbot.waitUntil(lambda: plots.panel.x() > plots.cards["runtime"].geometry().right())


def test_tab_goes_from_the_plots_through_the_legend_in_its_order(bench: Bench) -> None:
    bench.sweep(EVENTS)
    panel = bench.page.plots.panel
    reached: list[QWidget] = [panel.button("standard")]
    while reached[-1] is not panel.baseline and len(reached) < 10:
        reached.append(reached[-1].nextInFocusChain() or panel.baseline)
    stops = [widget for widget in reached if widget.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert stops == [*(panel.button(kernel) for kernel in KERNELS), panel.baseline]


@pytest.mark.parametrize("names", [tuple(spec.name for spec in KNOWN), tuple(KERNEL_MARKS)])
def test_every_figure_and_name_beside_the_plots_is_whole(bench: Bench, names: tuple[str, ...]) -> None:
    load_fonts()
    bench.page.setFont(ui_font())
    panel = bench.page.plots.panel
    bench.drawn()  # a turn to come would draw other kernels' figures
    list(panel.set_kernels(names))
    for name in names:
        panel.show_figures(name, ["72.7 GiB", "0.652 ms", "0.142×", "1234"])
    bench.qtbot.waitUntil(lambda: panel.button(names[-1]).isVisible())
    bench.page.grab()
    for name in names:
        row = panel._rows[name]
        for label in row.values:
            assert label.width() >= label.fontMetrics().horizontalAdvance(label.text()), (name, label.text())
        room = row.button.width() - row.button.iconSize().width() - 12
        assert room >= row.button.fontMetrics().horizontalAdvance(name), name


def test_a_theme_switch_recolours_what_is_drawn_and_keeps_the_kernels_colours(bench: Bench) -> None:
    bench.sweep(EVENTS)
    bench.page.apply_theme(LIGHT)
    bench.drawn()
    plot = bench.page.plots.cards["runtime"].plot
    assert plot.backgroundBrush().color().name() == LIGHT.panel.lower()
    assert plot.getAxis("left").textPen().color().name() == LIGHT.dim.lower()
    lane = bench.page.bottom.strip.lanes["memory_used"]
    assert lane.curve.opts["pen"].color().name() == LIGHT.text.lower()
    curve = plot._curves["standard"].curve
    assert curve.opts["pen"].color().name() == kernel_mark("standard").on(LIGHT).lower()
    bench.page.apply_theme(DARK)
    bench.drawn()
    assert plot.backgroundBrush().color().name() == DARK.panel.lower()


def test_a_view_that_is_moved_and_a_point_in_flight_leave_no_pictures_of_symbols_behind(bench: Bench) -> None:
    bench.sweep(EVENTS)
    plot = bench.page.plots.cards["runtime"].plot
    kept = set()
    for turn in range(6):
        plot.getViewBox().translateBy(x=0.01)
        plot.show_flight(256, {"standard": 1.0 + turn})
        kept.add(tuple(len(dots.fragmentAtlas) for dots in (plot.rail.scatter, plot._flight)))
    assert len(kept) == 1


def test_freezing_stops_the_display_and_not_the_recording(bench: Bench) -> None:
    bench.page.bottom.freeze.setChecked(True)
    bench.sweep(EVENTS)
    strip = bench.page.bottom.strip
    shown = strip.rows["memory_used"].lane.curve.getData()[0]
    assert shown is None or not len(shown)
    session = bench.controller.session
    assert session is not None
    assert len(strip.ring) == len(session.readings) > 0
    bench.page.bottom.freeze.setChecked(False)
    assert len(strip.lanes["memory_used"].curve.getData()[0]) > 0


def test_a_lane_that_does_not_exist_here_is_not_drawn_and_its_reason_is_told(bench: Bench) -> None:
    events = script(make_plan(("standard",), LENGTHS, "cpu"), telemetry=CPU_TELEMETRY)
    bench.page.show_session(session_of(events))
    bench.drawn()
    strip = bench.page.bottom.strip
    assert strip.lanes["memory_used"].isVisible()
    assert not strip.rows["power_w"].isVisible()
    assert strip.absent.text().startswith("n/a here: ")
    assert "power: psutil does not read power" in strip.absent.toolTip()


def test_a_saved_session_shows_its_recorded_readings_and_lends_its_parameters(bench: Bench) -> None:
    session = session_of(EVENTS)
    bench.controller._shown._show(session, "saved", None)
    assert len(bench.page.bottom.strip.ring) == len(session.readings)
    bench.page.use_session()
    assert bench.page.plan() == session.plan


def test_the_command_line_goes_to_the_clipboard(bench: Bench) -> None:
    bench.page.copy_command_line()
    assert QGuiApplication.clipboard().text() == command_line(bench.page.form.request())


def test_without_a_session_the_plots_say_what_to_do_and_show_the_model(bench: Bench) -> None:
    assert "Press Run" in bench.page.plots.cards["runtime"].plot._hint.toPlainText()
    assert bench.page.plots.cards["footprint"]._series
    bench.sweep(EVENTS)
    assert not bench.page.plots.cards["runtime"].plot._hint.isVisible()


@pytest.mark.parametrize("key", ["runtime", "speed-up"])
def test_what_an_empty_plot_says_stays_in_its_middle_when_other_lengths_are_chosen(
    bench: Bench, key: str
) -> None:
    plot = bench.page.plots.cards[key].plot
    before = plot.getViewBox().viewRect().center()
    bench.page.form.chips.set_seqlens((256, 1 << 24))
    bench.drawn()
    middle = plot.getViewBox().viewRect().center()
    assert middle.x() > before.x() + 1
    assert (plot._hint.pos().x(), plot._hint.pos().y()) == (middle.x(), middle.y())


@pytest.mark.parametrize("key", [quantity.key for quantity in CELLS])
def test_log_grid_and_autorange_keep_every_value_in_view(bench: Bench, key: str) -> None:
    bench.sweep(EVENTS)
    plot = bench.page.plots.cards[key].plot
    for _ in range(2):
        bench.page.plots.toggle_log()
        bench.page.plots.toggle_grid()
        low, high = plot.viewRange()[1]
        values = plot._curves["flash2"].curve.getData()[1]
        assert low <= np.nanmin(values)
        assert np.nanmax(values) <= high
    assert plot.scale_name == words_of(plot.quantity).scale


def test_a_view_the_user_chose_stays_until_autorange(bench: Bench) -> None:
    bench.sweep(EVENTS)
    plot = bench.page.plots.cards[RUNTIME.key].plot
    fitted = plot.viewRange()
    plot.getViewBox().setRange(xRange=(9, 10), padding=0)
    plot.getViewBox().sigRangeChangedManually.emit([True, True])
    bench.page.refresh()
    assert plot.viewRange()[0] == pytest.approx([9, 10])
    bench.page.plots.autorange()
    assert plot.viewRange() == fitted


@pytest.mark.parametrize("logarithmic", [True, False])
def test_zooming_out_ends_before_the_axis_has_no_numbers_left(bench: Bench, *, logarithmic: bool) -> None:
    bench.sweep(EVENTS)
    plot = bench.page.plots.cards[RUNTIME.key].plot
    if not logarithmic:
        plot.toggle_log()
    for _ in range(40):
        plot.getViewBox().scaleBy((10, 10))
    (left, right), (low, high) = plot.viewRange()
    assert right - left < 30
    places = [place for _, level in plot._y_axis.tickValues(low, high, 200) for place in level]
    assert all(plot._y_axis.tickStrings(places, 1.0, 1.0))


def test_every_input_has_an_accessible_name(bench: Bench) -> None:
    kinds = (QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit)
    for kind in kinds:
        for widget in bench.page.findChildren(kind):
            if widget.isVisible() and widget.objectName() != "qt_spinbox_lineedit":
                named = widget.accessibleName() or getattr(widget, "text", str)()
                assert named, widget


def test_nothing_is_wider_than_the_window_at_1280_by_720(bench: Bench) -> None:
    assert bench.page.minimumSizeHint().width() <= 1280 - 80
    assert bench.page.minimumSizeHint().height() <= 720 - 76


def test_a_picture_taken_in_the_middle_of_a_sweep_is_whole(bench: Bench) -> None:
    bench.sweep(EVENTS)
    card = bench.page.plots.cards["runtime"]
    plot = QRect(card.plot.mapTo(bench.page, QPoint()), card.plot.size())
    shown = bench.page.grab(plot).toImage()
    bench.page._staged.start_covered()
    assert bench.page.grab(plot).toImage() != shown, "nothing was held back"
    assert picture(bench.page).copy(plot).toImage() == shown


def test_the_results_tab_says_how_much_of_the_sweep_was_measuring(bench: Bench) -> None:
    spent = {"trial_launch_ms": Figure(value=0.5), "trial_check_ms": Figure(value=0.25)}
    told = (
        replace(one, measurement=replace(one.measurement, figures=one.measurement.figures | spent))
        if isinstance(one, PointChecked)
        else one
        for one in script(make_plan(KERNELS, LENGTHS))
    )
    bench.sweep(list(told))
    summary = bench.page.bottom.summary
    assert not summary.isVisible()
    bench.page.bottom.show_tab(1)
    assert summary.isVisible()
    assert summary.text() == efficiency_short(bench.controller.session)  # type: ignore[arg-type]  # there is one
    assert summary.text().startswith("efficiency ")
    assert "by N" in summary.toolTip()
