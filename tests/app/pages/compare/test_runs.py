"""Runs of one plan as one side of the comparison: told once, drawn apart, judged as the command line does."""

from functools import partial
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QLabel

from flashscope.app.cli import main
from flashscope.app.pages.compare.findings import Findings
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.plots.compare.strand_layer import stroke
from flashscope.profiles.plan.run_mark import run_marks
from flashscope.profiles.results.compare.document import ComparisonDocument
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.store import load
from flashscope.profiles.wire.events import PlanStarted
from tests.app.fakes import PLAN, sweep
from tests.app.pages.compare.conftest import Desk, press, recorded
from tests.app.pages.compare.test_report import HTML, JSON, export
from tests.app.runs import save_runs, write


@pytest.fixture
def sides() -> list[list[Path]]:
    return [save_runs("before", 5), save_runs("after", 5, slower=1.3)]


def findings(desk: Desk) -> Findings:
    assert desk.board.findings is not None
    return desk.board.findings


@pytest.mark.matrix
def test_runs_of_one_plan_are_one_side_in_their_order_whatever_order_they_are_chosen_in(
    desk: Desk, sides: list[list[Path]]
) -> None:
    before, after = sides
    desk.choose(*reversed(before), *after)
    assert desk.page.lineup.sides == (tuple(before), tuple(after))
    assert findings(desk).names() == ("5 runs of before", "5 runs of after")
    texts = [chip.button.text().splitlines()[0] for chip in desk.page.chips.chips]
    assert texts == ["5 runs of before", "5 runs of after"]
    press(desk, "compare.baseline")
    desk.drawn()
    assert desk.page.lineup.sides == (tuple(after), tuple(before))


@pytest.mark.matrix
def test_runs_of_one_plan_alone_are_compared_with_one_another(desk: Desk, sides: list[list[Path]]) -> None:
    before, after = sides
    shown: list[list[list[Path]]] = []
    acts = (
        partial(desk.page.choose, [before[3], before[1]]),
        partial(desk.page.lineup.add, after),
        partial(desk.page.lineup.remove, after[0]),
        partial(desk.page.choose, before),
        partial(desk.page.lineup.remove, before[0]),
    )
    for act in acts:
        desk.after(act)
        shown.append([[*side] for side in desk.page.lineup.sides])
    together = [before[1], before[3]]
    assert (
        shown
        == [
            [[before[3]], [before[1]]],
            [together, after],
            [together],  # they were one side
            [[file] for file in before],
            [[file] for file in before[1:]],
        ]
    )


@pytest.mark.matrix  # it takes seconds
def test_more_runs_than_there_are_sides_stay_one(desk: Desk) -> None:
    runs = save_runs("before", 7)
    desk.choose(*runs)
    assert desk.page.lineup.sides == (tuple(runs),)


@pytest.mark.matrix
def test_two_rows_below_that_of_their_plan_are_compared(desk: Desk) -> None:
    runs = save_runs("before", 3)
    desk.window.show_page("sessions")
    page = desk.window.pages["sessions"]
    assert isinstance(page, SessionsPage)
    page.refresh()
    desk.qtbot.waitUntil(lambda: page.model.row_of(runs[0]) is not None and page.table.isVisible())
    page.table.choose([runs[0]])
    page.table.turn()
    page.table.choose(runs[1:])
    desk.after(lambda: press(desk, "sessions.compare"))
    assert desk.page.lineup.sides == ((runs[1],), (runs[2],))


@pytest.mark.matrix
def test_folded_rows_of_the_library_are_compared_by_c_the_oldest_the_baseline(desk: Desk) -> None:
    after, before = save_runs("after", 3, day=22), save_runs("before", 3)
    desk.window.show_page("sessions")
    page = desk.window.pages["sessions"]
    assert isinstance(page, SessionsPage)
    page.refresh()
    desk.qtbot.waitUntil(lambda: page.model.row_of(before[0]) is not None and page.table.isVisible())
    page.table.choose([after[0], before[0]])
    assert len(page.chosen_rows()) == 2
    desk.after(lambda: press(desk, "sessions.compare"))
    assert desk.page.lineup.sides == (tuple(before), tuple(after))


