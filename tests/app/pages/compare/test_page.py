"""The Compare page: what is chosen is compared, and a pair chosen anywhere is chosen everywhere."""

from dataclasses import replace as replaced
from pathlib import Path
from typing import Any
from weakref import ref

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from flashscope.app.figures.strands import NO_PLACE
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.widgets.term_label import TermLine
from flashscope.installation import PROGRAM
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.quantities.registry import FOOTPRINT, SPEEDUP
from tests.app.hostile import hostile_file
from tests.app.pages.compare.conftest import GPU_PLAN, Desk, press, recorded


def test_before_two_sessions_are_chosen_words_and_buttons_say_how(desk: Desk) -> None:
    assert desk.page.empty.isVisible()
    desk.page.choose([recorded("one")])
    desk.qtbot.waitUntil(lambda: desk.page.lineup.chosen[0].session is not None)
    assert desk.page.empty.words.text() == "Choose one more session to compare with."


def test_the_sentence_stands_large_above_what_differs(desk: Desk) -> None:
    desk.choose(recorded("base"), recorded("other", times=1.2, driver="590.2"))
    told = [label.text() for label in desk.board.head.findChildren(PlainLabel)]
    assert "standard 20% slower (geometric mean); 3 more of 6 points slower; NVIDIA driver differs" in told
    assert "▲ NVIDIA driver: 580.1 → 590.2 · may explain any change" in told
    assert "What differs around them: 1, 1 of them may explain a change" in told


def test_the_legend_says_of_hollow_points_what_is_true_of_inconclusive_ones_too(desk: Desk) -> None:
    desk.choose(recorded("base"), recorded("other"))
    told = [line.text() for line in desk.board.findChildren(TermLine)]
    assert any("hollow: no sure change" in text for text in told)


def test_the_sentence_the_tabs_and_the_tables_count_the_same_points(desk: Desk) -> None:
    fewer = replace(GPU_PLAN, problems=GPU_PLAN.problems[:-1])
    desk.choose(recorded("base"), recorded("other", fewer, times=1.2))
    found, tables = desk.board.findings, desk.board.tables
    assert found is not None
    pairs, alone = tables.pairs.list.rows_shown, tables.alone.list.rows_shown
    assert alone
    (sentence,) = desk.sentences()
    assert f"more of {pairs} points" in sentence
    assert f"; {alone} points in the baseline only" in sentence
    shown = [tab.text() for tab in tables.tabs if not tab.isHidden()]
    assert shown == [f"Pairs ({pairs})", f"Without a partner ({alone})"]


@pytest.mark.matrix
def test_of_several_sessions_what_is_said_of_the_chosen_one_is_in_sight(desk: Desk) -> None:
    desk.choose(recorded("base"), *(recorded(name, times=1.2) for name in ("a", "b", "c", "d", "e")))
    desk.board.show_current(5)
    desk.drawn()
    scrolls = desk.board.head._frames[0]
    desk.qtbot.waitUntil(lambda: scrolls.verticalScrollBar().value() > 0)
    desk.board.show_current(1)
    desk.drawn()
    desk.qtbot.waitUntil(lambda: scrolls.verticalScrollBar().value() == 0)


@pytest.mark.matrix
def test_of_several_sessions_the_tab_says_that_its_pairs_are_of_all(desk: Desk) -> None:
    desk.choose(recorded("base"), recorded("one"), recorded("two"))
    pairs = desk.board.tables.pairs.list.rows_shown
    assert desk.board.tables.tabs[0].text() == f"Pairs ({pairs}, 2 sessions)"


@pytest.mark.matrix
def test_rounds_that_can_decide_nothing_are_told_beside_the_sentence(desk: Desk) -> None:
    desk.choose(recorded("base"), recorded("other", times=1.2))
    found = desk.board.findings
    assert found is not None
    caution = "5 rounds cannot decide among 12 pairs."
    desk.board.show_findings(replaced(found, comparison=replaced(found.comparison, caution=caution)))
    desk.drawn()
    assert f"▲ {caution}" in [label.text() for label in desk.board.head.findChildren(PlainLabel)]


