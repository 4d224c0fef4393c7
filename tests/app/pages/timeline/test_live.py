"""Live on the Timeline page: tiles light as they are done, and Esc ends the launch."""

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import MagicMock

import msgspec
import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.auditing import BEING_AUDITED
from flashscope.app.control.bundled import BUNDLED
from flashscope.app.control.chores import wait_for_all
from flashscope.app.control.controller import Controller
from flashscope.app.control.inside.occupying import LAUNCHED
from flashscope.app.look.theme import DARK, LIGHT
from flashscope.app.pages.timeline import TimelinePage
from flashscope.app.plots.timeline.live_grid import DONE, SKIPPED, WAITS
from flashscope.app.stage.story import Stop
from flashscope.kernels.workload.trace import Array
from flashscope.profiles.engine.contract import Sink
from flashscope.profiles.wire.events import RequestFailed
from flashscope.profiles.wire.live_events import LiveEnded, LiveStarted, LiveTiles
from tests.app.bench import NoRecorder, end
from tests.app.fakes import GPU, GPU_MACHINE, SilentEngine


class Desk:
    """The page, and the engine behind it."""

    def __init__(self, controller: Controller, engine: SilentEngine, qtbot: QtBot) -> None:
        self.controller, self.engine, self.live = controller, engine, controller.live
        self.page = TimelinePage(controller, DARK)
        self.board, self.grid = self.page.live, self.page.live.grid
        qtbot.addWidget(self.page)
        self.page.resize(1000, 640)
        self.page.show()
        qtbot.waitExposed(self.page)

    def launch(self) -> LiveStarted:
        """Launch two heads of 512 under a causal mask, in tiles of 128 by 256, and have it begin."""
        bar = self.page.bar
        bar.seqlens.setCurrentIndex(bar.seqlens.findData(512))
        bar.heads.setCurrentIndex(bar.heads.findData(4))
        bar.masks.setCurrentIndex(bar.masks.findData(True))
        bar.seconds.setCurrentIndex(bar.seconds.findData(5))
        bar.live.click()
        started = LiveStarted(request=self.engine.launched[-1], block_q=128, block_k=256, tiles=24)
        self.live.take(started)
        return started

    def light(self, *tiles: tuple[int, int, int]) -> None:
        """Say that these are done."""
        told = Array.of(np.array(tiles, np.int32)), Array.of(np.arange(len(tiles), dtype=np.int64))
        self.live.take(LiveTiles(tile=told[0], finished_ns=told[1], t_ns=0))


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path, qapp: QApplication) -> Iterator[Desk]:
    made: list[SilentEngine] = []

    def make(sink: Sink) -> SilentEngine:
        made.append(SilentEngine(sink))
        return made[0]

    controller = Controller(make, tmp_path, NoRecorder)
    front = Desk(controller, made[0], qtbot)
    yield front
    wait_for_all(front.page)
    end(controller)


def test_a_launch_lights_the_tiles_that_are_done_and_those_that_a_mask_skips_look_skipped(desk: Desk) -> None:
    request = desk.launch().request
    assert (request.kernel, request.seconds, request.problem.causal) == ("flash2", 5, True)
    assert desk.board.isVisible()
    assert desk.grid.state.shape == (4, 4, 2)
    assert desk.grid.state[0].tolist() == [[WAITS, SKIPPED]] * 2 + [[WAITS, WAITS]] * 2
    desk.light((0, 0, 0), (0, 1, 0))
    desk.light((0, 2, 0))
    assert desk.grid.state[0, :, 0].tolist() == [DONE, DONE, DONE, WAITS]
    assert desk.grid.last == [(0, 2, 0)], "the last frame is framed"
    assert desk.board.bar.value() == 3
    assert "In slow motion, never timed" in desk.board._title.text()
    waits, done = desk.grid.tile_rect(0, 3, 0), desk.grid.tile_rect(0, 0, 0)
    picture = desk.grid.grab().toImage()
    assert picture.pixelColor(done.center().toPoint()).name() == DARK.accent.lower()
    assert picture.pixelColor(waits.center().toPoint()).name() == DARK.raised.lower()
    desk.page.apply_theme(LIGHT)
    lit = desk.grid.grab().toImage().pixelColor(done.center().toPoint())
    assert lit.name() == LIGHT.accent.lower()


