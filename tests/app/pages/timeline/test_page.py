"""The Timeline page, by mouse and by keys, over timelines whose bars are known."""

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from flashscope.app.look.theme import LIGHT
from flashscope.app.pages.timeline.detail import HINT
from flashscope.app.words.inside.timelines import NUMPY, NUMPY_LINES
from flashscope.profiles.wire.events import RequestFailed, TimelineProgress
from tests.app import fakes
from tests.app.mouse import wheel
from tests.app.pages.timeline.conftest import Shown
from tests.app.timelines import made_timeline

WARPGROUPS = "producer", "warpgroup 1", "warpgroup 2"


def test_an_empty_page_offers_to_record_and_says_what_that_needs(shown: Shown) -> None:
    page = shown.page
    assert page.stack.currentIndex() == 0
    assert page.empty.record.isVisible()
    QTest.mouseClick(page.empty.record, Qt.MouseButton.LeftButton)
    assert [one.kernel for one in shown.engine.timelines] == ["flash1"]
    assert (page.bar.record.isVisible(), page.bar.cancel.isVisible()) == (False, True)


def offered(shown: Shown) -> list[bool]:
    """Whether a device, the CPU's kernels and the GPU's can be chosen."""
    bar = shown.page.bar
    return [box.isVisible() for box in (bar.devices, bar.kernels, bar.gpu_kernels)]


def asked(shown: Shown) -> list[tuple[str, str, str]]:
    return [(one.backend, one.kernel, one.problem.dtype) for one in shown.page.bar.requests]


def test_on_hopper_flash2_and_flash3_are_recorded_there_in_16_bits_unless_the_cpu_is_chosen(
    shown: Shown,
) -> None:
    assert offered(shown) == [False, True, False]
    shown.page.bar.show_machine(fakes.GPU_MACHINE)
    assert offered(shown) == [True, False, True]
    assert asked(shown) == [("cuda", "flash2", "float16"), ("cuda", "flash3", "float16")]
    shown.page.bar.gpu_kernels.setCurrentIndex(2)
    assert asked(shown) == [("cuda", "flash1", "float16"), ("cuda", "flash2", "float16")]
    shown.page.bar.gpu_kernels.setCurrentIndex(3)
    assert asked(shown) == [("cuda", "flash3", "float16")]
    shown.page.bar.devices.setCurrentIndex(0)
    assert offered(shown) == [True, True, False]
    assert asked(shown) == [("cpu", "flash1", "float32"), ("cpu", "flash2", "float32")]


def test_on_a_gpu_few_sms_may_write_out_their_clocks_and_a_cpu_has_none(shown: Shown) -> None:
    bar = shown.page.bar
    assert not bar.sms.isVisible()
    bar.show_machine(fakes.GPU_MACHINE)
    assert bar.sms.isVisible()
    assert {one.sms for one in bar.requests} == {None}
    bar.sms.setCurrentIndex(bar.sms.findData(4))
    assert {one.sms for one in bar.requests} == {4}
    bar.devices.setCurrentIndex(0)
    assert not bar.sms.isVisible()
    assert {one.sms for one in bar.requests} == {None}


def test_on_a_gpu_the_backward_pass_is_recorded_where_it_is_chosen_and_on_a_cpu_the_forward_one(
    shown: Shown,
) -> None:
    bar = shown.page.bar
    assert not bar.passes.isVisible()
    bar.show_machine(fakes.GPU_MACHINE)
    assert bar.passes.isVisible()
    bar.passes.setCurrentIndex(1)
    assert [one.problem.passes for one in bar.requests] == ["backward"] * 2
    bar.devices.setCurrentIndex(0)
    assert not bar.passes.isVisible()
    assert [one.problem.passes for one in bar.requests] == ["forward"] * 2


def test_the_legend_has_the_stages_on_show_alone(shown: Shown) -> None:
    shown.say(made_timeline())
    assert "PV" in shown.page.legend.text()
    assert "dV" not in shown.page.legend.text()
    backward = made_timeline(passes="backward")
    shown.say(backward)
    shown.page.lineup.show_like(backward.request)
    shown.qtbot.waitUntil(lambda: "add dQ" in shown.page.legend.text())
    assert "PV" not in shown.page.legend.text()
    assert shown.page.cards[0].plot.accessibleName().startswith("Timeline of flash2 backward")


def test_on_another_gpu_flash2_alone_is_recorded(shown: Shown) -> None:
    ampere = replace(fakes.GPU, compute_capability=(8, 0))
    shown.page.bar.show_machine(replace(fakes.GPU_MACHINE, devices=(ampere, fakes.CPU)))
    assert offered(shown) == [True, False, False]
    assert asked(shown) == [("cuda", "flash2", "float16")]


