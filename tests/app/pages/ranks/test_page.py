"""The Ranks page: what several ranks reach, hold and move, and how to measure it where nothing is kept."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.figures.scheme_curves import efficiency_curves, memory_curves
from flashscope.app.look.theme import LIGHT
from flashscope.app.pages.compare import ComparePage
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.ranks import RanksPage
from flashscope.app.pages.ranks.columns import MODEL
from flashscope.app.pages.roofline import RooflinePage
from flashscope.app.pages.traffic import TrafficPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.shots import grab_whole
from flashscope.app.words.ranks import SHARED, model_text
from flashscope.kernels.context_parallel.forecast import RanksForecast, forecast
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model import ranks as ranks_model
from flashscope.profiles.results.model.ranks import FORECAST_RANKS, passes_of
from flashscope.profiles.wire.events import AuditReady, Event, PlanFinished, RanksReady
from flashscope.profiles.wire.ranks import RanksResult
from tests.app.fakes import sweep
from tests.app.rig import Save
from tests.profiles.rank_results import measured, on_four, result
from tests.profiles.store import builders

KEPT = (
    result(measured(), measured(passes="backward", ms=(200.0,), alone_ms=(300.0,))),
    result(measured(ms=(90.0,), limit=0.67), scheme="ring"),
    result(measured(ms=(58.0,)), seqlen_q=1 << 17, seqlen_k=1 << 17),
)


def events(*results: RanksResult) -> list[Event]:
    """Those of a session without points that holds these."""
    started = builders.plan_started(Plan(backend="cpu", kernels=(), problems=()))
    ready = (RanksReady(result=one) for one in results)
    return [started, *ready, PlanFinished(t_ns=2_000, outcome="finished")]


@pytest.fixture
def page(window: MainWindow) -> RanksPage:
    found = window.pages["ranks"]
    assert isinstance(found, RanksPage)
    return found


def opened(qtbot: QtBot, window: MainWindow, path: Path) -> None:
    window.open_path(path)
    qtbot.waitUntil(lambda: window.controller.path == path)


def test_without_results_it_names_the_command_that_keeps_some(page: RanksPage) -> None:
    assert page.stack.currentIndex() == 0
    assert "ranks --gpus all --out" in page.empty.words.text()


def test_the_recording_that_comes_with_the_program_is_one_click_away(
    qtbot: QtBot, page: RanksPage, window: MainWindow
) -> None:
    window.show_page("ranks")
    page.open_button.click()
    qtbot.waitUntil(lambda: bool(page.passes))
    assert window.view == "ranks"
    assert "of 4 times one GPU at N = 1024k, forward" in page.sentence.text()


def test_the_model_is_worked_out_for_the_best_pass_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    worked_out = []

    def counted(*asked: Any) -> RanksForecast:
        worked_out.append(asked)
        return forecast(*asked)

    monkeypatch.setattr(ranks_model, "forecast", counted)
    assert "zigzag, causal, N = 128k" in model_text(passes_of(KEPT))
    assert len(worked_out) == len(FORECAST_RANKS) + 1  # and of itself


def test_a_session_of_ranks_alone_is_shown_here_and_told_best_first(
    qtbot: QtBot, page: RanksPage, window: MainWindow, save: Save
) -> None:
    opened(qtbot, window, save(events(*KEPT), "ranks"))
    qtbot.waitUntil(lambda: window.view == "ranks")
    assert page.sentence.text() == (
        "zigzag reaches 94.8% of 2 times one GPU at N = 128k, forward, causal; products hide all that it "
        "transfers."
    )
    assert [one.asked.scheme for one in page.passes] == ["zigzag", "ring", "zigzag"]
    assert page.lanes.shown is page.passes[2]
    assert "A model, no measurement" in page.notes.text()


def test_a_row_chooses_the_lanes_and_the_box_the_pass(
    qtbot: QtBot, page: RanksPage, window: MainWindow, save: Save
) -> None:
    opened(qtbot, window, save(events(*KEPT), "ranks"))
    page.table.selectRow(1)
    assert page.lanes.shown is page.passes[1]
    assert "ring, causal, N = 64k" in page.lanes.legend.text()
    following = window.registry.find("ranks.next")
    assert following is not None
    following.trigger()
    assert [one.measured.passes for one in page.passes] == ["backward"]
    assert page.sentence.text().startswith("zigzag reaches 75.0%")


def test_results_by_nccl_have_curves_of_their_own_that_name_it(
    qtbot: QtBot, page: RanksPage, window: MainWindow, save: Save
) -> None:
    sent = replace(KEPT[1], asked=replace(KEPT[1].asked, transport="nccl"))
    opened(qtbot, window, save(events(KEPT[1], sent), "both"))
    for number, mask in enumerate(("causal", "causal, by NCCL")):
        page.kinds.setCurrentIndex(number)
        assert [one.asked.scheme for one in page.passes] == ["ring"]
        assert f"at N = 64k, forward, {mask}; products" in page.sentence.text()
        assert page.lanes.legend.text().startswith(f"ring, {mask}, N = 64k")


@pytest.mark.matrix  # it takes a second
def test_the_row_of_the_best_is_in_sight_also_where_the_table_has_room_for_few(
    qtbot: QtBot, window: MainWindow, page: RanksPage, save: Save
) -> None:
    many = [result(measured(ms=(900.0 - n,)), seqlen_q=n << 10, seqlen_k=n << 10) for n in range(1, 60)]
    opened(qtbot, window, save(events(*many), "many"))
    qtbot.waitUntil(lambda: window.view == "ranks")
    for height in (800, 620, 720):
        window.resize(1280, height)
        QApplication.processEvents()
        row = page.table.visualRect(page.table.currentIndex())
        assert page.table.viewport().rect().contains(row.center())
    assert page.passes[-1] is page.lanes.shown


@pytest.mark.matrix  # it takes a second
def test_curves_have_a_point_for_each_n_and_the_limit_beside_it(
    qtbot: QtBot, page: RanksPage, window: MainWindow, save: Save
) -> None:
    opened(qtbot, window, save(events(*KEPT), "ranks"))
    made = page.efficiency.make_export()
    assert made is not None
    told = [(row[0], row[1], round(float(row[2] or 0), 3), row[3]) for row in made.rows]
    assert told == [
        ("ring", 1 << 16, 0.611, 0.67),
        ("zigzag", 1 << 16, 0.917, 1.0),
        ("zigzag", 1 << 17, 0.948, 1.0),
    ]
    longer = result(
        measured(alone_ms=(), alone_missing="It was not asked for."), seqlen_q=1 << 20, seqlen_k=1 << 20
    )
    assert efficiency_curves(passes_of([*KEPT, longer])) == efficiency_curves(passes_of(KEPT))
    assert max(n for one in memory_curves(passes_of([longer])) for n, _ in one.points) == 1 << 20
    lanes = page.lanes.make_export()
    assert lanes is not None
    assert len(list(lanes.rows)) == 4
    window.appearance.use(LIGHT)
    assert page.efficiency.plot.plotItem.items


def test_without_an_efficiency_the_reason_is_told(
    qtbot: QtBot, page: RanksPage, window: MainWindow, save: Save
) -> None:
    shared = result(measured(devices=(0, 0)))
    opened(qtbot, window, save(events(shared), "shared"))
    assert page.sentence.text() == f"There is no efficiency here. {SHARED}"
    missing = result(measured(alone_ms=(), alone_missing="One device would need 90 GiB."))
    opened(qtbot, window, save(events(missing), "missing"))
    assert "One device would need 90 GiB." in page.sentence.text()


def test_ranks_on_a_cpu_are_said_to_be_no_speed_up(
    qtbot: QtBot, page: RanksPage, window: MainWindow, save: Save
) -> None:
    opened(qtbot, window, save(events(result(measured(backend="cpu"))), "cpu"))
    assert page.sentence.text() == (
        "zigzag reaches 91.7% of 2 times one core at N = 64k, forward, causal; ranks took turns on one core: "
        "this is no speed-up, but how evenly work is shared."
    )


@pytest.mark.matrix  # it takes a second
def test_curves_of_a_session_without_points_say_where_to_look(
    qtbot: QtBot, page: RanksPage, window: MainWindow, save: Save
) -> None:
    del page
    opened(qtbot, window, save(events(*KEPT), "ranks"))
    window.show_page("profile")
    sentence = window.page.headline.sentence  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: "3 results of ranks (zigzag, ring): see Ranks." in sentence.text())
    window.trigger("stage")
    assert (window.stage.on, "see Ranks" in window.errors.text) == (False, True)


def test_traffic_of_a_session_without_points_leads_to_what_there_is_instead_of_asking_for_counters(
    qtbot: QtBot, page: RanksPage, window: MainWindow, save: Save
) -> None:
    opened(qtbot, window, save(events(*KEPT), "ranks"))
    window.show_page("traffic")
    traffic = window.page
    assert isinstance(traffic, TrafficPage)
    assert traffic.words.text() == "No points; 3 results of ranks (zigzag, ring): see Ranks."
    assert traffic.lead.text() == "Show Ranks"
    traffic.lead.click()
    assert window.page is page
    opened(qtbot, window, save(sweep(), "points"))
    window.show_page("traffic")
    assert not traffic.lead.isVisible()


def test_the_roofline_of_a_session_without_points_leads_to_what_there_is(
    qtbot: QtBot, page: RanksPage, window: MainWindow, save: Save
) -> None:
    opened(qtbot, window, save(events(*KEPT), "ranks"))
    window.show_page("roofline")
    roofline = window.page
    assert isinstance(roofline, RooflinePage)
    qtbot.waitUntil(roofline.lead.isVisible)
    assert (
        roofline.card.plot._hint.toPlainText() == "No points; 3 results of ranks (zigzag, ring): see Ranks."
    )
    roofline.lead.click()
    assert window.page is page
    opened(qtbot, window, save(sweep(), "points"))
    window.show_page("roofline")
    qtbot.waitUntil(lambda: not roofline.lead.isVisible())


@pytest.mark.matrix  # it takes a second
def test_results_without_a_point_have_no_empty_table_but_lead_to_what_there_is(
    qtbot: QtBot, page: RanksPage, window: MainWindow, save: Save
) -> None:
    opened(qtbot, window, save(events(*KEPT), "ranks"))
    window.show_page("results")
    profile = window.page
    assert isinstance(profile, ProfilePage)
    qtbot.waitUntil(profile.headline.lead.isVisible)
    assert not profile.bottom.table.isVisible()
    assert profile.headline.lead.text() == "Show Ranks"
    profile.headline.lead.click()
    assert window.page is page
    opened(qtbot, window, save(sweep(), "points"))
    window.show_page("results")
    qtbot.waitUntil(lambda: not profile.headline.lead.isVisible())
    assert profile.bottom.table.isVisible()


def test_an_audit_alone_is_shown_by_its_view(qtbot: QtBot, window: MainWindow, save: Save) -> None:
    started, *_, ended = events()
    opened(qtbot, window, save([started, AuditReady(audit=builders.audit()), ended], "audit"))
    qtbot.waitUntil(lambda: window.view == "audit")


def test_sessions_without_a_point_are_not_compared_and_what_each_holds_is_said(
    qtbot: QtBot, window: MainWindow, save: Save
) -> None:
    compare = window.pages["compare"]
    assert isinstance(compare, ComparePage)
    compare.choose([save(events(*KEPT), "one"), save(events(KEPT[1]), "two")])
    qtbot.waitUntil(lambda: "two: 1 result of ranks (ring)" in compare.empty.words.text())
    assert "None of these sessions has a point to compare." in compare.empty.words.text()
    assert compare.board.findings is None
    assert not compare.empty.isHidden()


@pytest.mark.matrix
@pytest.mark.parametrize("percent", [100, 175, 250])
def test_words_in_many_lines_take_no_room_from_the_plots(
    qtbot: QtBot, page: RanksPage, window: MainWindow, save: Save, percent: int
) -> None:
    opened(qtbot, window, save(events(*KEPT), "ranks"))
    qtbot.waitUntil(lambda: window.view == "ranks")
    window.appearance.zoom(percent)
    window.appearance.finish()
    window.resize(1280, 720)
    page.notes.setText(20 * "All that there is to know of these passes. ")
    grab_whole(window)
    QApplication.processEvents()
    assert [card.plot.height() >= card.plot.minimumHeight() for card in page.cards] == [True] * 3
    assert all(card.rect().contains(card.plot.geometry()) for card in page.cards)


def test_a_stage_shows_one_plot_with_the_sentence_and_gives_back_the_others(
    qtbot: QtBot, page: RanksPage, window: MainWindow, save: Save
) -> None:
    opened(qtbot, window, save(events(*KEPT), "ranks"))
    qtbot.waitUntil(lambda: window.view == "ranks")
    window.trigger("stage")
    assert window.stage.on
    assert [card.isVisible() for card in page.cards] == [True, False, False]
    assert page.staging.sentence == page.sentence.text()
    assert not page.table.isVisible()
    window.trigger("stage")
    assert all(part.isVisible() for part in (*page.cards, page.table, page.sentence))


@pytest.mark.matrix  # it takes a second
def test_on_a_stage_a_key_and_a_button_lead_from_plot_to_plot_and_a_stop_names_one(
    qtbot: QtBot, page: RanksPage, window: MainWindow, save: Save
) -> None:
    opened(qtbot, window, save(events(*KEPT), "ranks"))
    qtbot.waitUntil(lambda: window.view == "ranks")
    turn = window.registry.find("ranks.turn")
    assert turn is not None
    assert (turn.isEnabled(), turn.shortcut().toString()) == (False, "M")
    assert not any(switch.isVisible() for switch in page.switches)
    window.trigger("stage")
    turn.trigger()
    assert [card.isVisible() for card in page.cards] == [False, True, False]
    assert page.staging.stop.mode == "memory"
    shown = next(switch for switch in page.switches if switch.isVisible())
    QTest.mouseClick(shown, Qt.MouseButton.LeftButton)
    assert [card.isVisible() for card in page.cards] == [False, False, True]
    window.trigger("ranks.next")
    assert page.lanes.shown is page.passes[0]
    stop = page.staging.stop
    window.trigger("stage")
    assert not any(switch.isVisible() for switch in page.switches)
    page.staging.show_stop(stop)
    assert [card.isVisible() for card in page.cards] == [False, False, True]
    page.staging.leave()


@pytest.mark.matrix  # it takes a second
def test_a_stop_names_pass_and_mask_by_words_of_the_box(
    qtbot: QtBot, page: RanksPage, window: MainWindow, save: Save
) -> None:
    opened(qtbot, window, save(events(*KEPT), "ranks"))
    qtbot.waitUntil(lambda: window.view == "ranks")
    kinds = [page.kinds.itemText(place) for place in range(page.kinds.count())]
    assert len(kinds) > 1
    window.trigger("ranks.next")
    stop = page.staging.stop
    assert stop.curve == page.kind == kinds[1]
    window.trigger("ranks.before")
    page.staging.show_stop(stop)
    assert page.kind == kinds[1]
    only = next(word for word in kinds[0].split(", ") if word not in kinds[1].split(", "))
    page.staging.show_stop(replace(stop, curve=only))
    assert page.kind == kinds[0]
    page.staging.show_stop(replace(stop, curve="backward, upside down"))
    assert page.kind == kinds[0]
    page.staging.leave()


def test_what_four_gpus_reached_stands_beside_the_model_of_the_rates_of_two(
    qtbot: QtBot, page: RanksPage, window: MainWindow, save: Save
) -> None:
    opened(qtbot, window, save(events(result(on_four()), result(measured())), "both"))
    assert "hollow: a model from the rates on 2 GPUs; measured less model: −14.1" in (
        page.efficiency.legend.text()
    )
    made = page.efficiency.make_export()
    assert made is not None
    assert list(made.columns)[-1] == "model"
    assert [float(row[-1] or 0) for row in made.rows] == [pytest.approx(1.0, abs=1e-3)]
    assert not page.table.isColumnHidden(MODEL)
    assert page.table.list.columns[MODEL].written(page.table.list.row_at(0)) == "100.0% (−14.1)"
    window.trigger("ranks.next")
    assert page.table.isColumnHidden(MODEL)
    assert "hollow" not in page.efficiency.legend.text()


def test_the_table_is_sorted_by_figures_and_not_by_their_texts(
    qtbot: QtBot, page: RanksPage, window: MainWindow, save: Save
) -> None:
    many = [result(measured(ms=(900.0 / n,)), seqlen_q=n << 10, seqlen_k=n << 10) for n in (2, 128, 16)]
    opened(qtbot, window, save(events(*many), "many"))
    for title in ("N", "efficiency"):
        at = next(k for k, column in enumerate(page.table.list.columns) if column.title == title)
        page.table.sortByColumn(at, Qt.SortOrder.AscendingOrder)
        assert [page.table.list.row_at(k).told.asked.problem.seqlen >> 10 for k in range(3)] == [2, 16, 128]
