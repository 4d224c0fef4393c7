"""What a view shows on a stage can be read from row 30: whole, large, and no text on another."""

from collections.abc import Iterator
from typing import Any

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import QAbstractButton, QLabel, QScrollBar, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.control.chores import wait_for_all
from flashscope.app.pages.compare import ComparePage
from flashscope.app.pages.planner import PlannerPage
from flashscope.app.pages.ranks import RanksPage
from flashscope.app.pages.roofline import RooflinePage
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.pages.stepper.predict_board import PredictBoard
from flashscope.app.pages.timeline import TimelinePage
from flashscope.app.plots.stepper import held, memory_panel, panel
from flashscope.app.plots.stepper.panel import put
from flashscope.app.plots.style import Plot
from flashscope.app.plots.sweep.sweep_plot import SweepPlot
from flashscope.app.shell.full_screen import FullScreen
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.presenter import venue
from flashscope.app.shell.shots import grab_whole
from flashscope.app.stage.story import find_story, read_story
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.kernels.cpu.backward_trace import record as record_backward
from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.events import TimelineReady
from tests.app.rig import Rig
from tests.app.shell.presenter.conftest import answer, profile
from tests.app.shell.presenter.conftest import settle as arrive
from tests.app.timelines import made_timeline
from tests.matrix import chosen

SIZES = {(1280, 720): 24, (1920, 1080): 27}  # the least pixels of a letter: 18 pt, 20 pt
SCREEN = 800  # pixels of the screen that these tests have
VIEWS = (
    "profile",
    "telemetry",
    "results",
    "roofline",
    "roofline memories",
    "traffic",
    "ranks",
    "ranks lanes",
    "compare",
    "planner",
    "stepper",
    "stepper lanes",
    "stepper broken",
    "stepper predict",
    "stepper backward",
    "timeline",
    "timeline SMs",
    "ladder",
)
SHOWN = {
    "roofline memories": "h100-caches",
    "ranks": "h100-ranks",
    "ranks lanes": "h100-ranks",
    "timeline SMs": "h200-timelines",
}
INSET = 4  # pixels of a text's own margin
FIRST = [("roofline", (1280, 720))]  # many texts that might meet
WALKS = [
    pytest.param(
        view, size, id=f"{view}-{size[1]}", marks=() if (view, size) in FIRST else pytest.mark.matrix
    )
    for view in VIEWS
    for size in SIZES
]
TOUCH = 1.0  # pixels that two texts may share


def take(window: MainWindow, rig: Rig, qtbot: QtBot, view: str) -> None:
    """Open what has something for every view, and put one of them on the stage."""
    rig.open(BUNDLED / f"{SHOWN.get(view, 'h200-traffic')}.flashscope")
    if view == "compare":
        compare = window.pages["compare"]
        assert isinstance(compare, ComparePage)
        compare.choose([BUNDLED / f"{name}.flashscope" for name in ("h100-peers", "h200-peers")])
        qtbot.waitUntil(lambda: compare.board.findings is not None)
    view, _, mode = view.partition(" ")
    window.show_page(view)
    if view == "stepper":
        stepper = window.pages["stepper"]
        assert isinstance(stepper, StepperPage)
        stepper.show_preset("slide-reversed")
        answer(rig)
        stepper.show_mode(mode or "blocks")
        answer(rig)
        stepper.seek(4)
        if mode == "backward":
            problem = Problem(seqlen_q=24, seqlen_k=24, heads=1, head_dim=16, passes="backward")
            stepper.backwards.show(
                record_backward(BackwardTraceRequest(problem=problem, block_q=8, block_k=8))
            )
            stepper.backwards.board.seek(6)
    if mode == "memories":
        window.trigger("roofline.memories")
    if view == "timeline" and not mode:
        rig.engine.say([TimelineReady(timeline=made_timeline(kernel)) for kernel in ("flash1", "flash2")])
    if view == "timeline":
        timeline = window.pages["timeline"]
        assert isinstance(timeline, TimelinePage)
        qtbot.waitUntil(lambda: len(timeline.shown) == 2)
    window.trigger("stage")
    assert window.stage.on
    if mode == "lanes" and isinstance(page := window.page, RanksPage):
        page.staging.fill_with(page.lanes)


def settle(window: MainWindow, size: tuple[int, int], qtbot: QtBot) -> None:
    window.appearance.finish()
    window.resize(*size)
    wait_for_all(window.page)
    qtbot.waitUntil(lambda: not window.stage.loading.on)
    for _ in range(3):
        qtbot.wait(30)
        grab_whole(window)


@pytest.mark.matrix  # it takes a second
@pytest.mark.parametrize(("view", "size"), WALKS)
def test_on_a_stage_nothing_scrolls_is_clipped_small_or_stands_on_another(
    window: MainWindow,
    rig: Rig,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    *,
    view: str,
    size: tuple[int, int],
) -> None:
    monkeypatch.setattr(venue, "HEIGHT", venue.HEIGHT * SCREEN / max(size[1], venue.HEIGHT))
    monkeypatch.setattr(FullScreen, "toggle", lambda *_: None)  # this screen has another size
    take(window, rig, qtbot, view)
    settle(window, size, qtbot)
    assert window.stage.frame.sentence.isVisible(), "a computed sentence"
    look(window, size)