@pytest.mark.matrix
def test_of_each_session_that_shares_no_point_what_is_nearest_is_said(desk: Desk) -> None:
    def of(**shape: Any) -> Plan:
        problems = (Problem(seqlen_q=256, seqlen_k=256, dtype="float16", **{"heads": 2} | shape),)
        return replace(GPU_PLAN, problems=problems)

    others = [recorded("wide", of(head_dim=128)), recorded("many", of(heads=4)), recorded("same")]
    desk.choose(recorded("base", of()), *others)
    wide, many, same = desk.sentences()
    assert wide.endswith("; the nearest here, standard, has d 128 instead of d 64")
    assert many.endswith("; the nearest here, standard, has 4 heads instead of 2 heads")
    assert "nearest" not in same
    told = [label.text() for label in desk.board.head.findChildren(PlainLabel)]
    assert {wide, many, same} <= set(told)
    kernels = replace(of(), kernels=("flash1",))
    desk.choose(recorded("other", kernels), others[0])
    assert desk.sentences()[0].endswith("; no kernel in common")


@pytest.mark.matrix
def test_a_pair_chosen_in_one_place_is_chosen_in_all(desk: Desk) -> None:
    desk.choose(recorded("base"), recorded("other", times=1.2))
    board = desk.board
    for signal in (board.ratios.lines.picked, board.curves.plot.picked, board.ratios.map.picked):
        for place in (4, 1):
            signal.emit(place)
            assert board.place == place
            assert board.tables.pairs.chosen() == {place}
            assert board.ratios.map._place == board.ratios.lines._place == place
            assert len(board.curves.plot._ring.data) == 2, "the baseline's point and the other's"
            pair = board.findings.pairs[place][1]  # type: ignore[union-attr] # there are some
            assert board.detail._title.text().startswith(pair.kernel)
    board.tables.pairs.selectRow(3)
    assert board.place == board.ratios.lines._place == 3


@pytest.mark.matrix
def test_a_click_beside_a_point_chooses_it(desk: Desk) -> None:
    desk.choose(recorded("base"), recorded("other", times=1.2))
    plot = desk.board.ratios.lines
    x, y = plot._spot(plot._strands[0], int(plot._strands[0].place[2])) or (0.0, 0.0)
    where = plot.getViewBox().mapViewToScene(QPointF(x, y)) + QPointF(4, 4)
    plot._click(Click(where))
    assert desk.board.place == plot._strands[0].place[2]


class Click:
    """A left click at a place of a scene."""

    def __init__(self, where: QPointF) -> None:
        self.scenePos = lambda: where

    def button(self) -> Qt.MouseButton:
        return Qt.MouseButton.LeftButton


@pytest.mark.matrix
def test_the_largest_change_is_on_show_first_with_both_sets_of_samples(desk: Desk) -> None:
    desk.choose(recorded("base"), recorded("other", times=1.2))
    detail = desk.board.detail
    assert desk.board.place != NO_PLACE
    assert detail.verdict.text().startswith("▼ slower  ratio 1.200")
    assert "A change of 7.0% counts here; this is 20%." in detail.reason.text()
    assert [len(strip.data) for strip in detail.strips._taken] == [11, 11]
    assert len(detail.strips._rejected.data) == 2, "rejected samples are drawn, apart"
    assert "1 rejected (×): throttled" in detail.sides[0][1].text()


@pytest.mark.matrix
def test_samples_that_are_far_apart_stand_on_a_logarithmic_axis(desk: Desk) -> None:
    base, near, far = (recorded(f"x{times}", times=times) for times in (1.0, 1.2, 400.0))
    desk.choose(base, near)
    strips, caption = desk.board.detail.strips, desk.board.detail.caption
    assert "log scale" not in caption.text()
    assert strips._taken[1].data["x"].min() > 1, "in ms"
    desk.choose(base, far)
    assert "log scale" in caption.text()
    low, high = strips.getViewBox().viewRange()[0]
    above, below = (strip.data["x"].mean() for strip in strips._taken)
    assert below - above == pytest.approx(2.602, abs=0.01), "decades"
    ticks = strips.getAxis("bottom").tickValues(low, high, 300)[0][1]
    assert {"1", "10", "100"} <= {*strips.getAxis("bottom").tickStrings(ticks, 1.0, 1.0)}