def test_the_figures_are_those_that_compare_prints(
    desk: Desk, sides: list[list[Path]], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    before, after = sides
    desk.choose(*before, *after)
    capfdbinary.readouterr()
    assert main(["compare", *map(str, before), "vs", *map(str, after), "--json"]) == 0
    told = msgspec.json.decode(capfdbinary.readouterr().out, type=ComparisonDocument)
    (contrast,) = told.comparisons
    shown = [pair for _, pair in findings(desk).pairs]
    assert [(one.ratio, one.ratio_low, one.ratio_high, one.p, one.verdict) for one in contrast.pairs] == [
        (one.ratio, one.ratio_low, one.ratio_high, one.p, one.verdict) for one in shown
    ]
    assert {one.verdict for one in contrast.pairs} == {"slower"}
    assert contrast.summary == desk.sentences()[0]


@pytest.mark.matrix  # it takes seconds
def test_every_run_is_drawn_faintly_and_the_median_of_runs_strongly(
    desk: Desk, sides: list[list[Path]]
) -> None:
    before, after = sides
    desk.choose(*before, *after)
    (sheet,) = findings(desk).sheets.values()
    ours = [one for one in sheet.curves if one.session == 1 and one.kernel == "flash2"]
    *faint, strong = ours
    assert [one.faint for one in ours] == [True] * 5 + [False]
    points = [[row for row in rows(load(file)) if row.kernel == "flash2"] for file in after]
    times = [[row.times.median for row in run if row.times] for run in points]
    assert [one.value.tolist() for one in faint] == times
    assert strong.value == pytest.approx(np.median(times, axis=0))
    assert strong.low == pytest.approx(np.min(times, axis=0))
    assert strong.high == pytest.approx(np.max(times, axis=0))
    assert (strong.place >= 0).all()
    assert stroke(faint[0], "log10").x.size == 0, "one run has no symbols to click"


@pytest.mark.matrix
def test_the_samples_of_the_runs_stand_apart_and_the_first_on_top(
    desk: Desk, sides: list[list[Path]]
) -> None:
    before, after = sides
    desk.choose(*before, after[0])
    detail = desk.board.detail
    many, few = (np.array(strip.getData()) for strip in detail.strips._taken)
    assert many.shape[1] == 50
    assert few.shape[1] == 10
    runs = np.split(many, 5, axis=1)
    assert all(upper[1].min() > lower[1].max() for upper, lower in pairwise(runs))
    assert detail.strips._medians[0].getData()[0].size == 2 * 5
    assert "5 runs" in detail.sides[0][1].text()
    assert "10 samples" in detail.sides[1][1].text()
    assert "Above, run 5: 10 samples" in detail.strips.toolTip()


@pytest.mark.matrix
def test_circumstances_name_the_runs_once(desk: Desk, sides: list[list[Path]]) -> None:
    before, _after = sides
    desk.choose(*before, recorded("other"))
    told = [label.text() for label in desk.board.head.findChildren(QLabel)]
    assert sum(text.startswith("What differs around 5 runs of before and other: ") for text in told) == 1


def test_one_run_a_side_is_inconclusive_below_the_floor(desk: Desk) -> None:
    before, after = save_runs("before", 2), save_runs("after", 2, slower=1.03)
    desk.choose(before[0], after[0])
    assert {pair.verdict for _, pair in findings(desk).pairs} == {"inconclusive"}


@pytest.mark.matrix
def test_the_report_the_document_and_the_copied_command_have_the_runs(
    desk: Desk,
    sides: list[list[Path]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    before, after = sides
    desk.choose(*before, *after)
    page, told = tmp_path / "told.html", tmp_path / "a.json"
    assert export(desk, monkeypatch, tmp_path / "a.html", HTML) == "5 runs of before and 5 runs of after.html"
    export(desk, monkeypatch, told, JSON)
    capfdbinary.readouterr()
    words = [*map(str, before), "vs", *map(str, after)]
    assert main(["compare", *words, "--json", "--html", str(page)]) == 0
    assert (tmp_path / "a.html").read_bytes() == page.read_bytes()
    assert told.read_bytes() == capfdbinary.readouterr().out
    assert b"5 runs of before (Test CPU" in page.read_bytes()
    copied: list[str] = []
    monkeypatch.setattr("flashscope.app.pages.compare.page.copy_text", copied.append)
    desk.page.copy_command()
    assert copied[0].count(" vs ") == 1
    assert copied[0].count(".flashscope") == 10


@pytest.mark.matrix
def test_more_than_six_sides_are_told_of_by_side(desk: Desk) -> None:
    files = [file for k in range(7) for file in save_runs(f"side {k}", 2)]
    desk.choose(*files)
    assert len(desk.page.lineup.chosen) == 6
    assert desk.window.errors.text.startswith("Up to 6 sessions can be compared; left out: side 6")


def test_runs_of_one_family_whose_plans_differ_are_refused_with_the_reason(desk: Desk) -> None:
    other = recorded("other")
    folder = other.parent
    first, second = run_marks(2)
    for mark, plan in ((first, PLAN), (second, replace(PLAN, kernels=PLAN.kernels[:1]))):
        begin, *rest = sweep(plan)
        assert isinstance(begin, PlanStarted)
        told = replace(begin, run_mark=mark, session_id=f"{mark.run:032}")
        write(folder / f"odd-{mark.run}.flashscope", [told, *rest])
    files = [folder / f"odd-{number}.flashscope" for number in (1, 2)]
    desk.after(lambda: desk.page.choose([*files, other]))
    assert "has another plan than run 1" in desk.window.errors.text
