"""The sentence over the plots, its kernel in them, and one plot in the place of all."""

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED, bundled_sessions
from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import DARK
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.profile.headline_bar import HeadlineBar
from flashscope.app.plots.sweep.sweep_plot import SweepPlot
from flashscope.app.shell.main_window import MainWindow
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.findings.headline import Headline
from tests.app.bench import Bench
from tests.app.rig import Rig
from tests.profiles.sessions import CPU_TELEMETRY, Failure, make_plan, script

KERNELS = ("standard", "flash1", "flash2")
NO_ROOM: dict[tuple[str, int], Failure] = {("standard", 2048): ("will-not-fit", "1 TiB is more than 139 GiB")}


def tell(bench: Bench) -> Bench:
    """Tell the page of a sweep whose baseline does not fit at the end."""
    bench.sweep(script(make_plan(KERNELS), NO_ROOM))
    return bench


@pytest.fixture
def told(bench: Bench) -> Bench:
    """A page that has been told of it."""
    return tell(bench)


@pytest.fixture(scope="module")
def looked_at(shared_bench: Bench) -> Bench:
    """The same for tests that leave it as they find it, but for the crosshair."""
    return tell(shared_bench)


def sentence(bench: Bench) -> str:
    bench.drawn()
    return bench.page.headline.sentence.text()


def shining(plot: SweepPlot) -> str:
    """The kernel whose curve is the broadest."""
    drawn = {kernel: one.curve.opts["pen"].widthF() for kernel, one in plot._curves.items()}
    return max(drawn, key=drawn.__getitem__)


def test_it_follows_the_crosshair(looked_at: Bench) -> None:
    looked_at.page.plots.move_cursor(1024)
    assert sentence(looked_at).startswith("flash2 is ")
    assert sentence(looked_at).endswith("at N = 1k; standard will not fit at 2k.")
    looked_at.page.plots.move_cursor(2048)
    assert sentence(looked_at).endswith("at N = 2k, where standard will not fit.")


@pytest.mark.matrix
def test_it_follows_the_baseline(told: Bench) -> None:
    told.page.plots.move_cursor(1024)
    told.page.plots._choose_baseline("flash1")
    assert " than flash1 " in sentence(told)


@pytest.mark.matrix
def test_it_follows_the_quantities_on_show(told: Bench) -> None:
    told.page.plots.move_cursor(1024)
    told.page.plots.show_quantities(["footprint", "predicted", "samples", "kept"])
    assert sentence(told).startswith("flash2 takes ")
    assert "faster" not in sentence(told)


def test_a_hidden_kernel_is_not_named(looked_at: Bench) -> None:
    looked_at.page.plots.panel.button("flash2").click()
    assert sentence(looked_at).startswith("flash1 ")
    looked_at.page.plots.panel.button("flash2").click()


@pytest.mark.matrix
def test_before_a_sweep_it_says_what_would_fill_it(bench: Bench) -> None:
    assert "Run the sweep" in sentence(bench)


@pytest.mark.matrix
def test_its_height_is_the_same_whatever_it_says(bench: Bench) -> None:
    before = bench.page.headline.height()
    bench.sweep(script(make_plan(KERNELS, backend="cpu"), telemetry=CPU_TELEMETRY))
    bench.drawn()
    assert bench.page.headline.height() == before