def test_another_quantity_is_compared_by_its_own_rules(desk: Desk) -> None:
    desk.choose(recorded("base"), recorded("other", times=1.2))
    desk.after(lambda: desk.page.chooser.chosen.emit(FOOTPRINT.key))
    verdicts = {pair.verdict for _, pair in desk.board.findings.pairs}  # type: ignore[union-attr] # some
    assert verdicts == {"equal"}
    assert desk.page.chooser.text() == FOOTPRINT.title


def test_curves_of_a_speed_up_name_the_kernel_that_it_is_over(desk: Desk) -> None:
    desk.choose(recorded("base"), recorded("other", times=1.2))
    desk.after(lambda: desk.page.chooser.chosen.emit(SPEEDUP.key))
    assert desk.board.curves._words.text() == "over standard, ratio of medians · baseline dashed"


@pytest.mark.matrix
def test_the_pair_on_show_is_always_one_of_the_session_that_is_chosen(desk: Desk) -> None:
    desk.choose(*(recorded(name, times=times) for name, times in (("a", 1.0), ("b", 1.1), ("c", 1.3))))
    assert shown_pair(desk) == (2, 2), "the largest change is one of the last session"
    desk.board.show_current(1)
    assert shown_pair(desk) == (1, 1)
    desk.page.chips.chips[2].button.click()
    desk.after(lambda: desk.page.chooser.chosen.emit(FOOTPRINT.key))
    assert shown_pair(desk) == (2, 2), "it stays where it was"
    desk.after(lambda: press(desk, "compare.baseline"))
    session, current = shown_pair(desk)
    assert session == current


def shown_pair(desk: Desk) -> tuple[int, int]:
    """The session of the pair on show, and the one that is chosen."""
    found = desk.board.findings
    assert found is not None
    return found.pairs[desk.board.place][0], desk.board.current


@pytest.mark.matrix
def test_sessions_other_than_the_chosen_one_and_the_baseline_stand_back(desk: Desk) -> None:
    desk.choose(*(recorded(name, times=times) for name, times in (("a", 1.0), ("b", 1.1), ("c", 1.3))))
    desk.board.show_current(1)
    desk.drawn()
    front, back = desk.board.curves.plot._layers
    kernels = len(GPU_PLAN.kernels)
    drawn = [len(layer._lines._paths) for layer in (front, back)]
    assert drawn == [2 * 2 * kernels, 2 * kernels], "a line and whiskers for each kernel of each session"
    assert back._lines.opacity() < front._lines.opacity() == 1


@pytest.mark.matrix
def test_what_was_compared_before_is_let_go_of(desk: Desk) -> None:
    base, slow, slower = (recorded(f"x{times}", times=times) for times in (1.0, 1.2, 1.5))
    desk.choose(base, slow)
    before = ref(desk.board.findings)
    desk.choose(base, slower)
    desk.qtbot.waitUntil(lambda: before() is None)


@pytest.mark.matrix
def test_what_stands_below_the_sentences_keeps_its_place_while_others_are_found(desk: Desk) -> None:
    desk.choose(*(recorded(f"run {k}", times=1 + k / 10) for k in range(5)))
    QApplication.processEvents()
    before = desk.board.ratios.geometry(), desk.board.head.height()
    desk.board.show_words("Comparing …")
    for _ in range(3):  # Qt lays out one level after the other
        QApplication.processEvents()
    assert (desk.board.ratios.geometry(), desk.board.head.height()) == before