def test_heads_are_counted_from_0_as_in_timelines_and_traces(desk: Desk) -> None:
    desk.launch()
    painter = MagicMock()
    for head in range(2):
        desk.grid._paint_head(painter, head)
    assert [call.args[-1] for call in painter.drawText.call_args_list] == ["head 0", "head 1"]


def test_what_came_of_it_is_told_and_the_board_stays_until_it_is_closed(desk: Desk) -> None:
    desk.launch()
    desk.live.take(LiveEnded(took_ns=5_000_000_000, same=True))
    assert desk.board.told.text() == (
        "All 24 tiles done in 5.0 s, waits included · O and LSE are the kernel's own to the bit"
    )
    assert not desk.board._timer.isActive()
    assert desk.page.back()
    assert not desk.board.isVisible()
    assert not desk.page.back()


def test_while_it_runs_nothing_else_is_recorded_and_esc_ends_it(desk: Desk) -> None:
    desk.launch()
    desk.light((0, 0, 0))
    assert not desk.page.bar.record.isEnabled()
    assert LAUNCHED in desk.page.bar.live.toolTip()
    desk.page.bar.launch()
    assert len(desk.engine.launched) == 1
    assert desk.page.back()
    assert desk.engine.given_up == 1
    desk.live.take(RequestFailed(request="live", reason="It was cancelled."))
    assert desk.board.told.text() == "1 of 24 tiles were done. It was cancelled."
    assert desk.board.isVisible()
    assert desk.page.bar.record.isEnabled()
    desk.page.bar.launch()
    assert len(desk.engine.launched) == 2
    desk.live.take(RequestFailed(request="live", reason="The worker process was killed by signal 9."))
    assert desk.board.told.text() == "The worker process was killed by signal 9."


def test_nothing_is_launched_while_a_model_is_audited(desk: Desk) -> None:
    desk.controller.occupy("audit", BEING_AUDITED)
    assert BEING_AUDITED in desk.page.bar.live.toolTip()
    desk.page.bar.launch()
    assert desk.engine.launched == []
    desk.controller.occupy("audit", "")
    desk.page.bar.launch()
    assert len(desk.engine.launched) == 1


