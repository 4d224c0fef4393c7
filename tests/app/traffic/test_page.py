"""The Traffic page over scripted events; every curve in them is synthetic."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from app.control.controller import Controller
from app.look.theme import DARK, LIGHT
from app.pages.profile import ProfilePage
from app.pages.traffic import TrafficPage
from app.plots.traffic_plot import Rates
from profiles.wire.events import Event, PointMeasured
from profiles.wire.measurement import Figure
from profiles.wire.traffic import Traffic
from tests.app import fakes
from tests.app.profile.builders import SilentEngine, make_controller

WALLS = Traffic(
    bin_ns=10_000, run_ns=38_000, bins=((0, 40_000_000), (20_000_000, 20_000_000), (40_000_000, 0))
)
WHISPER = Traffic(bin_ns=10_000, run_ns=18_000, bins=((500_000, 0), (250_000, 100_000)))
BOTH = {"standard": WALLS, "flash2": WHISPER}


def counted(
    curves: Mapping[str, Traffic], missing: str = "", seqlens: tuple[int, ...] = (512, 1024)
) -> list[Event]:
    """A sweep whose points at these N have these curves, or a reason why there are none."""
    points = fakes.PLAN.points()

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

    return [told(event) for event in fakes.sweep()]


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
    assert gbs == pytest.approx(4000 * 1.4)
    assert (
        "57.2 MiB read · 57.2 MiB written · in 38.0 µs"
        in told.page.cards["standard"].plot.accessibleDescription()
    )


def test_a_kernel_without_a_curve_is_named_with_its_reason(told: Told) -> None:
    told.tell(counted({"standard": WALLS}, "the counters' buffer overflowed"))
    assert list(told.page.cards) == ["standard"]
    assert told.page.left_out.text() == "Without a curve here: flash2: the counters' buffer overflowed."


def test_the_page_goes_with_the_crosshair_and_the_crosshair_with_the_page(told: Told) -> None:
    profile = ProfilePage(told.controller, DARK)
    told.qtbot.addWidget(profile)
    told.tell(counted(BOTH))
    profile.plots.move_cursor(512)
    assert told.page.seqlen == 512
    told.page.seqlens.activated.emit(told.page.seqlens.findData(1024))
    assert profile.plots.seqlen == told.page.seqlen == 1024
    profile.plots.move_cursor(256)  # has no curve: the nearest that has one
    assert told.page.seqlen == 512
    profile.close()


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
