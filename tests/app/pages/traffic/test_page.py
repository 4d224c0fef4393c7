"""The Traffic page over scripted events; every curve in them is synthetic."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK, LIGHT
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.traffic import TrafficPage
from flashscope.app.plots.style import tick_font
from flashscope.app.plots.timeline.traffic_plot import Rates
from flashscope.app.widgets.scrolling import Scrolling
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.wire.events import Event, PointMeasured
from flashscope.profiles.wire.measurement import Figure
from flashscope.profiles.wire.traffic import Traffic
from tests.app import fakes
from tests.app.bench import make_controller
from tests.app.fakes import SilentEngine

WALLS = Traffic(
    bin_ns=10_000, run_ns=38_000, bins=((0, 40_000_000), (20_000_000, 20_000_000), (40_000_000, 0))
)
WHISPER = Traffic(bin_ns=10_000, run_ns=18_000, bins=((500_000, 0), (250_000, 100_000)))
BOTH = {"standard": WALLS, "flash2": WHISPER}


def counted(
    curves: Mapping[str, Traffic],
    missing: str = "",
    seqlens: tuple[int, ...] = (512, 1024),
    plan: Plan = fakes.PLAN,
) -> list[Event]:
    """A sweep whose points at these N have these curves, or a reason why there are none."""
    points = plan.points()

    def told(event: Event) -> Event:
        if not isinstance(event, PointMeasured):
            return event
        point = points[event.index]
        curve = curves.get(point.kernel) if point.problem.seqlen_q in seqlens else None
        if curve is None:
            return replace(event, figures={"dram_read_bytes": Figure(missing=missing)} if missing else {})
        read, written = (sum(column) for column in zip(*curve.bins, strict=True))
        figures = {
            "dram_read_bytes": Figure(value=read),
            "dram_write_bytes": Figure(value=written),
            "copy_gbs": Figure(value=4000.0),
        }
        return replace(event, figures=figures, traffic=curve)

    return [told(event) for event in fakes.sweep(plan)]


class Told:
    """The page, and an engine that says what a test has it say."""

    def __init__(self, controller: Controller, engine: SilentEngine, qtbot: QtBot) -> None:
        self.controller, self.engine, self.qtbot = controller, engine, qtbot
        self.page = TrafficPage(controller, DARK)
        qtbot.addWidget(self.page)
        self.page.resize(900, 600)
        self.page.show()
        qtbot.waitExposed(self.page)

    def tell(self, events: list[Event]) -> None:
        seen: list[Event] = []
        self.controller.events_arrived.connect(seen.extend)
        for event in events:
            self.engine.sink(event)
        self.qtbot.waitUntil(lambda: bool(seen) and seen[-1] is events[-1])
        self.controller.events_arrived.disconnect(seen.extend)


@pytest.fixture
def told(qtbot: QtBot, tmp_path: Path) -> Iterator[Told]:
    controller, engine = make_controller(tmp_path)
    controller.run(fakes.PLAN)
    yield Told(controller, engine, qtbot)
    controller.close()


def test_without_a_session_the_page_says_what_it_would_show_and_how_to_get_it(told: Told) -> None:
    assert told.page._stack.currentIndex() == 0
    assert "--counters" in told.page.words.text()
    assert told.page.make_export() is None


@pytest.mark.parametrize(
    ("missing", "said"),
    [("", "measured without hardware counters"), ("run as root", "counted in this session: run as root")],
)
def test_a_session_without_a_curve_says_why(told: Told, missing: str, said: str) -> None:
    told.tell(counted({}, missing))
    assert said in told.page.words.text()


def test_every_kernel_stands_on_the_same_axes_with_what_it_moves_in_words(told: Told) -> None:
    told.tell(counted(BOTH))
    assert list(told.page.cards) == ["standard", "flash2"]
    assert told.page.seqlen == 1024
    spans = [card.plot.getViewBox().viewRange() for card in told.page.cards.values()]
    assert spans[0] == spans[1]
    (_, us), (_, gbs) = spans[0]
    assert us == pytest.approx(30)
    assert 4000 < gbs < 5000
    assert (
        "60.0 MB read · 60.0 MB written · in 38.0 µs"
        in told.page.cards["standard"].plot.accessibleDescription()
    )


def test_a_kernel_without_a_curve_is_named_with_its_reason(told: Told) -> None:
    told.tell(counted({"standard": WALLS}, "the counters' buffer overflowed"))
    assert list(told.page.cards) == ["standard"]
    assert told.page.left_out.text() == "Without a curve here: flash2: the counters' buffer overflowed."


def test_the_page_goes_with_the_crosshair_and_says_where_it_has_a_curve(told: Told) -> None:
    profile = ProfilePage(told.controller, DARK)
    told.qtbot.addWidget(profile)
    told.tell(counted(BOTH))
    profile.plots.move_cursor(512)
    assert told.page.seqlen == 512
    told.controller.seqlen_chosen.emit(1024)
    assert profile.plots.seqlen == told.page.seqlen == 1024
    profile.plots.move_cursor(256)  # has no curve: the nearest that has one
    assert told.page.seqlen == 512
    assert told.page.heading.text().endswith(" at N = 512")
    profile.close()


def test_alt_and_an_arrow_lead_to_the_next_n_that_has_a_curve_as_the_tip_of_its_button_says(
    told: Told,
) -> None:
    told.tell(counted(BOTH))
    keys = {keys: action.trigger for action in told.page.actions_offered() for keys in action.keys}
    shown = []
    for pressed in ("Alt+Left", "Alt+Left", "Alt+Right", "Alt+Right"):
        keys[pressed]()
        shown.append(told.controller.seqlen)
    assert shown == [512, 512, 1024, 1024]
    assert told.page.seqlen == 1024


def test_n_is_chosen_in_one_place_the_line_that_all_views_share(told: Told) -> None:
    told.tell(counted(BOTH))
    assert not told.page.findChildren(QComboBox)


def test_the_pointer_reads_both_rates(told: Told) -> None:
    told.tell(counted(BOTH))
    plot = told.page.cards["standard"].plot
    heard: list[str] = []
    plot.hovered.connect(heard.append)
    for us in (15.0, 25.0):
        plot.scene().sigMouseMoved.emit(plot.getViewBox().mapViewToScene(QPointF(us, 100.0)))
    assert heard == [
        "at 15.0 µs: 2000 GB/s read, 2000 GB/s written",
        "at 25.0 µs: 4000 GB/s read, 0.000 GB/s written",
    ]
    assert Rates.of(WALLS).text_at(31.0) == ""


def test_the_numbers_are_exported_bin_by_bin(told: Told) -> None:
    told.tell(counted(BOTH))
    export = told.page.make_export()
    assert export is not None
    lines = list(export.rows)
    assert lines[1] == ["standard", 1024, 10.0, 2000.0, 2000.0]
    assert len(lines) == len(WALLS.bins) + len(WHISPER.bins)


def test_another_theme_is_taken(told: Told) -> None:
    told.tell(counted(BOTH))
    told.page.apply_theme(LIGHT)
    assert LIGHT.accent in told.page.legend.text()


SLOW = Traffic(bin_ns=100_000, run_ns=3_000_000, bins=((1_000_000, 0),) * 30)
MANY = replace(fakes.PLAN, kernels=("standard", "flash1", "flash2"))


def of_three(curves: Mapping[str, Traffic]) -> list[Event]:
    return counted(curves, plan=MANY)


@pytest.fixture
def three(told: Told) -> Told:
    told.tell(of_three(BOTH | {"flash1": SLOW}))
    return told


def on_show(page: TrafficPage) -> list[str]:
    return [kernel for kernel, card in page.cards.items() if card.isVisible()]


def test_a_kernel_whose_run_would_stretch_the_axis_is_hidden_until_it_is_asked_for(three: Told) -> None:
    page = three.page
    assert on_show(page) == ["standard", "flash2"]
    assert page.left_out.text().startswith(
        "Hidden, because it would stretch the axis: flash1 (3.00 ms a run)"
    )
    assert "GB/s over µs" in page.legend.text()
    page.kernels._buttons["flash1"].click()
    assert on_show(page) == ["standard", "flash1", "flash2"]
    assert not page.left_out.isVisible()
    (_, us), _ = page.cards["standard"].plot.getViewBox().viewRange()
    assert us == pytest.approx(3000)
    assert "GB/s over ms" in page.legend.text()
    assert page.cards["flash1"].plot.getAxis("bottom").tickStrings([1000.0], 1.0, 1.0) == ["1"]


def test_the_baseline_is_never_the_one_that_is_hidden(told: Told) -> None:
    told.tell(of_three({"standard": SLOW, "flash1": WHISPER, "flash2": WHISPER}))
    assert on_show(told.page) == ["standard", "flash1", "flash2"]


def test_a_double_click_shows_one_kernel_alone_and_another_all_of_them(three: Told) -> None:
    page = three.page
    button = page.kernels._buttons["flash2"]
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    QTest.mouseDClick(button, Qt.MouseButton.LeftButton)
    assert on_show(page) == ["flash2"]
    export = page.make_export()
    assert export is not None
    (head,) = export.heads
    assert head.startswith("flash2: 750 kB read · 100 kB written")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert on_show(page) == []
    assert page.left_out.text() == "All kernels are hidden: click on a name to show one."
    assert page.make_export() is None
    QTest.mouseDClick(button, Qt.MouseButton.LeftButton)
    assert on_show(page) == ["standard", "flash1", "flash2"]


def test_what_the_user_hides_stays_hidden_at_another_n(three: Told) -> None:
    three.page.kernels._buttons["standard"].click()
    three.page.show_seqlen(512)
    assert on_show(three.page) == ["flash2"]


@pytest.mark.parametrize("height", [648, 1000])
def test_cards_share_the_height_of_the_page_and_nothing_scrolls(three: Told, height: int) -> None:
    frame = Scrolling(three.page)
    three.qtbot.addWidget(frame)
    frame.resize(1198, height)
    frame.show()
    three.qtbot.waitExposed(frame)
    three.page.kernels._choose(())
    three.qtbot.waitUntil(lambda: three.page.height() == frame.viewport().height())
    heights = [card.plot.getViewBox().height() for card in three.page.cards.values()]
    assert max(heights) - min(heights) <= 2
    for card in three.page.cards.values():
        label = card.plot._copy.label
        scene = label.mapRectToScene(label.boundingRect())
        assert not label.isVisible() or scene.top() >= card.plot.getViewBox().sceneBoundingRect().top()
    frame.takeWidget()


def test_the_area_under_a_curve_is_one_outline_without_gaps() -> None:
    rates = Rates.of(SLOW)
    path = rates.area(rates.read)
    assert path.elementCount() == 2 * len(rates.us)
    inside = path.boundingRect()
    assert (inside.left(), inside.right()) == (0.0, 3000.0)
    assert Rates.of(replace(SLOW, bins=())).area(rates.read[:0]).isEmpty()


def test_a_kernel_that_comes_back_has_the_plot_that_it_had(told: Told) -> None:
    told.tell(counted(BOTH))
    before = dict(told.page.cards)
    told.page.show_kernels(["flash2"])
    assert set(told.page.cards) == {"flash2"}
    told.page.show_kernels(())
    assert told.page.cards == before
    assert [card.isVisible() for card in told.page.cards.values()] == [True, True]


@pytest.mark.matrix
def test_after_a_stage_every_kernel_has_its_frame_again(three: Told) -> None:
    page = three.page
    page.staging.show_stop(replace(page.staging.stop, kernels=("flash2",)))
    assert [card.property("stage") for card in page.cards.values()] == [True] * len(page.cards)
    page.staging.leave()
    assert len(page.cards) == len(MANY.kernels)
    assert [kernel for kernel, card in page.cards.items() if card.property("stage")] == []


def test_a_plot_is_as_high_as_before_once_its_ticks_are_as_small_again(told: Told) -> None:
    told.tell(counted(BOTH))
    plot = told.page.cards["standard"].plot
    axis = plot.getAxis("bottom")
    font, large = tick_font(), tick_font()
    large.setPixelSize(3 * font.pixelSize())
    heights = []
    for one in (font, large, font):
        axis.setTickFont(one)
        plot.grab()
        heights.append(axis.maximumHeight())
    assert heights[2] == heights[0]