@pytest.mark.matrix
@pytest.mark.parametrize("size", SIZES)
def test_a_rooflines_axes_are_named_and_no_ceilings_name_stands_on_another(
    window: MainWindow, rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(venue, "HEIGHT", venue.HEIGHT * SCREEN / max(size[1], venue.HEIGHT))
    monkeypatch.setattr(FullScreen, "toggle", lambda *_: None)
    take(window, rig, qtbot, "roofline")
    settle(window, size, qtbot)
    page = window.page
    assert isinstance(page, RooflinePage)
    assert "TFLOP/s over FLOP a byte" in {one.text() for one in page.card.findChildren(QLabel)}
    plot = page.card.plot
    view = plot.getViewBox()
    named = {text: box for text, box in boxes(plot) if text.endswith("/s")}
    assert {text.split()[0] for text in named} == {"copy", "matmul", "exponentials"}
    levels = [view.mapViewToScene(QPointF(0, one.level)).y() for one in plot._roofs if not one.rises]
    assert not [text for text, box in named.items() for y in levels if box.top() < y < box.bottom()]


@pytest.mark.matrix  # it takes a second
@chosen("size", SIZES, [*SIZES][1:])
def test_where_the_stage_shows_the_memory_it_says_that_s_and_p_are_never_there(
    window: MainWindow, rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(venue, "HEIGHT", venue.HEIGHT * SCREEN / max(size[1], venue.HEIGHT))
    monkeypatch.setattr(FullScreen, "toggle", lambda *_: None)
    window.stage.enter(read_story(find_story("online-softmax")))
    window.stage.go(5)
    arrive(window, rig, qtbot)
    settle(window, size, qtbot)
    written: dict[str, bool] = {}  # whether they have room

    def noting(painter: QPainter, rect: QRectF, html: str, *rest: Any) -> float:
        wide = put(painter, rect, html, *rest)
        written[html] = wide <= rect.width() + TOUCH
        return wide

    stepper = window.page
    assert isinstance(stepper, StepperPage)
    for module in (panel, held, memory_panel):
        monkeypatch.setattr(module, "put", noting)
    stepper.modes.blocks.memory.grab()
    assert [has_room for text, has_room in written.items() if "S and P are never here" in text] == [True]
    assert all(written.get(chip) for chip in ("Q<sub>0</sub>", "K<sub>1</sub>", "V<sub>1</sub>", "m ℓ O"))


@pytest.mark.matrix
def test_the_crosshair_runs_through_no_name_of_a_curve(
    window: MainWindow, rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(venue, "HEIGHT", venue.HEIGHT * SCREEN / venue.HEIGHT)
    monkeypatch.setattr(FullScreen, "toggle", lambda *_: None)
    window.stage.enter(read_story(find_story("why-tiling-wins")))
    window.stage.go(2)
    arrive(window, rig, qtbot)
    settle(window, (1280, 720), qtbot)
    plot = profile(window).plots.cells[0].plot
    view = plot.getViewBox()
    (box,) = [view.mapRectToScene(one.box) for one in plot.labels.written if one.kernel == "standard"]
    x = round(view.mapViewToScene(QPointF(plot._cross.value(), 0)).x())
    assert box.left() < x < box.right(), "the name is where the crosshair stands"
    image = plot.grab().toImage()
    line = image.pixelColor(x, round(box.top()) - 4)
    assert line != image.pixelColor(x + 6, round(box.top()) - 4)
    assert line not in [image.pixelColor(x, y) for y in range(round(box.top()) + 1, round(box.bottom()))]


def test_the_planners_curves_are_named_on_a_stage_and_there_alone(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("planner")
    page = window.page
    assert isinstance(page, PlannerPage)
    legend = page.memory.legend
    assert not legend.isVisible()
    window.trigger("stage")
    qtbot.waitUntil(lambda: not window.stage.loading.on)
    assert legend.isVisible()
    assert set(legend.shown) == set(page.memory.plot.drawn.curves) > {"standard", "flash2"}
    window.trigger("stage")
    assert not legend.isVisible()


@pytest.mark.matrix
@pytest.mark.parametrize("size", SIZES)
def test_every_question_of_predict_stands_whole_on_a_stage_with_its_answer(
    window: MainWindow, rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(venue, "HEIGHT", venue.HEIGHT * SCREEN / max(size[1], venue.HEIGHT))
    monkeypatch.setattr(FullScreen, "toggle", lambda *_: None)
    take(window, rig, qtbot, "stepper predict")
    stepper = window.page
    assert isinstance(stepper, StepperPage)
    board = stepper.modes.board
    assert isinstance(board, PredictBoard)
    while True:
        board.answer(0)
        settle(window, size, qtbot)
        look(window, size)
        if board.quiz.ended:
            return
        board.onward.click()


def look(window: MainWindow, size: tuple[int, int]) -> None:
    """Fail where something scrolls, is small, is cut, or meets another text of its plot."""
    assert [one for one in window.findChildren(QScrollBar) if one.isVisible()] == []
    small = {text: px for text, px in letters(window) if px < SIZES[size]}
    assert small == {}
    assert list(clipped(window)) == []
    for plot in window.page.findChildren(Plot):
        if plot.isVisible():
            assert list(meetings(plot)) == []


def worded(window: MainWindow) -> Iterator[QLabel | QAbstractButton]:
    found: list[QLabel | QAbstractButton] = [*window.findChildren(QLabel)]
    found += window.findChildren(QAbstractButton)
    yield from (one for one in found if one.isVisible() and one.text())


def letters(window: MainWindow) -> Iterator[tuple[str, int]]:
    """The texts in sight with the pixels of their letters."""
    for one in worded(window):
        yield one.text(), one.fontInfo().pixelSize()
    for plot in window.page.findChildren(Plot):
        for item in plot.scene().items() if plot.isVisible() else ():
            if isinstance(item, pg.TextItem) and item.isVisible() and item.toPlainText():
                yield item.toPlainText(), item.textItem.font().pixelSize()
            if isinstance(item, pg.AxisItem) and item.isVisible() and item.style["showValues"]:
                font = item.style["tickFont"]
                yield f"ticks of {plot.accessibleName()}", font.pixelSize() if font else 0


def clipped(window: MainWindow) -> Iterator[str]:
    """What is not seen whole; the line under the page alone may end in an ellipsis."""
    foot = window.stage.frame.foot
    for one in worded(window):
        if foot.isAncestorOf(one):
            continue
        if not within(one, window):
            yield f"{one.text()} is cut by what it stands in"
        if isinstance(one, ElidedLabel) and QLabel.text(one).endswith("…"):
            yield f"{one.text()} ends in an ellipsis"
        if isinstance(one, QLabel) and not isinstance(one, ElidedLabel):
            needs = one.heightForWidth(one.width()) if one.wordWrap() else one.sizeHint().height()
            if needs > one.height() + 1 or (not one.wordWrap() and one.sizeHint().width() > one.width() + 1):
                yield f"{one.text()} has no room"
    for plot in window.page.findChildren(Plot):
        if plot.isVisible() and not within(plot, window):
            yield f"{plot.accessibleName()} is cut"


def within(one: QWidget, window: MainWindow) -> bool:
    place = one.rect().translated(one.mapTo(window, one.rect().topLeft()))
    return one.visibleRegion().boundingRect() == one.rect() and window.rect().contains(place)


def meetings(plot: Plot) -> Iterator[tuple[str, str]]:
    """Pairs of texts of a plot that stand on one another, and texts that stand beyond it."""
    texts = [(text, box) for text, box in boxes(plot) if text.strip()]
    for at, (text, box) in enumerate(texts):
        if not QRectF(plot.rect()).adjusted(-TOUCH, -TOUCH, TOUCH, TOUCH).contains(box):
            yield text, "the edge"
        for other, another in texts[:at]:
            shared = box & another
            if shared.width() > TOUCH and shared.height() > TOUCH:
                yield text, other


def boxes(plot: Plot) -> Iterator[tuple[str, QRectF]]:
    """The texts of a plot, and where they stand in it."""
    for item in plot.scene().items():
        if not item.isVisible() or item.opacity() == 0:
            continue
        if isinstance(item, pg.TextItem):
            inner = item.boundingRect().adjusted(INSET, INSET, -INSET, -INSET)
            yield item.toPlainText(), item.mapRectToScene(inner)
        elif isinstance(item, pg.LabelItem):
            yield item.text, item.mapRectToScene(item.itemRect())
        elif isinstance(item, pg.AxisItem):
            yield from ticks(item)
    if isinstance(plot, SweepPlot):
        view = plot.getViewBox()
        for written in plot.labels.written:
            yield written.kernel, view.mapRectToScene(written.box)


def ticks(axis: pg.AxisItem) -> Iterator[tuple[str, QRectF]]:
    pixmap = QPixmap(1, 1)
    with QPainter(pixmap) as painter:
        painter.setFont(axis.style["tickFont"] or painter.font())
        drawn = axis.generateDrawSpecs(painter)
        if drawn is None:
            return
        letters, whole = painter.fontMetrics(), painter.fontMetrics().height()
        above, below = (
            letters.ascent() - letters.capHeight(),
            letters.descent(),
        )  # of figures nothing is there
        for rect, flags, text in drawn[2]:
            box = QRectF(painter.boundingRect(rect, flags, text))
            middle = box.center().y() - whole / 2
            yield (
                text,
                axis.mapRectToScene(QRectF(box.left(), middle + above, box.width(), whole - above - below)),
            )
