"""The Roofline page: points under ceilings, chosen on every page, with what binds them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED, bundled_sessions
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.roofline import RooflinePage
from flashscope.app.pages.roofline.why_panel import HINT
from flashscope.app.shell.full_screen import FullScreen
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.story import Stop
from flashscope.app.words.devices.memories import EMPTY as NO_MEMORIES
from flashscope.app.words.devices.roofline import EMPTY, NO_BYTES, NO_ROOF, ONLY_COPY
from flashscope.app.words.plain import unbroken
from flashscope.profiles.results.theory.why import MOST_LOADS
from flashscope.profiles.store import loading
from flashscope.profiles.wire.ceilings import COPY, EXPONENTIALS, Ceiling, Ceilings, matmul_key
from flashscope.profiles.wire.events import CeilingsMeasured, Event, PlanStarted, PointChecked
from flashscope.profiles.wire.measurement import Figure
from tests.app.fakes import sweep
from tests.app.rig import Rig, Save

RATES = {COPY: 40.0, matmul_key("float32"): 0.1, EXPONENTIALS: 2.0}
CEILINGS = Ceilings(
    rates={key: Ceiling(figure=Figure(value=value, source="a load")) for key, value in RATES.items()},
    cache_bytes=1 << 20,
)


def with_ceilings() -> list[Event]:
    opening, *others = sweep()
    assert isinstance(opening, PlanStarted)
    return [opening, CeilingsMeasured(ceilings=CEILINGS), *others]


def press(widget: QWidget, at: QPoint | None = None) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at or widget.rect().center())


class Desk:
    """The Roofline page of a window on show."""

    def __init__(self, window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
        self.window, self.rig, self.qtbot = window, rig, qtbot
        page = window.pages["roofline"]
        assert isinstance(page, RooflinePage)
        self.page, self.plot, self.why = page, page.card.plot, page.why
        window.resize(1280, 720)
        with qtbot.waitSignal(page.drawn):
            window.show_page("roofline")

    def open(self, path: Path) -> None:
        with self.qtbot.waitSignal(self.page.drawn):
            self.rig.open(path)
        self.qtbot.waitUntil(lambda: len(self.page.found.spots) > 0)

    def profile(self) -> ProfilePage:
        """The Profile page, brought to the front."""
        self.window.show_page("profile")
        page = self.window.pages["profile"]
        assert isinstance(page, ProfilePage)
        return page

    def click(self, kernel: str, seqlen: int, tier: int = 0) -> int:
        """Click a point by one of its kinds of bytes; its index."""
        item = next(one for one in self.plot._kernels if one.kernel == kernel)
        number = next(n for n, spot in enumerate(item.spots) if spot.row.seqlen == seqlen)
        place = item.tiers[tier][number]
        scene = self.plot.getViewBox().mapViewToScene(_point(place))
        press(self.plot.viewport(), self.plot.mapFromScene(scene))
        return item.spots[number].row.point.index


def _point(place: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> QPointF:
    return QPointF(float(place[0]), float(place[1]))


@pytest.fixture
def desk(rig: Rig, qtbot: QtBot) -> Desk:
    return Desk(rig.window(), rig, qtbot)


def test_without_a_session_the_page_says_what_it_is_for(desk: Desk) -> None:
    assert desk.plot._hint.toPlainText() == EMPTY
    assert desk.why.point.text() == HINT
    assert desk.page.card.make_export() is None


def test_every_done_point_stands_at_two_intensities_under_the_measured_ceilings(
    desk: Desk, save: Save
) -> None:
    desk.open(save(with_ceilings(), "measured"))
    roofs = {item.roof.key: item.level for item in desk.plot._roofs if item.roof}
    assert roofs[COPY] == pytest.approx(np.log10(0.04))
    assert roofs[matmul_key("float32")] == pytest.approx(np.log10(0.1))
    head_dim = desk.page.found.spots[0].row.problem.head_dim
    assert roofs[EXPONENTIALS] == pytest.approx(np.log10(2e9 * 4 * head_dim / 1e12))
    assert not desk.page.card.missing.isVisible()
    assert (
        desk.page.card.tiers.text()
        == "filled: DRAM bytes by formula · hollow: bytes of the caches (tiles) by formula"
    )
    for spot in desk.page.found.spots:
        assert spot.tflops == pytest.approx(spot.row.problem.flops / spot.row.times.median / 1e9)  # type: ignore[union-attr]  # it is done
        for moved, intensity in zip(spot.moved, spot.intensities, strict=True):
            assert moved is None or intensity == pytest.approx(spot.row.problem.flops / moved.nbytes)


def test_a_click_chooses_the_point_on_every_page_and_says_why(desk: Desk, save: Save) -> None:
    desk.open(save(with_ceilings(), "measured"))
    spot = desk.page.found.spots[-1]
    index = desk.click(spot.row.kernel, spot.row.seqlen)
    assert desk.rig.controller.point == index == spot.row.point.index
    assert desk.why.sentence.text() == spot.why.sentence
    assert len(desk.plot._ring.data) == sum(one is not None for one in spot.intensities)
    profile = desk.profile()
    desk.qtbot.waitUntil(lambda: profile.bottom.notes.point == index)
    assert profile.plots.seqlen == spot.row.seqlen


def test_while_no_point_is_chosen_the_fastest_at_the_longest_n_is_ringed_and_explained(
    desk: Desk, save: Save
) -> None:
    desk.open(save(with_ceilings(), "measured"))
    longest = [one for one in desk.page.found.spots if one.row.seqlen == 1024]
    fastest, slower = sorted(longest, key=lambda one: -one.tflops)[:2]
    assert desk.rig.controller.point is None
    assert desk.why.sentence.text() == fastest.why.sentence
    assert len(desk.plot._ring.data) == sum(one is not None for one in fastest.intensities)
    desk.rig.controller.hide_kernels([fastest.row.kernel], [fastest.row.kernel])
    assert desk.why.point.text().startswith(slower.row.kernel)
    desk.page.staging.show_stop(Stop(page="roofline"))
    assert len(desk.plot._ring.data) == 0, "what a stage rings the speaker has chosen"
    desk.page.staging.leave()
    assert len(desk.plot._ring.data) > 0


@pytest.mark.matrix
def test_a_point_chosen_in_the_results_is_ringed_and_explained_here(desk: Desk, save: Save) -> None:
    desk.open(save(with_ceilings(), "measured"))
    spot, table = desk.page.found.spots[0], desk.profile().bottom.table
    desk.qtbot.waitUntil(lambda: table.proxy.rowCount() > 0)
    table.choose_point(spot.row.point.index)
    desk.window.show_page("roofline")
    assert desk.why.point.text().startswith(spot.row.kernel)
    assert len(desk.plot._ring.data) > 0


def test_the_parts_of_the_reason_open_on_a_click(desk: Desk, save: Save) -> None:
    desk.open(save(with_ceilings(), "measured"))
    desk.rig.controller.choose_point(desk.page.found.spots[0].row.point.index)
    assert [row.lines.isVisible() for row in desk.why.parts] == [False] * MOST_LOADS
    press(desk.why.parts[1].button)
    assert desk.why.parts[1].lines.isVisible()
    assert "at 40.0 GB/s: a load" in desk.why.parts[1].lines.text()


def test_the_pointer_reads_the_point_that_it_is_near(desk: Desk, save: Save) -> None:
    desk.open(save(with_ceilings(), "measured"))
    item = desk.plot._kernels[0]
    desk.plot._hover(desk.plot.getViewBox().mapViewToScene(_point(item.tiers[0][0])))
    told = desk.page.card.readout.text()
    assert told.startswith(f"{item.kernel} · N = ")
    assert "By DRAM bytes: " in told
    assert "by formula" in told


@pytest.mark.matrix
def test_a_recording_without_ceilings_says_what_is_missing(desk: Desk, save: Save) -> None:
    desk.open(save(sweep(), "bare"))
    assert desk.page.card.missing.text() == f"{NO_ROOF}; a sweep made now has them."
    assert list(desk.plot._roofs) == []


@pytest.mark.matrix
def test_a_gpus_recording_without_ceilings_names_the_one_that_has_them(desk: Desk) -> None:
    desk.open(BUNDLED / "h200-standard-flash2.flashscope")
    name = "H200 traffic, energy and roof"
    assert desk.page.card.missing.text() == f"{NO_ROOF}; the recording {name} has them."
    with loading(BUNDLED / "h200-traffic.flashscope") as (session, _readings):
        assert session.ceilings


@pytest.mark.matrix
def test_the_copy_rate_beside_the_points_stands_in_for_ceilings_that_were_not_measured(
    desk: Desk, save: Save
) -> None:
    desk.open(save(list(_with_copies()), "copies"))
    assert desk.page.card.missing.text().startswith(f"{ONLY_COPY}; ")
    assert [item.roof and item.roof.key for item in desk.plot._roofs] == [COPY]
    assert [roof.rate for roof in desk.page.found.roofs] == [30.0]


def _with_copies() -> Iterator[Event]:
    for event in sweep():
        if isinstance(event, PointChecked):
            figures = event.measurement.figures | {COPY: Figure(value=30.0, source="a copy")}
            yield replace(event, measurement=replace(event.measurement, figures=figures))
        else:
            yield event


def test_a_hidden_kernel_has_no_point_and_none_in_the_exported_legend(desk: Desk, save: Save) -> None:
    desk.open(save(with_ceilings(), "measured"))
    legend = desk.page.card.legend
    kernels = list(legend._buttons)
    legend._buttons[kernels[0]].click()
    assert [item.kernel for item in desk.plot._shown] == kernels[1:]
    export = desk.page.card.make_export()
    assert export is not None
    assert list(export.kernels) == kernels[1:]
    assert len(list(export.rows)) == len(desk.page.found.spots)
    assert all(len(row) == len(export.columns) for row in export.rows)


def test_a_stop_shows_and_speaks_of_its_kernels_and_leaving_brings_the_others_back(
    desk: Desk, save: Save
) -> None:
    desk.open(save(with_ceilings(), "measured"))
    page = desk.page
    *others, last = page.card.kernels
    assert not page.staging.stop.kernels
    page.staging.show_stop(Stop(page="roofline", kernels=(last,)))
    assert [item.kernel for item in desk.plot._shown] == [last]
    assert f": {last} " in page.staging.sentence
    assert not any(kernel in page.staging.sentence for kernel in others)
    assert list(page.staging.stop.kernels) == [last]
    page.staging.leave()
    assert list(page.card.kernels) == [*others, last]
    assert others[0] in page.staging.sentence


def test_a_click_into_the_legend_goes_on_from_what_a_stop_shows(desk: Desk, save: Save) -> None:
    desk.open(save(with_ceilings(), "measured"))
    first, second, *_ = desk.page.card.kernels
    desk.page.show_kernels((first, second))
    desk.page.card.legend._buttons[first].click()
    assert list(desk.page.card.kernels) == [second]


def test_a_stop_of_kernels_that_are_not_there_shows_all(desk: Desk, save: Save) -> None:
    desk.open(save(with_ceilings(), "measured"))
    all_of_them = list(desk.page.card.kernels)
    desk.page.show_kernels(("flash9",))
    assert list(desk.page.card.kernels) == all_of_them


@pytest.mark.matrix
def test_keys_go_from_point_to_point(desk: Desk, save: Save) -> None:
    desk.open(save(with_ceilings(), "measured"))
    order = [spot.row.point.index for spot in desk.page.found.spots]
    for wanted in (order[0], order[1], order[0], order[-1]):
        desk.page._step(1 if wanted == order[1] or desk.rig.controller.point is None else -1)
        assert desk.rig.controller.point == wanted


@pytest.mark.matrix
def test_another_session_has_no_point_chosen(desk: Desk, save: Save) -> None:
    desk.open(save(with_ceilings(), "measured"))
    desk.rig.controller.choose_point(0)
    desk.open(save(sweep(), "other"))
    assert desk.rig.controller.point is None
    assert desk.why.point.text().startswith("flash2 · N = 1,024")


@pytest.mark.matrix
def test_points_whose_bytes_nothing_tells_are_said_to_be_missing(desk: Desk) -> None:
    desk.open(next(path for path in bundled_sessions() if path.stem == "h200-backward"))
    assert desk.plot._hint.toPlainText() == NO_BYTES
    assert desk.page.card.readout.text() == ""
    assert desk.page.card.make_export() is None


@pytest.mark.matrix
def test_the_memories_of_the_device_stand_behind_a_button_and_are_exported(desk: Desk) -> None:
    desk.open(next(path for path in bundled_sessions() if path.stem == "h100-caches"))
    memories = desk.page.memories
    press(next(one for one in desk.page.card.findChildren(QPushButton) if one.text() == "Memories"))
    assert memories.isVisible()
    assert memories.sentence.text() == (
        "Shared memory is read 11.0× and L2 2.56× as fast as HBM is copied; "
        "HBM holds 2,771× as much as shared memory."
    )
    of_width = memories.sentence.heightForWidth
    assert of_width(200) > of_width(2000) > 0, "a narrow card has all of it"
    made = memories.make_export()
    assert made is not None
    assert [row[0] for row in made.rows] == ["registers", "shared memory", "L2", "HBM"]
    press(next(one for one in memories.findChildren(QPushButton) if one.text() == "Roofline"))
    assert desk.page.card.isVisible()


def test_the_key_for_the_memories_hands_the_focus_to_the_way_back_not_to_the_export(desk: Desk) -> None:
    desk.open(next(path for path in bundled_sessions() if path.stem == "h100-caches"))
    desk.plot.setFocus()
    desk.window.trigger("roofline.memories")
    back = desk.page.switches[1]
    assert back.hasFocus()
    assert back.nextInFocusChain() is desk.page.memories.export_button
    desk.window.trigger("roofline.memories")
    assert desk.plot.hasFocus()


@pytest.mark.matrix
def test_blocks_of_memories_are_as_long_as_rates_and_as_high_as_the_logarithm_of_what_is_held(
    desk: Desk,
) -> None:
    desk.open(next(path for path in bundled_sessions() if path.stem == "h100-caches"))
    desk.window.trigger("roofline.memories")
    desk.qtbot.waitUntil(desk.page.memories.isVisible)
    plot = desk.page.memories.plot
    levels = plot._levels
    blocks, frames = plot._blocks.opts, plot._frames.opts
    rates = [level.rate.value for level in levels if level.rate.value]
    assert blocks["width"] == pytest.approx([plot.getViewBox().width() * rate / rates[0] for rate in rates])
    assert len(frames["height"]) == 1, "of registers no rate is measured"
    heights = [*frames["height"], *blocks["height"]]
    logs = [np.log2(level.nbytes) for level in levels if level.nbytes]
    slopes = [(heights[3] - high) / (logs[3] - log) for high, log in zip(heights[:3], logs[:3], strict=True)]
    assert slopes == pytest.approx([slopes[0]] * 3)
    assert blocks["y0"][-1] + blocks["height"][-1] < plot.getViewBox().height()


@pytest.mark.matrix
def test_what_is_in_front_is_presented_and_is_there_again_when_the_stage_is_left(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FullScreen, "toggle", lambda *_: None)  # no screen here
    desk.open(next(path for path in bundled_sessions() if path.stem == "h100-caches"))
    page, stage = desk.page, desk.window.stage
    desk.window.trigger("roofline.memories")
    stop = page.staging.stop
    assert stop.mode == "memories"
    desk.window.trigger("stage")
    assert page.memories.isVisible()
    assert not page.memories.export_button.isVisible()
    assert stage.frame.sentence.text() == unbroken(page.memories.sentence.text())
    desk.window.trigger("stage")
    assert page.memories.isVisible()
    desk.window.trigger("roofline.memories")
    page.staging.show_stop(stop)
    assert page.memories.isVisible()
    page.staging.leave()
    assert page.card.isVisible(), "a story has shown the memories"


@pytest.mark.matrix
def test_without_a_session_the_memories_say_what_would_fill_them(desk: Desk) -> None:
    desk.page.shown.setCurrentWidget(desk.page.memories)
    assert desk.page.memories.plot._hint.toPlainText() == NO_MEMORIES
    assert desk.page.memories.make_export() is None
