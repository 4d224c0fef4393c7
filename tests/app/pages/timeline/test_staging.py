"""The Timeline page on a stage."""

import pytest
from PySide6.QtWidgets import QApplication

from flashscope.app.pages.timeline.staging import MADE_READY
from flashscope.profiles.wire.events import TimelineReady
from tests.app.pages.timeline.conftest import Shown
from tests.app.timelines import made_timeline

WARPGROUPS = "producer", "warpgroup 1", "warpgroup 2"


def test_a_stop_of_a_backward_timeline_leads_back_to_it_and_not_to_the_forward_pass(shown: Shown) -> None:
    backward, forward = made_timeline("flash2", passes="backward"), made_timeline("flash2")
    shown.say(backward)
    stop = shown.page.staging.stop
    assert (stop.kernels, stop.curve) == (("flash2",), "d 8, backward, no mask")
    shown.say(forward)
    shown.page.lineup.show_these([forward])
    shown.page.staging.show_stop(stop)
    assert shown.page.lineup.chosen == [backward]


def test_a_stage_draws_the_rows_that_end_last_as_far_as_there_is_room_and_says_how_many_of_how_many(
    shown: Shown,
) -> None:
    shown.say(made_timeline("flash2", seqlen=256, rows=132, lanes=WARPGROUPS, row_kind="SM"))
    page, card = shown.page, shown.page.cards[0]
    assert card.scrolling.isVisible()
    page.staging.show_stop(page.staging.stop)
    QApplication.processEvents()
    assert card.plot.drawn is not None
    drawn = len(card.plot.drawn.names)
    assert 1 <= drawn < 132
    assert card.plot.units <= card.plot.room
    assert not card.scrolling.isVisible()
    assert card.told.text().startswith(f"{drawn} of 132 SMs, the last to end")
    page.staging.leave()
    QApplication.processEvents()
    assert card.plot.drawn is card.plot.rows
    assert card.scrolling.isVisible()


def test_as_long_as_what_is_chosen_is_not_drawn_a_stage_says_so_and_nothing_of_what_was(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    lineup, staging = shown.page.lineup, shown.page.staging
    shown.say(made_timeline("flash1"))
    shown.qtbot.waitUntil(lambda: staging.settled and not staging.scene.waiting)
    monkeypatch.setattr(lineup.chores, "do_instead", lambda *_: None)  # a machine that does not get to it
    shown.controller.timelines.take(TimelineReady(timeline=made_timeline("flash2")))
    assert not staging.settled
    assert staging.scene.waiting == MADE_READY
    monkeypatch.undo()
    lineup.draw()
    shown.qtbot.waitUntil(lambda: staging.settled and not staging.scene.waiting)
