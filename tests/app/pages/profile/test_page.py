"""The page as a user meets it."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QApplication, QComboBox, QLineEdit

from flashscope.app.control.far.places import HostDevices, TakenDevices, Wanted
from flashscope.app.figures.series import failure_text
from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import DARK, LIGHT
from flashscope.app.shell.shots import grab_whole
from flashscope.app.words.command_line import command_line
from flashscope.profiles.results.quantities.registry import RUNTIME
from flashscope.profiles.wire.events import MachineFound
from tests.app.bench import Bench
from tests.app.fakes import FakeEngine
from tests.app.pages.profile.failing import EVENTS, LENGTHS
from tests.profiles.sessions import CPU_TELEMETRY, MACHINE, make_plan, script, session_of


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


@pytest.mark.matrix
def test_removing_a_chip_removes_its_length(bench: Bench) -> None:
    chips = bench.page.form.chips
    chips.field.setText("256:1024")
    chips._chips[1].click()
    assert chips.seqlens == (256, 1024)


@pytest.mark.matrix
def test_another_backend_brings_its_own_lengths_and_types(bench: Bench) -> None:
    bench.page.set_backend("cuda")
    assert bench.page.form.request().seqlens[-1] == 16384
    bench.page.set_backend("cpu")
    assert bench.page.form.request().dtype == "float32"
    assert bench.page.form.request().seqlens[-1] == 2048


@pytest.mark.matrix
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


@pytest.mark.matrix
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


@pytest.mark.matrix
def test_a_word_that_fits_on_neither_side_of_its_glyphs_is_left_to_their_tips(bench: Bench) -> None:
    bench.page.resize(850, 900)  # the panel beside leaves each plot 200
    bench.sweep(
        script(make_plan(("standard",), LENGTHS), {("standard", n): ("timeout", "Slow.") for n in LENGTHS})
    )
    QApplication.processEvents()  # the form has gone
    rail = bench.page.plots.cards[RUNTIME.key].plot.rail
    assert not rail._words[0].isVisible()
    assert len(rail.scatter.points()) == len(LENGTHS)


@pytest.mark.matrix
def test_a_failed_point_reads_its_status_under_the_crosshair(bench: Bench) -> None:
    bench.sweep(EVENTS)
    bench.page.plots.move_cursor(1024)
    assert bench.page.plots.panel.figure("standard", "runtime") == "timeout"


@pytest.mark.matrix
def test_curves_are_made_once_and_fed_again(bench: Bench) -> None:
    bench.sweep(EVENTS)
    plot = bench.page.plots.cards["runtime"].plot
    before = len(plot.plotItem.items)
    for _ in range(5):
        bench.page.refresh()
    assert len(plot.plotItem.items) == before


@pytest.mark.matrix
def test_a_theme_switch_recolours_what_is_drawn_and_keeps_the_kernels_colours(bench: Bench) -> None:
    bench.sweep(EVENTS)
    bench.page.apply_theme(LIGHT)
    bench.drawn()
    plot = bench.page.plots.cards["runtime"].plot
    assert plot.backgroundBrush().color().name() == LIGHT.panel.lower()
    assert plot.getAxis("left").textPen().color().name() == LIGHT.dim.lower()
    bench.page.show_view("telemetry")
    bench.drawn()
    lane = bench.page.bottom.strip.lanes["memory_used"]
    assert lane.curve.opts["pen"].color().name() == LIGHT.text.lower()
    curve = plot._curves["standard"].curve
    assert curve.opts["pen"].color().name() == kernel_mark("standard").on(LIGHT).lower()
    bench.page.apply_theme(DARK)
    bench.drawn()
    assert plot.backgroundBrush().color().name() == DARK.panel.lower()


@pytest.mark.matrix
def test_a_view_that_is_moved_and_a_point_in_flight_leave_no_pictures_of_symbols_behind(bench: Bench) -> None:
    bench.sweep(EVENTS)
    plot = bench.page.plots.cards["runtime"].plot
    kept = set()
    for turn in range(6):
        plot.getViewBox().translateBy(x=0.01)
        plot.show_flight({(256, "standard"): 1.0 + turn})
        kept.add(tuple(len(dots.fragmentAtlas) for dots in (plot.rail.scatter, plot._flight)))
    assert len(kept) == 1


@pytest.mark.matrix
def test_freezing_stops_the_display_and_not_the_recording(bench: Bench) -> None:
    bench.page.show_view("telemetry")
    half = len(EVENTS) // 2
    bench.sweep(EVENTS[:half])
    strip = bench.page.bottom.strip
    curve = strip.rows["memory_used"].lane.curve
    before = len(curve.getData()[0])
    bench.page.bottom.freeze.setChecked(True)
    bench.tell(EVENTS[half:])
    assert len(curve.getData()[0]) == before
    session = bench.controller.session
    assert session is not None
    assert len(strip.ring) == len(session.readings) > before
    bench.page.bottom.freeze.setChecked(False)
    assert len(strip.lanes["memory_used"].curve.getData()[0]) > before


@pytest.mark.matrix
def test_a_lane_that_does_not_exist_here_is_not_drawn_and_its_reason_is_told(bench: Bench) -> None:
    events = script(make_plan(("standard",), LENGTHS, "cpu"), telemetry=CPU_TELEMETRY)
    bench.page.show_session(session_of(events))
    bench.page.show_view("telemetry")
    bench.drawn()
    strip = bench.page.bottom.strip
    assert strip.lanes["memory_used"].isVisible()
    assert not strip.rows["power_w"].isVisible()
    assert strip.first.absent.text().startswith("n/a here: ")
    assert "power: psutil does not read power" in strip.first.absent.toolTip()


@pytest.mark.matrix
def test_a_saved_session_shows_its_recorded_readings_and_lends_its_parameters(bench: Bench) -> None:
    session = session_of(EVENTS)
    bench.controller._shown._show(session, "saved", None)
    assert len(bench.page.bottom.strip.ring) == len(session.readings)
    bench.page.use_session()
    assert bench.page.plan() == session.plan


def test_the_command_line_goes_to_the_clipboard(bench: Bench) -> None:
    bench.page.copy_command_line()
    asked = bench.page.form.request()
    assert QGuiApplication.clipboard().text() == command_line(asked)
    devices = bench.page.controller.devices
    devices.place = TakenDevices(
        Wanted((HostDevices("lab.file", ("GPU 0, H100", "GPU 3, H100")),)), FakeEngine(print)
    )
    bench.page.copy_command_line()
    devices.place = None
    options = "--connect lab.file --devices 'GPU 0,GPU 3'"
    assert QGuiApplication.clipboard().text() == command_line(asked).replace("--out", f"{options} --out")


def test_every_input_has_an_accessible_name(bench: Bench) -> None:
    kinds = (QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit)
    for kind in kinds:
        for widget in bench.page.findChildren(kind):
            if widget.isVisible() and widget.objectName() != "qt_spinbox_lineedit":
                named = widget.accessibleName() or getattr(widget, "text", str)()
                assert named, widget


@pytest.mark.matrix
def test_nothing_is_wider_than_the_window_at_1280_by_720(bench: Bench) -> None:
    assert bench.page.minimumSizeHint().width() <= 1280 - 80
    assert bench.page.minimumSizeHint().height() <= 720 - 76


@pytest.mark.matrix
def test_a_picture_taken_in_the_middle_of_a_sweep_is_whole(bench: Bench) -> None:
    bench.sweep(EVENTS)
    grab_whole(bench.page)  # everything has its place
    card = bench.page.plots.cards["runtime"]
    plot = QRect(card.plot.mapTo(bench.page, QPoint()), card.plot.size())
    shown = bench.page.grab(plot).toImage()
    bench.page._turns.start_covered()
    assert bench.page.grab(plot).toImage() != shown, "nothing was held back"
    assert grab_whole(bench.page).copy(plot).toImage() == shown