@pytest.mark.matrix  # it takes a second
def test_on_a_cpu_memory_is_told_and_one_button_leads_to_a_recording(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = {"standard": 330.0, "flash2": 90.0}
    monkeypatch.setattr("tests.profiles.sessions.RATES", slow)
    bench.sweep(script(make_plan(("standard", "flash2"), backend="cpu"), telemetry=CPU_TELEMETRY))
    bench.drawn()
    bar = bench.page.headline
    assert " of S and P (N × N), flash2 none. " in bar.note.text()
    assert bar.link.text() == "See a GPU recording"
    with bench.qtbot.waitSignal(bench.page.file_chosen) as chosen:
        bar.link.click()
    assert chosen.args == [bundled_sessions()[0]]


@pytest.mark.parametrize(
    ("problem", "recording"),
    [
        (Problem(seqlen_q=512, seqlen_k=512), "h200-standard-flash2"),
        (Problem(seqlen_q=512, seqlen_k=512, passes="backward"), "h200-backward"),
        (Problem(seqlen_q=1, seqlen_k=512), "h200-decode"),
    ],
)
def test_the_recording_that_is_offered_is_of_a_problem_like_the_one_on_show(
    qapp: QApplication, problem: Problem, recording: str
) -> None:
    bar = HeadlineBar()
    chosen: list[Path] = []
    bar.file_chosen.connect(chosen.append)
    bar.say(Headline("flash2", "standard", 512, "cpu", problem=problem))
    bar.link.click()
    assert [path.stem for path in chosen] == [recording]


def test_no_line_of_a_sentence_is_cut_that_takes_three(qapp: QApplication) -> None:
    bar = HeadlineBar()
    bar.resize(400, bar.height())
    bar.show()
    before = bar.height()
    bar.sentence.setText("flash2 takes as much memory as flash1 and is as fast, within the noise. " * 2)
    qapp.processEvents()
    assert bar.sentence.height() >= bar.sentence.heightForWidth(bar.sentence.width()) > before
    bar.sentence.setText("flash2 is as fast.")
    assert bar.height() == before


@pytest.mark.matrix
def test_a_sentence_of_two_lines_takes_the_room_of_the_note_and_says_it_in_its_tip(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.profiles.sessions.RATES", {"standard": 330.0, "flash2": 90.0})
    bench.sweep(script(make_plan(("standard", "flash2"), backend="cpu"), telemetry=CPU_TELEMETRY))
    bench.drawn()
    bar = bench.page.headline
    assert not bar.note.isHidden()
    one_line = bar.sentence.text()
    bar.sentence.setText(f"{one_line} " * 3)
    assert not bar.hasHeightForWidth()  # so that the page asks for no more height
    assert bar.note.isHidden()
    assert bar.sentence.toolTip().replace("\n", " ").endswith(bar.note.text())
    bar.sentence.setText("flash2 is as fast.")
    assert not bar.note.isHidden()


def test_on_a_gpu_no_recording_is_offered(looked_at: Bench) -> None:
    looked_at.drawn()
    assert looked_at.page.headline.link.isHidden()


def test_the_kernel_that_it_names_outshines_the_others(looked_at: Bench) -> None:
    looked_at.drawn()
    for card in looked_at.page.plots.cells:
        assert shining(card.plot) == "flash2"
        drawn = card.plot._curves["flash2"].curve.opts["pen"].color().name()
        assert drawn == kernel_mark("flash2").on(DARK).lower(), "the colour that the legend has"
    looked_at.page.plots.panel.button("flash2").click()
    looked_at.drawn()
    assert shining(looked_at.page.plots.cells[1].plot) == "flash1"
    looked_at.page.plots.panel.button("flash2").click()


def test_a_picture_says_it_of_its_own_quantity(looked_at: Bench) -> None:
    looked_at.page.plots.move_cursor(1024)
    export = looked_at.page.plots.cards["footprint"].make_export()
    assert export is not None
    assert export.headline.startswith("flash2 takes ")
    silent = looked_at.page.plots.cards["runtime"].make_export()
    assert silent is not None
    assert " faster than standard at N = 1k" in silent.headline


def test_the_pointer_on_a_curve_lets_the_others_stand_back_in_every_plot(looked_at: Bench) -> None:
    looked_at.drawn()
    plot = looked_at.page.plots.cards["runtime"].plot
    x, y = plot._curves["standard"].places()[0]
    plot._hover(plot.getViewBox().mapViewToScene(QPointF(x, y)))
    for card in looked_at.page.plots.cells:
        faint = {kernel for kernel, one in card.plot._curves.items() if one.curve.opacity() < 1}
        assert faint == {"flash1", "flash2"}
    looked_at.page.plots._point_at("")
    assert all(one.curve.opacity() == 1 for one in plot._curves.values())


@pytest.mark.parametrize("leave", ["leaves", "is hidden"])
def test_a_curve_that_is_pointed_at_lets_the_others_go_when_its_plot(looked_at: Bench, leave: str) -> None:
    looked_at.drawn()
    plot = looked_at.page.plots.cards["runtime"].plot
    plot._hover(plot.getViewBox().mapViewToScene(QPointF(*plot._curves["standard"].places()[0])))
    assert dimmed(looked_at)
    let_go(plot, leave)
    assert not dimmed(looked_at)


@pytest.mark.parametrize("leave", ["leaves", "is hidden", "goes"])
def test_a_name_that_is_pointed_at_lets_the_others_go_when_it(looked_at: Bench, leave: str) -> None:
    looked_at.drawn()
    panel = looked_at.page.plots.panel
    button = panel.button("flash1")
    QApplication.sendEvent(button, QEnterEvent(QPointF(1, 1), QPointF(1, 1), QPointF(1, 1)))
    assert dimmed(looked_at)
    if leave == "goes":
        for _step in panel.set_kernels(("standard", "flash2")):
            pass
    else:
        let_go(button, leave)
    assert not dimmed(looked_at)
    for _step in panel.set_kernels(KERNELS):
        pass


def let_go(widget: QWidget, how: str) -> None:
    """Have the pointer leave it at once, or hide it under the pointer and show it again."""
    if how == "leaves":
        QApplication.sendEvent(widget, QEvent(QEvent.Type.Leave))
    else:
        widget.hide()
        widget.show()


def dimmed(bench: Bench) -> set[str]:
    """The kernels that stand back in any plot."""
    plots = [card.plot for card in bench.page.plots.cells]
    return {kernel for plot in plots for kernel, one in plot._curves.items() if one.curve.opacity() < 1}


def test_alt_click_shows_one_kernel_alone_and_again_all(looked_at: Bench) -> None:
    looked_at.drawn()
    plots = looked_at.page.plots

    def alt_click() -> None:
        button = plots.panel.button("flash1")
        QTest.mouseClick(button, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.AltModifier, QPoint(4, 4))
        looked_at.drawn()

    alt_click()
    assert set(plots.kernels) == {"flash1"}
    alt_click()
    assert set(plots.kernels) == set(KERNELS)


def test_a_double_click_gives_the_page_to_one_plot_and_esc_takes_it_back(looked_at: Bench) -> None:
    plots, page = looked_at.page.plots, looked_at.page
    page.open_form(True)
    card = plots.cards["speed-up"]
    where = card.plot.viewport().rect().center()
    QTest.mouseDClick(card.plot.viewport(), Qt.MouseButton.LeftButton, pos=where)
    looked_at.drawn()
    assert [one for one in plots.cells if one.isVisible()] == [card]
    assert not plots.panel.isVisible()
    assert not page.form.isVisible()
    assert not page.bottom.isVisible()
    looked_at.qtbot.waitUntil(lambda: card.height() > 0.8 * plots.height())
    assert page.back()
    assert all(one.isVisible() for one in plots.cells)
    assert page.form.isVisible()
    assert not page.back()
    page.open_form(False)


def test_enter_on_a_plot_gives_it_the_page(looked_at: Bench) -> None:
    card = looked_at.page.plots.cards["runtime"]
    QTest.keyClick(card.plot, Qt.Key.Key_Return)
    assert [one for one in looked_at.page.plots.cells if one.isVisible()] == [card]
    QTest.keyClick(card.plot, Qt.Key.Key_Return)
    assert all(one.isVisible() for one in looked_at.page.plots.cells)


@pytest.mark.matrix
def test_curves_are_named_at_their_ends_where_there_is_room(told: Bench) -> None:
    plots = told.page.plots
    plots.full.turn(plots.cards["runtime"])
    told.drawn()
    labels = plots.cards["runtime"].plot.labels
    told.qtbot.waitUntil(lambda: len(labels.written) == len(KERNELS))
    assert {one.kernel for one in labels.written} == set(KERNELS)
    boxes = [one.box for one in labels.written]
    assert all(labels.boundingRect().contains(box) for box in boxes)
    assert not any(a.adjusted(0, 1, 0, -1).intersects(b) for a in boxes for b in boxes if a is not b)


@pytest.mark.matrix
def test_a_curve_that_ends_before_the_others_is_named_at_its_own_end_or_not_at_all(bench: Bench) -> None:
    lost: Failure = ("will-not-fit", "it needs more")
    bench.sweep(script(make_plan(KERNELS), {("flash1", n): lost for n in (1024, 2048)}))
    plots = bench.page.plots
    plots.full.turn(plots.cards["runtime"])
    bench.drawn()
    labels = plots.cards["runtime"].plot.labels
    bench.qtbot.waitUntil(lambda: {one.kernel for one in labels.written} >= set(KERNELS) - {"flash1"})
    view = plots.cards["runtime"].plot.getViewBox()
    ends = {one.kernel: view.mapFromView(QPointF(one.x, one.y)) for one in labels._endings}
    assert ends["flash1"].x() < ends["flash2"].x() - 50
    for name in labels.written:
        right, left = name.box.left() - ends[name.kernel].x(), ends[name.kernel].x() - name.box.right()
        assert 0 < max(right, left) < 20
        assert abs(name.box.center().y() - ends[name.kernel].y()) < 3 * name.box.height()


@pytest.mark.matrix
def test_a_baseline_that_no_longer_fits_is_named_left_of_its_end_where_another_curve_is_right_of_it(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    window.resize(1280, 720)
    rig.open(BUNDLED / "h200-standard-flash2.flashscope")
    window.show_page("profile")
    page = window.page
    assert isinstance(page, ProfilePage)
    plot = page.plots.cards["runtime"].plot
    qtbot.waitUntil(lambda: {one.kernel for one in plot.labels.written} == {"standard", "flash2"})
    boxes = {one.kernel: one.box for one in plot.labels.written}
    ends = {one.kernel: plot.getViewBox().mapFromView(QPointF(one.x, one.y)) for one in plot.labels._endings}
    assert 0 < ends["standard"].x() - boxes["standard"].right() < 20
    assert 0 < boxes["flash2"].left() - ends["flash2"].x() < 20


@pytest.mark.matrix
def test_curves_are_not_named_where_there_is_no_room(told: Bench) -> None:
    plot = told.page.plots.cards["runtime"].plot
    plot.resize(170, 120)
    told.drawn()
    assert plot.labels.written == ()


@pytest.mark.matrix
def test_a_point_that_failed_its_check_is_not_named(bench: Bench) -> None:
    off: Failure = ("wrong", "row 3 is off")
    bench.sweep(script(make_plan(KERNELS), {("flash2", n): off for n in (512, 1024, 2048)}))
    assert sentence(bench).startswith("flash1 ")