def test_the_badge_is_of_this_machine_while_a_launch_is_in_front_of_a_session_of_another(
    desk: Desk, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(desk.controller.session_changed):
        desk.controller.open_session(BUNDLED / "h100-caches.flashscope")
    saved = desk.page.staging.provenance
    desk.launch()
    told = desk.page.staging.provenance
    assert (saved.kind, saved.backend) == ("saved", "cuda")
    assert told.badge == "CPU · flash2 in slow motion"
    desk.live.take(RequestFailed(request="live", reason="It was given up."))
    desk.board.back()
    assert desk.page.staging.provenance == saved


def test_a_stage_shows_the_launch_in_front_and_a_storys_stop_puts_it_aside(desk: Desk) -> None:
    desk.launch()
    staging = desk.page.staging
    staging.show_stop(staging.as_shown)
    assert desk.board.isVisible()
    assert not desk.board.end.isVisible()
    assert not desk.board._title.isVisible(), "the sentence says it"
    assert (
        staging.sentence == "In slow motion, never timed: flash2 on the CPU, N = 512, d = 64, 4 heads, causal"
    )
    staging.show_stop(Stop("timeline", session="h200-inside", kernels=("flash2",)))
    assert not desk.board.isVisible()
    assert desk.engine.given_up == 0
    staging.leave()
    assert desk.board.isVisible()
    assert desk.board.end.isVisible()


def launch_on_gpu(desk: Desk, seconds: int = 10) -> LiveStarted:
    """Launch what is chosen on a Hopper of 4 SMs, in tiles of 128 by 256."""
    bar = desk.page.bar
    bar.show_machine(GPU_MACHINE)
    bar.seqlens.setCurrentIndex(bar.seqlens.findData(512))
    bar.seconds.setCurrentIndex(bar.seconds.findData(seconds))
    bar.live.click()
    request = desk.engine.launched[-1]
    shape = {"block_q": 128, "block_k": 256, "tiles": 32, "multiprocessors": 4, "tile_ns": 2_500_000_000}
    started = LiveStarted(request=request, **shape)
    desk.live.take(started)
    return started


def test_a_launch_is_of_the_kernel_that_is_chosen_on_the_device_that_is(desk: Desk) -> None:
    bar = desk.page.bar

    def offered() -> list[str]:
        return [bar.live_kernels.itemText(place) for place in range(bar.live_kernels.count())]

    assert offered() == ["flash2", "flash1"]
    request = launch_on_gpu(desk).request
    assert (request.backend, request.kernel, request.problem.dtype) == ("cuda", "flash3", "float16")
    assert offered() == ["flash3", "flash2", "flash1"]
    assert desk.page.staging.provenance.badge == "LIVE GPU · flash3 in slow motion"
    desk.live.take(LiveEnded(took_ns=10_000_000_000, same=True))
    bar.live_kernels.setCurrentIndex(2)
    bar.live.click()
    assert desk.engine.launched[-1].kernel == "flash1"
    desk.live.take(RequestFailed(request="live", reason="It was cancelled."))
    bar.devices.setCurrentIndex(bar.devices.findData("cpu"))
    bar.live.click()
    request = desk.engine.launched[-1]
    assert (request.backend, request.kernel, request.problem.dtype) == ("cpu", "flash2", "float32")
    ampere = msgspec.structs.replace(GPU, compute_capability=(8, 0))
    bar.show_machine(msgspec.structs.replace(GPU_MACHINE, devices=(ampere,)))
    assert offered() == ["flash2", "flash1"]


def test_each_sm_has_a_row_in_which_its_tiles_stand_when_they_were_done_up_to_now(desk: Desk) -> None:
    launch_on_gpu(desk)
    rows = desk.board.rows
    assert rows.isVisible()
    assert "A row for each SM" in rows.toolTip()
    tile = np.array([(0, 0, 0), (1, 0, 0), (0, 0, 1)], np.int32)
    done, sm = np.array([0, 0, 2_500_000_000], np.int64), np.array([0, 2, 2], np.int32)
    told = Array.of(tile), Array.of(done)
    desk.live.take(LiveTiles(tile=told[0], finished_ns=told[1], t_ns=0, sm=Array.of(sm)))
    rows.tick(2_600_000_000)
    picture, field = rows.grab().toImage(), rows.field

    def lit(row: int, seconds: float) -> bool:
        x = field.left() + field.width() * seconds / 10
        y = field.top() + field.height() * (row + 0.5) / 4
        return picture.pixelColor(round(x), round(y)).name() != DARK.raised.lower()

    assert [lit(row, 1.0) for row in range(4)] == [True, False, True, False]
    assert not lit(2, 4.0), "what comes is not shown"
    assert rows.grab().toImage() == picture
    rows.tick(6_000_000_000)
    picture = rows.grab().toImage()
    assert [lit(row, 4.0) for row in range(4)] == [False, False, True, False]
    alone = rows.shared
    twice = Array.of(tile[:1]), Array.of(done[2:] + 1000), Array.of(sm[2:])
    desk.live.take(LiveTiles(tile=twice[0], finished_ns=twice[1], t_ns=0, sm=twice[2]))
    assert (alone, rows.shared) == (False, True), "two of its blocks have done a tile at once"
    rows.tick(20_000_000_000)
    assert rows.bar_rect(2, 0).width() < field.width() / 5, "the axis has grown"


def test_a_launch_on_a_gpu_says_that_it_is_slow_and_how_long_each_tile_waits(desk: Desk) -> None:
    launch_on_gpu(desk)
    assert "In slow motion, never timed: flash3 on the GPU" in desk.board._title.text()
    desk.board._tell()
    assert desk.board.told.text().endswith("the kernel waits between its tiles, 2.5 s after each")


def test_a_launch_on_a_cpu_has_no_rows_of_sms(desk: Desk) -> None:
    launch_on_gpu(desk)
    desk.live.take(LiveEnded(took_ns=10_000_000_000, same=True))
    desk.page.bar.devices.setCurrentIndex(desk.page.bar.devices.findData("cpu"))
    desk.launch()
    assert not desk.board.rows.isVisible()
    desk.light((0, 0, 0))
    assert desk.grid.state[0, 0, 0] == DONE