@pytest.mark.matrix
def test_a_newer_choice_is_what_is_shown(desk: Desk) -> None:
    base, slow, slower = (recorded(f"x{times}", times=times) for times in (1.0, 1.2, 1.5))
    desk.page.choose([base, slow])
    desk.choose(base, slower)
    assert [member.path for member in desk.board.findings.members] == [base, slower]  # type: ignore[union-attr]
    assert desk.sentences() == ["standard 50% slower (geometric mean); 3 more of 6 points slower"]


@pytest.mark.matrix
def test_sessions_without_common_points_say_what_is_nearest(desk: Desk) -> None:
    other = replace(GPU_PLAN, problems=(Problem(seqlen_q=300, seqlen_k=300, heads=2, dtype="float16"),))
    desk.choose(recorded("base"), recorded("other", other))
    tables = desk.board.tables
    assert tables.alone.isVisible()
    assert tables.alone.list.rowCount() == 8
    nearest = tables.alone.list.columns[-1]
    assert nearest.written(tables.alone.list.row_at(0)) == "nearest has N = 300 instead of 256"
    press(desk, "compare.next")
    assert desk.board.place == NO_PLACE


@pytest.mark.matrix
def test_once_fewer_than_two_sessions_are_left_nothing_says_that_others_stand_beside_one(
    desk: Desk,
) -> None:
    desk.choose(*(recorded(f"x{times}", times=times) for times in (1.0, 1.2)))
    staging, badge = desk.page.staging, desk.window.top_bar.badge
    assert "and 1 other" in badge.text()
    assert staging.lack == ""
    desk.after(lambda: desk.page.choose([]))
    assert "other" not in badge.text()
    assert staging.lack == staging.sentence == "Nothing is compared yet."
    assert staging.source == ""


@pytest.mark.matrix
def test_a_session_that_is_gone_is_told_and_the_others_stay(desk: Desk, tmp_path: Path) -> None:
    base, other = recorded("base"), recorded("other", times=1.2)
    desk.choose(base, other)
    with desk.qtbot.waitSignal(desk.page.lineup.refused):
        desk.page.lineup.add([tmp_path / "deleted.flashscope"])
    assert desk.page.lineup.paths == (base, other)
    assert "deleted.flashscope" in desk.window.errors.text
    other.unlink()
    desk.after(lambda: desk.page.lineup.make_baseline(other))
    assert desk.sentences() == ["standard 20% faster (geometric mean); 3 more of 6 points faster"], (
        "it was read before"
    )


@pytest.mark.matrix
def test_sessions_that_are_chosen_again_are_compared_as_their_files_are_now(desk: Desk) -> None:
    base, other = recorded("base"), recorded("other", times=1.2)
    desk.choose(base, other)
    recorded("newer", times=1.5).replace(other)
    desk.choose(base, other)
    assert desk.sentences() == ["standard 50% slower (geometric mean); 3 more of 6 points slower"]


@pytest.mark.matrix
def test_hostile_sessions_are_shown_as_they_stand(desk: Desk, tmp_path: Path) -> None:
    text = "<b>A & B</b>\n<img src=x onerror=1>" * 3
    files = [hostile_file(tmp_path / f"{k}.flashscope", text) for k in "ab"]
    desk.choose(*files)
    desk.page.grab()
    names = {button.text() for button in desk.board.legend._buttons.values()}
    assert any("<b>A && B</b>" in name for name in names)


@pytest.mark.matrix
def test_a_click_in_the_legend_hides_a_kernel_and_shows_it_again(desk: Desk) -> None:
    desk.choose(recorded("base"), recorded("other", times=1.2))
    (name, button), *_ = desk.board.legend._buttons.items()
    toggled: list[tuple[str, bool]] = []
    desk.board.legend.toggled.connect(lambda *what: toggled.append(what))
    button.click()
    desk.board.legend._buttons[name].click()
    assert toggled == [(name, False), (name, True)]


def test_the_comparison_is_copied_as_a_command_line(desk: Desk) -> None:
    base, other = recorded("the base"), recorded("other")
    desk.choose(base, other)
    press(desk, "compare.copy")
    assert QGuiApplication.clipboard().text() == f"{PROGRAM} compare '{base}' {other}"