def test_both_kernels_are_recorded_one_after_the_other_and_stand_below_each_other(shown: Shown) -> None:
    shown.page.bar.ask()
    request = shown.engine.timelines[0]
    shown.controller.timelines.take(TimelineProgress(done=2, total=5))
    assert "flash1, N = 1k, d = 64, 4 heads: round 3 of 5" in shown.page.bar.progress.text()
    shown.say(made_timeline("flash1"))
    assert [one.kernel for one in shown.engine.timelines] == ["flash1", "flash2"]
    assert shown.engine.timelines[1].problem == request.problem
    shown.say(made_timeline("flash2"))
    assert [card.kernel for card in shown.page.shown] == ["flash1", "flash2"]
    assert shown.page.bar.record.isVisible()


def test_cancel_gives_up_what_runs_and_what_would_follow_and_is_no_error(shown: Shown) -> None:
    errors: list[str] = []
    shown.controller.error_raised.connect(lambda text, _details: errors.append(text))
    shown.page.bar.ask()
    QTest.mouseClick(shown.page.bar.cancel, Qt.MouseButton.LeftButton)
    shown.controller.timelines.take(RequestFailed(request="timeline", reason="It was cancelled."))
    assert (shown.engine.given_up, len(shown.engine.timelines), errors) == (1, 1, [])
    assert shown.page.bar.record.isVisible()


def test_what_could_not_be_recorded_is_told_and_nothing_follows_it(shown: Shown) -> None:
    errors: list[str] = []
    shown.controller.error_raised.connect(lambda text, _details: errors.append(text))
    shown.page.bar.ask()
    shown.controller.timelines.take(RequestFailed(request="timeline", reason="Memory ran out."))
    assert errors == ["Memory ran out."]
    assert len(shown.engine.timelines) == 1


def test_the_pointer_on_a_bar_reads_it(shown: Shown) -> None:
    shown.say(made_timeline())
    shown.point_at(5)
    words = shown.page.detail.words.text()
    assert words.startswith("flash2 · h0 i 0 · QKᵀ of head 0, tile (i 0, j 1): 0.250 µs, 0.735%")
    assert not shown.page.detail.step.isVisible()
    shown.page.cards[0].plot.let_go()
    assert shown.page.detail.words.text() == HINT


def test_a_click_keeps_a_bar_that_other_bars_do_not_displace_and_escape_lets_it_go(shown: Shown) -> None:
    shown.say(made_timeline())
    shown.click(5)
    kept = shown.page.detail.words.text()
    assert shown.page.detail.step.isVisible()
    shown.point_at(9)
    assert shown.page.detail.words.text() != kept
    shown.page.cards[0].plot.let_go()
    assert shown.page.detail.words.text() == kept
    assert shown.page.back()
    assert shown.page.detail.words.text() == HINT
    assert not shown.page.back()


def test_the_wheel_zooms_both_timelines_around_the_pointer_and_show_all_leads_back(shown: Shown) -> None:
    shown.say(made_timeline("flash1"), made_timeline("flash2"))
    whole, page = shown.page.whole, shown.page
    wheel(page.cards[0].plot, 4)
    assert page.part[1] - page.part[0] == pytest.approx(0.8**4 * (whole[1] - whole[0]))
    ranges = [card.plot.box.viewRange()[0] for card in page.shown]
    assert ranges[0] == ranges[1] == pytest.approx(list(page.part))
    assert page.detail.everything.isVisible()
    QTest.mouseClick(page.detail.everything, Qt.MouseButton.LeftButton)
    assert page.part == whole
    assert not page.detail.everything.isVisible()


def test_time_never_leaves_the_run_however_far_it_is_moved(shown: Shown) -> None:
    shown.say(made_timeline())
    page = shown.page
    page._zoom_middle(0.5)
    for _ in range(20):
        page._pan_by(0.2)
    assert page.part[1] == pytest.approx(page.whole[1])
    page._zoom_middle(100.0)
    assert page.part == page.whole


def test_rows_that_have_no_room_are_scrolled_by_the_bar_the_wheel_and_the_keys(shown: Shown) -> None:
    shown.say(made_timeline(seqlen=512, rows=132, lanes=WARPGROUPS, row_kind="SM"))
    card = shown.page.cards[0]
    assert card.scrolling.isVisible()
    assert card.plot.box.viewRange()[1][0] == 0
    shown.wheel_with_shift(-2)
    after = card.plot.box.viewRange()[1][0]
    assert after == pytest.approx(6, abs=0.02)
    shown.page._scroll(1e6)
    assert card.plot.box.viewRange()[1][1] == pytest.approx(card.plot.units, abs=0.02)
    shown.page._scroll(-1e6)
    assert card.plot.box.viewRange()[1][0] == 0


def test_a_single_lane_begins_with_a_row_a_block_and_b_shows_where_it_ran(shown: Shown) -> None:
    shown.say(made_timeline())
    plot = shown.page.cards[0].plot
    assert plot.rows is not None
    assert len(plot.rows.names) == 8
    with shown.qtbot.waitSignal(shown.page.lineup.changed):
        shown.page.lineup.next_rows()
    assert plot.rows.names == ["thread 0"]


def test_keys_walk_through_the_bars_and_keep_the_chosen_one_in_sight(shown: Shown) -> None:
    shown.say(made_timeline())
    shown.page._zoom(1 / 64, 0.0)
    for _ in range(40):
        shown.page._choose_next(1)
    assert shown.page.chosen == (0, 39)
    begin, end = shown.page.cards[0].plot.box_of(39)
    assert shown.page.part[0] <= begin < end <= shown.page.part[1]
    shown.page._choose_next(-1)
    assert shown.page.chosen == (0, 38)


def test_the_sentence_tells_shares_and_where_two_kernels_differ(shown: Shown) -> None:
    shown.say(made_timeline("flash1"), made_timeline("flash2", causal=False))
    told = shown.page.headline.text().replace("\N{NO-BREAK SPACE}", " ")
    assert told.startswith("flash1 spends 23.5% in load, 23.5% in QKᵀ and 23.5% in softmax.")


def test_two_builds_of_one_kernel_are_told_apart_in_the_list(shown: Shown) -> None:
    shown.say(made_timeline(build="aaaaaaaaaaaa"), made_timeline(build="bbbbbbbbbbbb"))
    names = [shown.page.lineup.first.itemText(n) for n in range(2)]
    assert [name.rpartition(" · ")[2] for name in names] == ["build aaaaaa", "build bbbbbb"]
    assert len(shown.page.shown) == 2


def test_a_chosen_tile_is_asked_of_the_stepper_with_its_heads_own_inputs(shown: Shown) -> None:
    shown.say(made_timeline())
    asked: list[tuple[object, tuple[int, int]]] = []
    shown.controller.timelines.tile_asked.connect(lambda request, tile: asked.append((request, tile)))
    shown.click(38)
    with shown.qtbot.waitSignal(shown.controller.timelines.tile_asked):
        QTest.mouseClick(shown.page.detail.step, Qt.MouseButton.LeftButton)
    request, tile = asked[0]
    assert tile == tuple(shown.page.cards[0].plot.rows.tile[38].tolist())[1:]  # type: ignore[union-attr]
    assert request.problem.heads == 1  # type: ignore[attr-defined]
    assert (request.block_q, request.block_k, request.order) == (16, 16, "flash2")  # type: ignore[attr-defined]


def test_a_bar_of_no_one_tile_leads_to_the_source_alone(shown: Shown) -> None:
    shown.say(made_timeline())
    marked: list[tuple[str, str, object]] = []
    shown.controller.timelines.stage_asked.connect(lambda *told: marked.append(told))
    shown.click(16)  # the store of the first block
    assert not shown.page.detail.step.isEnabled()
    assert "no one tile" in shown.page.detail.step.toolTip()
    QTest.mouseClick(shown.page.detail.source, Qt.MouseButton.LeftButton)
    assert marked == [("flash2", NUMPY, NUMPY_LINES["flash2"]["store"])]


def test_a_long_reason_why_nothing_is_recorded_makes_the_page_no_wider(shown: Shown, qtbot: QtBot) -> None:
    bar = shown.page.bar
    before, button = bar.minimumSizeHint().width(), bar.record.size()
    why = "The Designer times tiles, and a sweep beside them would disturb both. " * 3
    shown.controller.occupy("tiles", why)
    assert bar.why_not.isVisible()
    assert bar.minimumSizeHint().width() == before
    shown.controller.occupy("tiles", "")
    qtbot.waitUntil(lambda: bar.record.size() == button == bar.record.sizeHint())


def test_nothing_is_recorded_beside_a_sweep_and_the_button_says_why(shown: Shown) -> None:
    shown.controller.run(fakes.PLAN)
    assert not shown.page.bar.record.isEnabled()
    assert "A sweep runs" in shown.page.bar.record.toolTip()
    assert shown.page.bar.why_not.text() == "once the sweep that runs has ended"
    assert not shown.page.bar.why_not.isHidden()
    shown.page.bar.ask()
    assert shown.engine.timelines == []


def test_nothing_is_recorded_while_claims_are_tested_and_again_after_them(shown: Shown) -> None:
    shown.controller.occupy("claims", "Claims are being tested.")
    assert not shown.page.bar.record.isEnabled()
    assert not shown.page.empty.record.isEnabled()
    shown.controller.occupy("claims", "")
    assert shown.page.bar.record.isEnabled()
    assert shown.page.empty.record.isEnabled()


def test_a_theme_recolours_legend_and_bars(shown: Shown) -> None:
    shown.say(made_timeline())
    before = shown.page.legend.text(), shown.page.cards[0].plot.grab().toImage()
    shown.page.apply_theme(LIGHT)
    assert shown.page.legend.text() != before[0]
    assert shown.page.cards[0].plot.grab().toImage() != before[1]


def test_the_plot_says_what_it_is_to_those_who_do_not_see_it(shown: Shown) -> None:
    shown.say(made_timeline())
    plot = shown.page.cards[0].plot
    assert plot.accessibleName() == "Timeline of flash2: 8 rows of 1 lanes over time"
    assert "build with clocks" in plot.accessibleDescription()
